"""Real signals to real processes: nothing is lost, nothing is left behind."""

from __future__ import annotations

import json
import os
import re
import signal
import time

import psutil
import pytest

SHAPE = ("--n", 1000, "--p", 400_000, "--k", 8, "--rho", 0.5, "--snr", 3, "--virtual")
FIT = ("fit", "v.json", "-k", 8, "--out", "run", "--workers", 2)
FOUND = ("support", "coefficients", "intercept", "backbone", "objective", "reduced", "termination", "levels")


def wait_until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)


def reached(run, phase):
    """Whether the run's events speak of a phase."""
    path = run / "events.jsonl"
    return path.exists() and f'"phase": "{phase}"' in path.read_text()


def alive(processes):
    return [p for p in processes if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.parametrize(
    ("number", "phase", "code"),
    [(signal.SIGINT, "screen", 130), (signal.SIGTERM, "levels", 143), (signal.SIGKILL, "compact", -9)],
)
def test_interrupted_runs_resume_to_the_same_result(shell, number, phase, code):
    shell.ok("simulate", "linear", "v.json", *SHAPE)
    process = shell.start(*FIT)
    wait_until(lambda: reached(shell.folder / "run", phase))
    children = psutil.Process(process.pid).children(recursive=True)
    assert len(children) >= 2
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # what Ctrl-C in a terminal does
    else:
        os.kill(process.pid, number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code, errors
    if number != signal.SIGKILL:
        assert "Traceback" not in errors
        assert "--resume" in errors
    wait_until(lambda: not alive(children))
    assert not (shell.folder / "run" / "result.json").exists()
    resumed = shell.json(*FIT, "--resume")
    straight = shell.json(*FIT[:-3], "other", "--workers", 0)
    assert {name: resumed[name] for name in FOUND} == {name: straight[name] for name in FOUND}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", [0.0, 0.4, 1.0])
def test_interrupted_while_the_cluster_starts(shell, number, moment):
    shell.ok("simulate", "linear", "v.json", *SHAPE)
    process = shell.start(*FIT)
    wait_until(lambda: (shell.folder / "run" / ".lock").exists())
    time.sleep(moment)
    children = psutil.Process(process.pid).children(recursive=True)
    os.killpg(process.pid, number) if number == signal.SIGINT else os.kill(process.pid, number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number, errors
    said = [line for line in errors.splitlines() if not re.match(r"\d\d:\d\d:\d\d \w+: ", line)]
    assert not said or said[0] == "" or said[0].startswith("interrupted"), errors
    assert "Traceback" not in errors
    wait_until(lambda: not alive(children))


def test_two_processes_cannot_share_a_run(shell):
    shell.ok("simulate", "linear", "v.json", *SHAPE)
    process = shell.start(*FIT)
    wait_until(lambda: reached(shell.folder / "run", "screen"))
    assert "another process is running" in shell.refused(*FIT, "--resume")
    assert "another process is running" in shell.refused(*FIT, "--overwrite")
    assert reached(shell.folder / "run", "screen")
    os.kill(process.pid, signal.SIGTERM)
    process.communicate(timeout=60)


def test_a_killed_simulation_goes_on(shell):
    shape = ("--n", 2000, "--p", 60_000, "--k", 5)
    process = shell.start("simulate", "linear", "s.zarr", *shape)
    parts = shell.folder / "s.zarr.partial" / "parts"
    wait_until(lambda: parts.exists() and len(list(parts.glob("0*.npz"))) >= 3)
    process.kill()
    process.communicate()
    assert not (shell.folder / "s.zarr").exists()
    assert "half-written" in shell.refused("info", "s.zarr")
    before = {path.name: path.stat().st_mtime_ns for path in parts.glob("0*.npz")}
    assert before
    shell.ok("simulate", "linear", "s.zarr", *shape)
    assert not (shell.folder / "s.zarr.partial").exists()
    assert json.loads(shell.ok("info", "s.zarr", "--json"))["n_features"] == 60_000
