"""Encrypted clusters: nothing listens in plain text, nobody joins without a certificate, nothing is left behind."""

from __future__ import annotations

import os
import signal
import socket
import ssl
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import ExitStack
from pathlib import Path

import dask
import psutil
import pytest
from dask_processes import listening, scheduler, speaks_tls, wait_until, worker
from distributed import Client
from distributed.security import Security

from backbone_dask import cluster
from backbone_dask.errors import MissingExtraError
from backbone_dask.problems.fitting import fit_sparse, prepare
from backbone_dask.runtime.executor import DaskExecutor, SerialExecutor
from backbone_dask.settings import Settings
from backbone_dask.store import Recipe, VirtualStore

STORE = VirtualStore(Recipe(kind="linear", n_samples=120, n_features=1500, n_relevant=4, rho=0.5, snr=5.0, seed=2))
SETTINGS = Settings(n_nonzero=4, screen_size=300, n_subproblems=4, backbone_max=12, seed=4)


@pytest.fixture(scope="module")
def client():
    with cluster(workers=2, tls=True) as client:
        yield client


def bits(executor):
    found = fit_sparse(prepare(STORE, STORE.target(), SETTINGS), executor)
    outcome = found.finding.outcome
    model = (found.model.ids.tobytes(), found.model.coefficients.tobytes(), found.model.intercept)
    return (*model, found.finding.backbone.tobytes(), outcome.objective, outcome.bound, outcome.termination)


def answer_to(port, greeting):
    """What a port says to some bytes, until it is silent or hangs up."""
    said = b""
    with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
        try:
            connection.sendall(greeting)
            while part := connection.recv(1024):
                said += part
        except OSError:
            pass
    return said


def test_all_addresses_are_encrypted(client):
    info = client.scheduler_info(n_workers=-1)
    addresses = [info["address"], *info["workers"], *(one["nanny"] for one in info["workers"].values())]
    assert len(addresses) == 5
    assert all(address.startswith("tls://127.0.0.1:") for address in addresses)


def test_no_port_of_any_process_speaks_in_plain_text(client):
    ports = [port for _, port in listening()]
    assert len(ports) == 8
    for port in ports:
        # To junk, a server with TLS says at most an alert (21); a Dask server would greet, a web server answer HTTP.
        assert answer_to(port, b"GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n")[:1] in (b"", b"\x15")
        assert speaks_tls(port)


def test_the_dashboard_is_served_over_https_alone(client):
    link = client.dashboard_link
    assert link.startswith("https://127.0.0.1:")
    trusting = ssl.create_default_context(cafile=dask.config.get("distributed.scheduler.dashboard.tls.cert"))
    with urllib.request.urlopen(link, context=trusting, timeout=20) as page:
        assert page.status == 200
        assert b"Dask" in page.read()
    with pytest.raises(urllib.error.URLError, match="certificate verify failed"):
        urllib.request.urlopen(link, timeout=20)
    with pytest.raises(OSError, match=r"(?i)remote end|reset"):
        urllib.request.urlopen(link.replace("https", "http"), timeout=20)


def test_workers_web_servers_have_the_certificate_too(client):
    trusting = ssl.create_default_context(cafile=dask.config.get("distributed.scheduler.dashboard.tls.cert"))
    ports = [one["services"]["dashboard"] for one in client.scheduler_info(n_workers=-1)["workers"].values()]
    assert len(ports) == 2
    for port in ports:
        with urllib.request.urlopen(f"https://localhost:{port}/health", context=trusting, timeout=20) as page:
            assert page.read() == b"ok"


def test_a_fit_gives_the_same_bits(client):
    assert bits(DaskExecutor(client)) == bits(SerialExecutor())


def test_no_secret_shows_among_the_processes(client):
    key = Path(dask.config.get("distributed.scheduler.dashboard.tls.key"))
    secrets = [client.security.tls_client_key, key.read_text()]
    assert all("PRIVATE KEY" in secret for secret in secrets)
    this = psutil.Process()
    for process in [this, *this.children(recursive=True)]:
        shown = " ".join([*process.cmdline(), *process.environ().values()])
        assert not any(line in shown for secret in secrets for line in secret.splitlines())


def test_certificates_are_private_and_gone_in_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = dask.config.get("distributed.scheduler.dashboard.tls.cert")
    with cluster(workers=1, tls=True):
        (folder,) = tmp_path.glob("backbone-dask-tls-*")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        files = sorted(folder.iterdir())
        assert [file.name for file in files] == ["dashboard.key", "dashboard.pem"]
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert list(tmp_path.glob("backbone-dask-tls-*")) == []
    assert dask.config.get("distributed.scheduler.dashboard.tls.cert") == before


def test_a_client_with_other_certificates_is_refused(client):
    address = client.scheduler.address
    with pytest.raises(OSError, match="TLS certificate does not match"):
        Client(address, security=Security.temporary(), timeout=1, set_as_default=False)


def test_without_cryptography_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'backbone-dask\[tls\]'"), cluster(workers=1, tls=True):
        pass


def test_workers_without_the_certificate_never_join(ours, theirs, tmp_path):
    with scheduler(tmp_path / "scheduler", *ours.flags) as running, ExitStack() as stack:
        flags = {"none": [], "theirs": theirs.flags, "plain": []}
        strangers = [
            stack.enter_context(worker(tmp_path / name, _address(running, name), *some)) for name, some in flags.items()
        ]
        for stranger in strangers:
            wait_until(lambda stranger=stranger: stranger.process.poll() is not None)
            assert "Nanny failed to start" in stranger.text
        assert "certificate verify failed" in strangers[1].text.lower()
        assert "Register worker" not in running.text
        stack.enter_context(worker(tmp_path / "friend", running.address, *ours.flags))
        with cluster(running.address, config=ours.options) as client:
            assert len(client.scheduler_info(n_workers=-1)["workers"]) == 1
            assert client.submit(sum, [1, 2]).result(timeout=20) == 3
        assert running.text.count("Register worker") == 1


def _address(running, name):
    return running.address.replace("tls://", "tcp://") if name == "plain" else running.address


@pytest.mark.parametrize(("number", "moment"), [(signal.SIGTERM, "certificates"), (signal.SIGINT, "workers")])
def test_an_interrupt_while_the_cluster_starts_leaves_nothing(tmp_path, number, moment):
    (tmp_path / "recipe.json").write_text(STORE.recipe.to_json())
    command = ["fit", "recipe.json", "-k", "4", "--out", "run", "--workers", "2", "--tls", "--quiet"]
    process = subprocess.Popen(
        [sys.executable, "-m", "backbone_dask.cli", *command],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    wait_until(lambda: list(tmp_path.glob("backbone-dask-tls-*")))
    this = psutil.Process(process.pid)
    if moment == "workers":
        wait_until(lambda: len(this.children(recursive=True)) == 3)
    children = this.children(recursive=True)
    os.killpg(process.pid, number) if number == signal.SIGINT else os.kill(process.pid, number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number, errors
    assert errors.lstrip().startswith("interrupted"), errors
    assert "Traceback" not in errors
    assert list(tmp_path.glob("backbone-dask-tls-*")) == []
    wait_until(lambda: not [one for one in children if one.is_running() and one.status() != psutil.STATUS_ZOMBIE])
