"""deploy/tls/README.md does what it says: its commands run, in a shell, and nothing of the cluster is plain."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import pytest
from dask_processes import free_port, listening, speaks_tls

from backbone_dask.store import open_store

README = (Path(__file__).parents[2] / "deploy" / "tls" / "README.md").read_text()
# Once more from Python; then the cluster is kept until it has been looked at.
ENDING = "python fit.py\necho all is done\nread\n"


def blocks(language):
    return "".join(re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE))


def moved(text):
    """The same on ports that are free here."""
    return text.replace("8786", PORTS[0]).replace("8787", PORTS[1])


PORTS = [str(free_port()), str(free_port())]


@pytest.fixture
def shell(tmp_path):
    """A shell in which all commands of the page are run."""
    (tmp_path / "fit.py").write_text(moved(blocks("python")))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with (tmp_path / "errors").open("w") as errors:
        shell = subprocess.Popen(
            ["bash", "-e", "-c", moved(blocks("bash")) + ENDING],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )
    yield shell
    os.killpg(shell.pid, signal.SIGTERM)
    shell.communicate(timeout=30)


def test_the_commands_make_an_encrypted_cluster_and_fit_on_it(shell, tmp_path):
    said = list(takewhile(lambda line: line != "all is done\n", shell.stdout))
    assert shell.poll() is None, (tmp_path / "errors").read_text()
    truth = open_store(tmp_path / "data.zarr").truth.ids.tolist()
    assert said[-1].strip("[]\n").split() == [str(one) for one in truth]
    assert "3 of 3 relevant features found" in (tmp_path / "run" / "report.md").read_text()
    sockets = listening(shell.pid)
    # Scheduler and dashboard; nanny, worker and its web server.
    assert len(sockets) == 5
    assert {host for host, _ in sockets} == {"127.0.0.1"}
    assert all(speaks_tls(port) for _, port in sockets)
