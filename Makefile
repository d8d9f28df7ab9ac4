# Two commands: `make run` shows it working, `make test` tests it. Both make .venv first.
PYTHON ?= python3
BIN := .venv/bin
DEMO := runs/demo

.PHONY: help install setup run test bench lint types format lock clean

help:
	@echo "make run     simulate 100,000 features, fit a sparse model, print what was found"
	@echo "make test    run the tests"
	@echo "make bench   time the kernels beside their limits"
	@echo "make lint    ruff, and its formatter in check mode"
	@echo "make types   mypy --strict on the package"
	@echo "make format  let ruff rewrite what it can"
	@echo "make lock    resolve the newest dependencies into constraints.txt"
	@echo "make clean   remove .venv and what make run wrote"

install: .venv/.installed

setup: .venv/.ready

.venv/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	@echo "installing into .venv; this takes a minute"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

.venv/.ready: .venv/.installed
	@echo "installing what the tests need"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

run: install
	$(BIN)/backbone-dask simulate linear $(DEMO).zarr --n 1000 --p 100000 --k 10 --rho 0.9 --snr 2 --seed 1 --overwrite
	$(BIN)/backbone-dask fit $(DEMO).zarr --task regression -k 10 --out $(DEMO) --overwrite

# In the order of the files: pytest-xdist would put those with few tests last, and the slowest have few.
test: setup
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder

bench: setup
	$(BIN)/python -m pytest benchmarks/micro

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock:
	rm -rf .venv
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	$(BIN)/python -m pip freeze --exclude-editable > constraints.txt
	@touch .venv/.installed .venv/.ready

clean:
	rm -rf .venv $(DEMO) $(DEMO).zarr
