"""Commands as people run them: real processes."""

from __future__ import annotations

import contextlib
import io
import json
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from backbone_dask.cli.main import main

COMMAND = [sys.executable, "-m", "backbone_dask.cli"]


@dataclass
class Shell:
    """Runs commands in one folder."""

    folder: Path

    def __call__(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        """In this process, which saves the imports; `start` makes a process of its own."""
        out, err, before = io.StringIO(), io.StringIO(), signal.getsignal(signal.SIGTERM)
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main([*map(str, arguments)])
                code = 0
            except SystemExit as end:
                code = int(end.code)
        signal.signal(signal.SIGTERM, before)
        return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())

    def ok(self, *arguments: object) -> str:
        done = self(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def json(self, *arguments: object) -> dict:
        return json.loads(self.ok(*arguments, "--json"))

    def refused(self, *arguments: object) -> str:
        """The one-line error of a command that must fail without a traceback."""
        done = self(*arguments)
        assert done.returncode == 1, (done.returncode, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        # Before it there is only what the command had done by then.
        *said, complaint = done.stderr.splitlines(keepends=True)
        assert complaint.startswith("error: "), done.stderr
        assert all(re.match(r"\d\d:\d\d:\d\d ", each) for each in said), done.stderr
        return complaint

    def start(self, *arguments: object) -> subprocess.Popen[str]:
        """A process group of its own, as a shell gives to a job."""
        return subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )


@pytest.fixture
def shell(tmp_path):
    return Shell(tmp_path)


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """A folder with a small store, its recipe, a test draw, and a finished run."""
    shell = Shell(tmp_path_factory.mktemp("demo"))
    shape = ("--n", 300, "--p", 5000, "--k", 5, "--rho", 0.6, "--snr", 4, "--seed", 3)
    shell.ok("simulate", "linear", "data.zarr", *shape)
    shell.ok("simulate", "linear", "recipe.json", *shape, "--virtual")
    shell.ok("simulate", "linear", "test.zarr", *shape, "--draw", 1)
    shell.ok("fit", "data.zarr", "--task", "regression", "-k", 5, "--out", "run", "--workers", 2)
    return shell
