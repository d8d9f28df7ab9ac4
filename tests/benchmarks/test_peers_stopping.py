"""A comparison that is asked what it cannot do says so at once; one that is stopped shows what is done."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks.peers import __main__ as command
from benchmarks.peers.harness import ROOT
from benchmarks.peers.methods import METHODS
from benchmarks.peers.rows import known


def main(monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    """The sentence that refuses; whatever would be measured fails."""
    monkeypatch.setattr(sys, "argv", ["peers", "--problems", "tiny", *words])
    monkeypatch.setattr(command, "measure_all", lambda *_: pytest.fail("something was measured"))
    monkeypatch.setattr(command, "heed_signals", lambda: None)
    with pytest.raises(SystemExit) as refused:
        command.main()
    assert isinstance(refused.value.code, str), "a sentence, and so exit code 1"
    assert "\n" not in refused.value.code
    return refused.value.code


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--seeds 1 -2", "--seeds takes numbers from 0 on, not -2"),
        ("--limit 0", "--limit takes a number above 0 and up to 1,000,000, not 0"),
        ("--limit nan", "--limit takes a number above 0 and up to 1,000,000, not nan"),
        ("--limit inf", "--limit takes a number above 0 and up to 1,000,000, not inf"),
        ("--memory -1", "--memory takes a number above 0 and up to 1,000,000, not -1"),
        ("--methods RFE CART", "'CART' fits none of tiny"),
        ("--python /nowhere/python", "--python: /nowhere/python is no executable file"),
        (f"--python {__file__}", f"--python: {__file__} is no executable file"),
        ("--python true", "--python: true does not run Python"),
        ("--results /nowhere/rows", "--results: /nowhere/rows cannot be written: No such file or directory"),
        ("--results /", "--results: / cannot be written: Is a directory"),
        ("--folder /nowhere", "--folder: /nowhere cannot be written into: No such file or directory"),
        (f"--folder {__file__}", f"--folder: {__file__} cannot be written into: Not a directory"),
        ("--show", "--show needs --results with a file of rows"),
        ("--show --results /nowhere/rows", "--show needs --results with a file of rows, not /nowhere/rows"),
    ],
)
def test_what_cannot_be_done_is_refused_at_once(words: str, sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(monkeypatch, *words.split()) == sentence


def test_an_unknown_method_is_refused_with_the_names_that_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    said = main(monkeypatch, "--methods", "RFE", "rfe")
    assert said.startswith("no method is called 'rfe'; there are backbone_dask; ")
    assert all(name in said for name in METHODS)


def test_a_file_of_rows_that_can_be_written_is_left_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    old.write_text("a line\n")
    for each in (new, old):
        assert main(monkeypatch, "--results", str(each), "--folder", "/nowhere").startswith("--folder")
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert old.read_text() == "a line\n"


SLOW = """#!{python}
import os, sys, time

if "benchmarks.peers.child" not in sys.argv:
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
sys.path.insert(0, {root!r})
from benchmarks.peers.stopping import end_with

end_with(int(sys.argv[-1]))
with open({pid!r} + "~", "w") as file:
    file.write(str(os.getpid()))
os.rename({pid!r} + "~", {pid!r})
time.sleep(120)
"""
"""An interpreter in which a fit takes two minutes."""


@pytest.fixture
def slow(tmp_path: Path) -> str:
    made = tmp_path / "python"
    made.write_text(SLOW.format(pid=str(tmp_path / "pid"), python=sys.executable, root=str(ROOT)))
    made.chmod(0o755)
    return str(made)


@pytest.fixture
def running(tmp_path: Path, slow: str) -> Iterator[subprocess.Popen[str]]:
    """A comparison that has measured ours and waits for a slow peer."""
    (tmp_path / "tables").mkdir()
    words = ["--problems", "tiny", "--methods", "backbone_dask", "RFE", "--results", str(tmp_path / "rows")]
    words += ["--python", slow, "--folder", str(tmp_path / "tables")]
    started = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.peers", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        until((tmp_path / "pid").exists)
        yield started
    finally:
        started.kill()
        started.communicate()


def until(true: Callable[[], bool]) -> None:
    late = time.monotonic() + 60
    while not true():
        assert time.monotonic() < late
        time.sleep(0.05)


def is_alive(pid: int) -> bool:
    """A process that has ended and that nobody has asked about is not."""
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_child_and_shows_what_is_done(
    number: int, code: int, running: subprocess.Popen[str], tmp_path: Path
) -> None:
    child = int((tmp_path / "pid").read_text())
    assert is_alive(child)
    running.send_signal(number)
    out, err = running.communicate(timeout=60)
    assert running.returncode == code
    assert "| backbone_dask (" in out
    assert re.fullmatch(rf"tiny 1 backbone_dask: done, .* s\ninterrupted; what is done is in {tmp_path}/rows\n", err)
    assert not is_alive(child)
    assert not [*(tmp_path / "tables").iterdir()]
    assert [row.method for row in known(tmp_path / "rows")] == ["backbone_dask"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's end")
def test_a_child_does_not_outlive_a_run_that_is_killed(running: subprocess.Popen[str], tmp_path: Path) -> None:
    child = int((tmp_path / "pid").read_text())
    assert is_alive(child)
    running.kill()
    running.wait()
    until(lambda: not is_alive(child))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's end")
def test_a_child_whose_parent_is_gone_already_ends_at_once() -> None:
    own = [sys.executable, "-m", "benchmarks.peers.child", "RFE", "/nowhere", "60", "8"]
    killed = subprocess.run([*own, "1"], cwd=ROOT, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    alone = subprocess.run([*own, str(os.getpid())], cwd=ROOT, capture_output=True, text=True, check=False)
    assert alone.stderr.strip().endswith("'/nowhere/problem.json'")
