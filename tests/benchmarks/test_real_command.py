"""The command of benchmarks/real: what it refuses, what it writes, and how it ends; on a study that is planted here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.real.answers import Answer
from benchmarks.real.asked import Asked, require_possible
from benchmarks.real.command import INTERRUPTED, run
from benchmarks.real.data import FILES, LOADERS, NUMBERS, STUDIES, Data
from benchmarks.real.folds import Split
from benchmarks.real.subsets import PeerFailedError

CHECKOUT = Path(__file__).resolve().parents[2]


class Shift:
    """Methods of the planted study, with a switch for what is to happen to each."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.trouble: dict[str, BaseException] = {}
        self.by = 0.0

    def methods(self, data: Data, fold: object, out: Path, abess_python: Path | None) -> dict[str, object]:
        known = ["mean", "shifted"] + (["abess"] if abess_python else [])
        return {name: self._method(f"{data.name} {name}", self.by) for name in known}

    def names_of(self, name: str, abess_python: Path | None) -> list[str]:
        return list(self.methods(Data(name, NUMBERS, None, np.empty(0)), None, Path(), abess_python))

    def _method(self, name: str, by: float) -> object:
        def method(split: Split, shift: float = by) -> Answer:
            self.calls.append(name)
            if name in self.trouble:
                raise self.trouble[name]
            return Answer(np.full(split.X_new.shape[0], split.y.mean() + shift), 0)

        return method


@pytest.fixture
def shift(monkeypatch) -> Shift:
    """The study "few", of the data sets "one" and "two"."""
    found = Shift()

    def load(name: str) -> object:
        rng = np.random.default_rng(0)
        return lambda folder, scratch: Data(name, NUMBERS, rng.normal(size=(20, 2)), np.arange(20.0))

    monkeypatch.setitem(STUDIES, "few", ["one", "two"])
    for name in STUDIES["few"]:
        monkeypatch.setitem(LOADERS, name, load(name))
        monkeypatch.setitem(FILES, name, ["few.npz"])
    monkeypatch.setattr("benchmarks.real.studies.methods", found.methods)
    monkeypatch.setattr("benchmarks.real.asked.names_of", found.names_of)
    return found


@pytest.fixture
def command(shift, tmp_path, monkeypatch):
    """Runs the command; returns what it ends with, None if it just ends."""
    (tmp_path / "few.npz").touch()

    def called(*words: object) -> object:
        asked = ["real", "few", "--data", tmp_path, "--out", tmp_path / "out", *words]
        monkeypatch.setattr(sys, "argv", list(map(str, asked)))
        try:
            run(None)
        except SystemExit as end:
            return end.code
        return None

    return called


def written(tmp_path: Path) -> list[dict]:
    return json.loads((tmp_path / "out" / "few.json").read_text())


def test_what_is_finished_is_kept_when_a_call_wants_less(command, shift, tmp_path, capsys):
    assert command() is None
    every, text = written(tmp_path), (tmp_path / "out" / "few.md").read_text()
    assert len(every) == len(shift.calls) == 20
    assert [(each["data"], each["method"]) for each in every[::5]] == [
        *(("one", "mean"), ("one", "shifted"), ("two", "mean"), ("two", "shifted"))
    ]
    assert capsys.readouterr().out == text
    assert command("--first", 1, "--methods", "mean") is None
    assert written(tmp_path) == every
    assert (tmp_path / "out" / "few.md").read_text() == text
    assert len(shift.calls) == 20


def test_what_is_published_is_gone_on_with_where_there_is_nothing_else(command, shift, tmp_path):
    command("--first", 2)
    for path in (tmp_path / "out").glob("*/*.json"):
        path.unlink()
    some = written(tmp_path)
    assert command() is None
    assert len(shift.calls) == 20
    assert [each for each in written(tmp_path) if each["fold"] < 2] == some
    assert command("--repeats", 2, "--first", 6) is None
    assert command("--first", 1) is None
    assert [each["repeat"] for each in written(tmp_path)].count(1) == 4


def test_results_of_other_settings_are_left_out_and_said(command, shift, tmp_path, capsys):
    command()
    shift.by = 1.0
    capsys.readouterr()
    assert command("--methods", "mean") is None
    assert {(each["method"], each["settings"]["given"]["shift"]) for each in written(tmp_path)} == {("mean", 1.0)}
    assert "few.json had 5 of two, 'shifted', of other samples or settings: left out\n" in capsys.readouterr().err


def test_rows_of_abess_stay_in_a_call_without_it(command, tmp_path):
    python = tmp_path / "python"
    python.touch(0o755)
    assert command("--abess-python", python) is None
    assert command() is None
    assert [each["method"] for each in written(tmp_path)].count("abess") == 10


def test_a_fit_that_failed_ends_the_command_after_all_else_is_done(command, shift, tmp_path):
    shift.trouble = {"one mean": PeerFailedError("no")}
    end = command("--first", 2)
    assert end == "failed, and will be tried again next time:\none r0 f0 mean\none r0 f1 mean"
    assert len([each for each in written(tmp_path) if "failed" not in each]) == 6
    assert "| one | mean; fold 0 failed: no; fold 1 failed: no | 0 |" in (tmp_path / "out" / "few.md").read_text()
    command("--methods", "shifted")
    assert len([each for each in written(tmp_path) if "failed" in each]) == 2
    shift.trouble = {}
    assert command("--first", 2) is None
    assert not [each for each in written(tmp_path) if "failed" in each]


def test_ctrl_c_leaves_what_is_finished_and_one_sentence(command, shift, tmp_path, capsys):
    shift.trouble = {"two mean": KeyboardInterrupt()}
    assert command("--first", 2) == INTERRUPTED
    told = capsys.readouterr()
    assert [each["method"] for each in written(tmp_path)] == ["mean", "mean", "shifted", "shifted"]
    assert {each["data"] for each in written(tmp_path)} == {"one"}
    assert told.out == (tmp_path / "out" / "few.md").read_text()
    assert told.err.endswith(f"\ninterrupted; what is finished is in {tmp_path / 'out'}, and the rest runs next time\n")


def test_ctrl_c_before_a_data_set_is_read_leaves_what_it_has(command, shift, tmp_path, monkeypatch):
    command()
    every = written(tmp_path)

    def stopped(folder: Path, scratch: Path) -> Data:
        raise KeyboardInterrupt

    monkeypatch.setitem(LOADERS, "two", stopped)
    assert command() == INTERRUPTED
    assert written(tmp_path) == every


REFUSED = [
    (["--methods", "mean", "ridge"], "few has no method 'ridge'; --methods takes 'mean', 'shifted', 'abess'"),
    (["--methods", "abess"], "'abess' needs an interpreter that has abess; name it with --abess-python"),
    (["--first", "0"], "--first is 0, and has to be at least 1"),
    (["--first", "-1"], "--first is -1, and has to be at least 1"),
    (["--folds", "1"], "--folds is 1, and has to be at least 2"),
    (["--repeats", "0"], "--repeats is 0, and has to be at least 1"),
    (["--abess-python", "/none"], "--abess-python is /none, which is no file that can be executed"),
    (["--abess-python", "/etc/passwd"], "--abess-python is /etc/passwd, which is no file that can be executed"),
    (
        ["--data", "/none"],
        "--data is /none, which is no folder; name the folder that holds mice/, hapmap3/, text/, ...",
    ),
    (["--data", "/"], "/few.npz does not exist; name the folder that holds few.npz with --data"),
    (["--out", "/etc/passwd/out"], "--out is /etc/passwd/out, where nothing can be written (Not a directory)"),
    (["--out", "/proc"], "--out is /proc, where nothing can be written (No such file or directory)"),
]


@pytest.mark.parametrize(("words", "sentence"), REFUSED, ids=lambda each: " ".join(each) if type(each) is list else "")
def test_what_cannot_be_is_refused_in_one_sentence_before_anything_runs(words, sentence, command, shift, tmp_path):
    assert command(*words) == sentence
    assert not shift.calls
    assert not list(tmp_path.glob("out/*"))


def test_all_wanted_studies_are_looked_at_before_the_first_runs(shift, tmp_path):
    (tmp_path / "few.npz").touch()
    require_possible(["few"], Asked(tmp_path, tmp_path / "out"))
    with pytest.raises(FileNotFoundError, match="riboflavin"):
        require_possible(["few", "riboflavin"], Asked(tmp_path, tmp_path / "out"))


def test_five_folds_are_not_written_over_by_three(command, shift, tmp_path):
    command()
    before = written(tmp_path)
    assert "has results of 5 folds and --folds is 3; name another --out" in command("--folds", 3)
    assert (written(tmp_path), len(shift.calls)) == (before, 20)


def test_a_file_that_cannot_be_read_is_not_written_over(command, shift, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "few.json").write_text("<<<<<<< HEAD")
    assert str(command()).endswith("mend it, or move it away")
    assert (tmp_path / "out" / "few.json").read_text() == "<<<<<<< HEAD"
    assert not shift.calls


def test_more_folds_than_samples_are_refused(command):
    assert str(command("--folds", 30)).startswith("one cannot be cut into 30 folds: ")


@pytest.mark.parametrize("name", ["glmnet", "pandas"])
def test_a_package_that_is_missing_is_one_sentence(name, tmp_path):
    code = f"import sys; sys.modules[{name!r}] = None; from benchmarks.real.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "riboflavin", "--out", tmp_path], cwd=CHECKOUT, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr == f"{name} is not installed; pip install -e '.[dev]' installs all that the experiments import\n"
