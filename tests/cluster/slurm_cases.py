"""A real Slurm for the tests, and commands as people run them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

UP = Path(__file__).parents[2] / "deploy" / "slurm" / "up.sh"
COMMAND = (sys.executable, "-m", "backbone_dask.cli")


class Slurm:
    """Questions to the batch system."""

    def jobs(self) -> set[str]:
        """Numbers of the workers' jobs that wait or run."""
        waits_or_runs = "--states=PENDING,RUNNING,CONFIGURING"
        return set(self("squeue", "--noheader", "--format=%i", "--name=dask-worker", waits_or_runs).split())

    def state(self, number: str) -> str:
        shown = dict(word.split("=", 1) for word in self("scontrol", "show", "job", number).split() if "=" in word)
        return shown["JobState"]

    def __call__(self, *command: str) -> str:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


@dataclass(frozen=True)
class Shell:
    """Runs commands in one folder, each in a process of its own."""

    folder: Path
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self, *arguments: object) -> subprocess.Popen[str]:
        return self.process(*COMMAND, *map(str, arguments))

    def process(self, *command: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            stdout=pipe,
            stderr=pipe,
            text=True,
            start_new_session=True,
            preexec_fn=_hear_ctrl_c,
        )
        self.started.append(process)
        return process

    def __enter__(self) -> Shell:
        return self

    def __exit__(self, *problem: object) -> None:
        """A test that failed leaves no process behind."""
        for process in self.started:
            process.kill()
            process.communicate(timeout=60)

    def ok(self, *arguments: object) -> str:
        return finished(self.start(*arguments))

    def refused(self, *arguments: object) -> str:
        """The one-line error of a command that must fail without a traceback."""
        process = self.start(*arguments)
        _, errors = process.communicate(timeout=120)
        assert process.returncode in (1, 2), errors
        assert "Traceback" not in errors
        return errors

    def write(self, name: str, **options: object) -> str:
        """JSON is YAML, too."""
        (self.folder / name).write_text(json.dumps(options))
        return name


def _hear_ctrl_c() -> None:
    """What a shell starts in the background is deaf to it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def finished(process: subprocess.Popen[str]) -> str:
    out, errors = process.communicate(timeout=200)
    assert process.returncode == 0, errors
    return out


@contextmanager
def slurm_environment() -> Iterator[dict[str, str]]:
    """A folder and ports of its own for an up.sh, which is taken down whatever happened."""
    if os.getuid() != 0 or not Path("/etc/debian_version").exists():
        pytest.skip("a Slurm is brought up as root on Debian only")
    # pytest's own folders are closed to others, which munged refuses.
    base = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))
    first, second = free_ports()
    own = {"SLURM_BASE": str(base), "SLURMCTLD_PORT": first, "SLURMD_PORT": second, "SLURM_CPUS": "8"}
    variables = {**os.environ, **own, "SLURM_CONF": str(base / "slurm.conf")}
    try:
        yield variables
    finally:
        subprocess.run([UP, "down"], check=True, env=variables, stdout=subprocess.DEVNULL, timeout=60)
        shutil.rmtree(base)


def free_ports() -> tuple[str, str]:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        return str(one.getsockname()[1]), str(other.getsockname()[1])
