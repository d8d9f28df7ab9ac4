"""Schedulers and workers as people start them: processes of the command `dask`, certificates of openssl."""

from __future__ import annotations

import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

DASK = str(Path(sys.executable).with_name("dask"))


def wait_until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)
    return found


@dataclass(frozen=True)
class Authority:
    """A CA with one certificate that it has signed."""

    folder: Path

    @property
    def flags(self):
        """What `dask scheduler` and `dask worker` take."""
        return [f"--tls-{what}={self.folder / name}" for what, name in (("ca-file", "ca.pem"), *NODE)]

    @property
    def options(self):
        """What a configuration of ours takes."""
        files = {"tls_ca_file": "ca.pem", "tls_client_cert": "node.pem", "tls_client_key": "node.key"}
        return {name: str(self.folder / file) for name, file in files.items()}


NODE = (("cert", "node.pem"), ("key", "node.key"))


def make_authority(folder):
    new = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    folder.mkdir()
    subprocess.run(
        [*new, "-subj", f"/CN={folder.name} CA", "-keyout", "ca.key", "-out", "ca.pem"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-addext", "basicConstraints=critical,CA:FALSE"]
    subprocess.run(
        [*new, "-subj", "/CN=node", *signed, "-keyout", "node.key", "-out", "node.pem"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    return Authority(folder)


@dataclass
class Running:
    """A process of `dask`, with what it has written so far."""

    process: subprocess.Popen
    log: Path
    address: str = ""

    @property
    def text(self):
        return self.log.read_text()

    @property
    def port(self):
        return int(self.address.rpartition(":")[2])


@contextmanager
def dask(folder, *arguments):
    """A process that ends with the block, with whatever it started."""
    folder.mkdir(exist_ok=True)
    log = folder / f"{arguments[0]}-{time.monotonic_ns()}.log"
    with log.open("w") as file:
        process = subprocess.Popen(
            [DASK, *map(str, arguments)], cwd=folder, stdout=file, stderr=file, start_new_session=True
        )
    try:
        yield Running(process, log)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextmanager
def scheduler(folder, *flags):
    with dask(
        folder,
        "scheduler",
        "--host=127.0.0.1",
        "--port=0",
        "--dashboard-address=127.0.0.1:0",
        "--scheduler-file=s.json",
        *flags,
    ) as running:
        content = wait_until(lambda: _written(folder / "s.json", running))
        running.address = content["address"]
        yield running


def _written(path, running):
    assert running.process.poll() is None, running.text
    try:
        return json.loads(path.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None


def worker(folder, address, *flags):
    return dask(folder, "worker", address, "--host=127.0.0.1", "--nthreads=1", "--death-timeout=60", *flags)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listening(pid=None):
    """(host, port) of every socket that this process, or another one, or one of its children listens on."""
    this = psutil.Process(pid)
    return {
        (socket_.laddr.ip, socket_.laddr.port)
        for process in [this, *this.children(recursive=True)]
        for socket_ in process.net_connections("inet")
        if socket_.status == psutil.CONN_LISTEN
    }


def yaml_of(options, path):
    path.write_text("".join(f"{name}: {value}\n" for name, value in options.items()))
    return path


def speaks_tls(port):
    stranger = ssl.create_default_context()
    stranger.check_hostname, stranger.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection(("127.0.0.1", port), timeout=5) as connection,
        stranger.wrap_socket(connection) as there,
    ):
        return there.version() in ("TLSv1.2", "TLSv1.3")
