"""deploy/tls/README.md does what it says: its commands run, in a shell, and nothing of the cluster is plain."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

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


def test_the_commands_make_an_encrypted_cluster_and_fit_on_it(tmp_path):
    (tmp_path / "fit.py").write_text(moved(blocks("python")))
    here = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shell = subprocess.Popen(
        ["bash", "-e", "-c", moved(blocks("bash")) + ENDING],
        cwd=tmp_path,
        env={**os.environ, "PATH": here},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=(tmp_path / "errors").open("w"),
        text=True,
        start_new_session=True,
    )
    try:
        said = list(iter(shell.stdout.readline, "all is done\n")) if shell.stdout.readable() else []
        result = json.loads((tmp_path / "run" / "result.json").read_text())
        sockets = listening(shell.pid)
        encrypted = [speaks_tls(port) for _, port in sockets]
    finally:
        os.killpg(shell.pid, signal.SIGTERM)
        shell.communicate(timeout=30)
    truth = open_store(tmp_path / "data.zarr").truth.ids.tolist()
    assert [one["id"] for one in result["support"]] == truth
    assert said[-1].strip("[]\n").split() == [str(one) for one in truth]
    # Scheduler and dashboard; nanny, worker and its web server.
    assert len(sockets) == 5
    assert {host for host, _ in sockets} == {"127.0.0.1"}
    assert all(encrypted)
