"""The image is built, and the compose file brought up, for real: podman, a base from debootstrap, two workers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from container_cases import Engine, base_tar, checkout, private_engine, wheels
from dask_processes import free_port, wait_until

pytestmark = [
    pytest.mark.container,
    pytest.mark.timeout(900),
    pytest.mark.skipif(os.geteuid() != 0, reason="podman's networks and debootstrap need root"),
    pytest.mark.skipif(not Path("/etc/debian_version").exists(), reason="podman and the base image come from Debian"),
]

PROJECT = "backbone-dask-test"
SIMULATE = "linear {folder}/demo.zarr --n 200 --p 2000 --k 5 --rho 0.5 --snr 5 --seed 1"
FIT = "{folder}/demo.zarr --task regression -k 5 --out {folder}/run --quiet"

Compose = Callable[..., str]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    base = base_tar()
    with private_engine(tmp_path_factory.mktemp("podman") / "home") as engine:
        engine.podman("import", str(base), "base:test")
        yield engine


@pytest.fixture(scope="module")
def compose(engine: Engine) -> Compose:
    """podman-compose in a checkout, on an image that is built there."""
    source = checkout(engine.home / "source", wheels(base_tar()))
    (engine.home / "pip.conf").write_text("[global]\nno-index = true\n")
    secret = f"--podman-build-args=--secret id=pip.conf,src={engine.home / 'pip.conf'}"
    command = ["podman-compose", "--project-name", PROJECT, "--file", str(source / "deploy/docker/compose.yaml")]
    env = {"BASE": "localhost/base:test", "DASHBOARD_PORT": str(free_port()), "WORKER_MEMORY": "1g"}

    def run(*arguments: str) -> str:
        return engine.run(*command, *arguments, **env)

    engine.run(*command, secret, "build", **env)
    run.dashboard = f"http://127.0.0.1:{env['DASHBOARD_PORT']}"
    return run


@pytest.fixture(scope="module")
def running(compose: Compose) -> Iterator[Compose]:
    compose("up", "--detach")
    try:
        wait_until(lambda: n_workers(compose) == 2, seconds=240)
    except AssertionError:
        raise AssertionError(f"{n_workers(compose)} workers came\n{compose('logs')}") from None
    yield compose
    compose("down", "--volumes")


def n_workers(compose: Compose) -> int:
    try:
        with urllib.request.urlopen(f"{compose.dashboard}/json/counts.json", timeout=10) as answer:
            return json.loads(answer.read())["workers"]
    except OSError:
        return -1


@pytest.fixture(scope="module")
def volume(engine: Engine, running: Compose) -> Path:
    """The shared volume, with the run of a fit on both workers."""
    coordinator = ("--profile", "coordinator", "run", "--rm", "-T", "coordinator", "--")
    running(*coordinator, "simulate", *placed(SIMULATE, "/data"))
    running(*coordinator, "fit", *placed(FIT, "/data"), "--cluster", "tcp://scheduler:8786", "--workers", "2")
    [found] = json.loads(engine.podman("volume", "inspect", f"{PROJECT}_data"))
    return Path(found["Mountpoint"])


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """The same fit in one process on this machine, outside any container."""
    folder = tmp_path_factory.mktemp("serial")
    here(folder, "simulate", *placed(SIMULATE, folder))
    here(folder, "fit", *placed(FIT, folder), "--workers", "0")
    return result(folder)


def here(folder: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "backbone_dask.cli", *arguments]
    # A container does not inherit which kernels this machine's BLAS is told to use: bits would differ.
    env = {name: value for name, value in os.environ.items() if not name.startswith(("OPENBLAS", "NPY", "NUMBA"))}
    subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True, timeout=300)


def placed(arguments: str, folder: str | Path) -> list[str]:
    return arguments.format(folder=folder).split()


def result(folder: Path) -> dict:
    return json.loads((folder / "run" / "result.json").read_text())


def test_a_fit_on_containers_is_the_serial_one_bit_for_bit(volume: Path, serial: dict) -> None:
    distributed = result(volume)
    assert len(serial["support"]["ids"]) == 5
    for answer in ("support", "coefficients", "intercept", "objective", "reduced", "backbone", "levels"):
        assert distributed[answer] == serial[answer], answer


def test_both_workers_took_part(volume: Path) -> None:
    assert len(result(volume)["peak_bytes"]["workers"]) == 2


def test_the_run_belongs_to_the_plain_user_of_the_image(volume: Path) -> None:
    assert (volume / "run" / "result.json").stat().st_uid == 1000


@pytest.mark.parametrize("number", [1, 2])
def test_a_worker_has_one_thread_a_memory_limit_and_no_rights(engine: Engine, running: Compose, number: int) -> None:
    name = f"{PROJECT}_worker_{number}"
    found = engine.inspect(name)
    assert found["HostConfig"]["Memory"] == 2**30
    assert "--nthreads 1 --memory-limit 1g" in " ".join(found["Config"]["Cmd"])
    threads = engine.podman("exec", name, "sh", "-c", "echo $OMP_NUM_THREADS $OPENBLAS_NUM_THREADS $NUMBA_NUM_THREADS")
    assert threads.split() == ["1", "1", "1"]
    status = engine.podman("exec", name, "cat", "/proc/1/status")
    assert {"Uid:\t1000\t1000\t1000\t1000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1"} <= set(status.splitlines())


def test_the_dashboard_is_published_on_this_machine(running: Compose) -> None:
    with urllib.request.urlopen(f"{running.dashboard}/health", timeout=30) as answer:
        assert answer.read() == b"ok"


def test_the_image_holds_what_constraints_say_and_nothing_of_the_build(engine: Engine, compose: Compose) -> None:
    image = ("run", "--rm", "--network", "none", "localhost/backbone-dask")
    frozen = set(engine.podman(*image, "pip", "freeze").splitlines())
    wanted = set((engine.home / "source" / "constraints.txt").read_text().splitlines())
    assert len(frozen) > 50
    assert {line for line in frozen - wanted if not line.startswith("backbone-dask")} == set()
    left = engine.podman(*image, "sh", "-c", "ls -d /source /etc/pip.conf /root/.cache /tmp/pip* 2>/dev/null || true")
    assert left.split() in ([], ["/etc/pip.conf"])
    assert "no-index" not in engine.podman(*image, "sh", "-c", "cat /etc/pip.conf 2>/dev/null || true")


def test_without_a_command_the_image_says_what_it_can_do(engine: Engine, compose: Compose) -> None:
    assert "Usage: backbone-dask" in engine.podman("run", "--rm", "--network", "none", "localhost/backbone-dask")
