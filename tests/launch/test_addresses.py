"""Clusters by name or by address: what runs stays running, and what cannot work is a sentence, soon."""

from __future__ import annotations

import contextlib
import io
import json
import signal
import socket
import subprocess
import sys
import threading
import time

import dask
import numpy as np
import pytest
from dask_processes import free_port, scheduler, yaml_of
from distributed import Client

from backbone_dask import cluster, open_store
from backbone_dask.cli.main import main
from backbone_dask.errors import BackboneError, ClusterError, InvalidSettingError, UnknownNameError
from backbone_dask.launch.reaching import require_scheduler
from backbone_dask.store import Recipe, VirtualStore, write_recipe, write_store

STORE = VirtualStore(Recipe(kind="linear", n_samples=120, n_features=1500, n_relevant=4, rho=0.5, snr=5.0, seed=2))
FOUND = ("support", "coefficients", "intercept", "backbone", "objective", "reduced", "termination", "levels")
SOON = 15


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the commands run; the workers were started elsewhere."""
    folder = tmp_path_factory.mktemp("commands")
    write_store(STORE, folder / "data.zarr")
    write_recipe(STORE.recipe, folder / "recipe.json")
    return folder


def command(folder, *arguments):
    """What a command prints; in this process, which saves the imports."""
    out, err, before = io.StringIO(), io.StringIO(), signal.getsignal(signal.SIGTERM)
    try:
        with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main([*map(str, arguments)])
    except SystemExit as end:
        return end.code, err.getvalue()
    finally:
        signal.signal(signal.SIGTERM, before)
    return 0, out.getvalue()


def process(folder, *arguments):
    """The same in a process of its own."""
    line = [sys.executable, "-m", "backbone_dask.cli", *map(str, arguments)]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout if done.returncode == 0 else done.stderr


def fit(folder, out, *arguments, run=command):
    code, text = run(folder, "fit", "data.zarr", "-k", 4, "--out", out, "--json", *arguments)
    assert code == 0, text
    result = json.loads(text)
    return {name: result[name] for name in FOUND}


@pytest.fixture(scope="module")
def serial(folder):
    return fit(folder, "serial", "--workers", 0)


def refusal(kind, *, soon=SOON, **options):
    """The sentence with which a cluster is refused."""
    began = time.monotonic()
    with pytest.raises(BackboneError) as caught, cluster(kind, **options):
        pass
    assert time.monotonic() - began < soon
    assert "\n" not in str(caught.value)
    return caught.value


def test_commands_fit_on_a_running_cluster_and_leave_it_running(folder, serial, plain):
    assert fit(folder, "there", "--cluster", plain.address, run=process) == serial
    assert plain.process.poll() is None
    with Client(plain.address, set_as_default=False) as client:
        assert client.submit(sum, [1, 2]).result(timeout=20) == 3


def test_commands_fit_on_an_encrypted_cluster(folder, serial, encrypted, ours):
    config = yaml_of(ours.options, folder / "tls.yaml")
    assert fit(folder, "tls", "--cluster", encrypted.address, "--cluster-config", config) == serial


def test_relative_outputs_reach_workers_in_another_folder(folder, plain):
    """Utilities and partitions are written by the workers, where the command was called."""
    place = ("--cluster", plain.address)
    out = ("--keep", 9, "--out", "best.csv", "--utilities", "all.zarr")
    code, text = command(folder, "screen", "data.zarr", *out, *place)
    assert code == 0, text
    assert (folder / "all.zarr").is_dir()
    shape = ("--n", 50, "--p", 400, "--k", 3, "--seed", 5)
    for name, where in (("there.zarr", place), ("here.zarr", ("--workers", 0))):
        code, text = command(folder, "simulate", "linear", name, *shape, *where)
        assert code == 0, text
    one, other = (open_store(folder / name).gather(np.arange(400)) for name in ("there.zarr", "here.zarr"))
    np.testing.assert_array_equal(one.values, other.values)


def test_in_python_the_client_is_the_active_one_and_the_cluster_stays(plain):
    with cluster(plain.address) as client:
        assert Client.current() is client
        assert client.submit(sum, [1, 2]).result(timeout=20) == 3
    assert client.status == "closed"
    assert plain.process.poll() is None


def test_dasks_own_configuration_has_certificates_too(encrypted, ours):
    files = ours.options
    settings = {"ca-file": files["tls_ca_file"], "client.cert": files["tls_client_cert"]}
    settings["client.key"] = files["tls_client_key"]
    settings = {f"distributed.comm.tls.{name}": file for name, file in settings.items()}
    with dask.config.set(settings), cluster(encrypted.address) as client:
        assert client.submit(sum, [1, 2]).result(timeout=20) == 3


def test_nobody_listens():
    port = free_port()
    error = refusal(f"tcp://127.0.0.1:{port}")
    assert isinstance(error, ClusterError)
    assert f"no scheduler answers at tcp://127.0.0.1:{port} ([Errno 111] Connection refused)" in str(error)


def test_a_host_that_does_not_exist():
    assert "no scheduler answers at tcp://nowhere.invalid:8786" in str(
        refusal("tcp://nowhere.invalid:8786", soon=30, config={"timeout": 1})
    )


def test_a_scheduler_that_starts_late_is_waited_for():
    port = free_port()

    def greet():
        with socket.create_server(("127.0.0.1", port)) as late:
            connection = late.accept()[0]
            connection.sendall(b"hello")
            connection.close()

    later = threading.Timer(0.5, greet)
    later.start()
    require_scheduler(f"tcp://127.0.0.1:{port}", None, seconds=30)
    later.join()


@pytest.mark.parametrize("address", ["tcp://", "tcp://127.0.0.1", "tcp://:8786", "tls://host:port", "tcp://a:99999"])
def test_addresses_that_are_none(address):
    error = refusal(address)
    assert isinstance(error, InvalidSettingError)
    assert f"{address} is no address of a scheduler; write it as {address[:6]}HOST:PORT" in str(error)


def test_something_else_listens():
    """It takes connections, and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"tcp://127.0.0.1:{other.getsockname()[1]}"
        assert "does not answer as a Dask scheduler" in str(refusal(address, config={"timeout": 1}))


def test_fewer_workers_than_asked_for(plain):
    error = refusal(plain.address, workers=2, config={"timeout": 1})
    assert f"{plain.address} has 1 of the 2 workers asked for" in str(error)


def test_no_workers(tmp_path):
    with scheduler(tmp_path / "alone") as running:
        assert "has 0 of the 1 workers asked for" in str(refusal(running.address, config={"timeout": 1}))


def test_plain_words_to_an_encrypted_scheduler(encrypted):
    address = encrypted.address.replace("tls://", "tcp://")
    assert f"the scheduler at {address} encrypts; write the address as tls://" in str(refusal(address))


def test_encrypted_words_to_a_plain_scheduler(plain, ours):
    address = plain.address.replace("tcp://", "tls://")
    assert f"the scheduler at {address} does not encrypt" in str(refusal(address, config=ours.options))


def test_the_wrong_authority(encrypted, ours, theirs):
    assert "has a certificate that tls_ca_file did not sign" in str(refusal(encrypted.address, config=theirs.options))
    pretender = {**theirs.options, "tls_ca_file": ours.options["tls_ca_file"]}
    assert "refuses our certificate" in str(refusal(encrypted.address, config=pretender))


def test_certificates_that_are_none(encrypted, ours, theirs, tmp_path):
    junk = tmp_path / "junk.pem"
    junk.write_text("hello\n")
    assert "needs certificates: give tls_ca_file" in str(refusal(encrypted.address))
    for name in ours.options:
        missing, other = {**ours.options, name: "/no/such.pem"}, {**ours.options, name: str(junk)}
        assert f"{name}: /no/such.pem cannot be read (No such file" in str(refusal(encrypted.address, config=missing))
        assert "cannot be used" in str(refusal(encrypted.address, config=other))
    mixed = {**ours.options, "tls_client_key": theirs.options["tls_client_key"]}
    assert "and the key that of the certificate" in str(refusal(encrypted.address, config=mixed))


def test_certificates_for_a_plain_address(plain, ours):
    assert "is not encrypted" in str(refusal(plain.address, config=ours.options))
    assert "is not encrypted" in str(refusal(plain.address, tls=True))


@pytest.mark.parametrize("seconds", [0, -1, "soon", True, float("nan"), float("inf")])
def test_timeouts_that_are_none(seconds):
    assert "is no number of seconds above 0" in str(refusal("tcp://127.0.0.1:8786", config={"timeout": seconds}))


@pytest.mark.parametrize("kind", ["slrum", "", "http://127.0.0.1:8787", "TCP://127.0.0.1:8786", "local://"])
def test_names_that_no_cluster_has(kind):
    error = refusal(kind)
    assert isinstance(error, UnknownNameError)
    assert f"no cluster is called {kind!r}; use one of: local, tcp://HOST:PORT, tls://HOST:PORT, slurm" in str(error)


@pytest.mark.parametrize("kind", ["local", "slurm", "kubernetes", "tcp://127.0.0.1:8786"])
@pytest.mark.parametrize("workers", [0, -1])
def test_numbers_of_workers_that_are_none(kind, workers):
    assert f"workers is {workers}; it must be at least 1" in str(refusal(kind, workers=workers))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a: [1", "is no YAML"),
        ("- host\n", "holds no options"),
        ("hello", "holds no options"),
        ("1: 2\n", "holds no options"),
        ("tls_ca: ca.pem\n", "no option 'tls_ca'; known are: timeout, tls_ca_file, tls_client_cert, tls_client_key"),
    ],
)
def test_configurations_that_are_none(content, words, tmp_path):
    config = tmp_path / "cluster.yaml"
    config.write_text(content)
    assert words in str(refusal("tcp://127.0.0.1:8786", config=config))


def test_a_configuration_that_is_not_there(tmp_path):
    assert "cannot be read (No such file" in str(refusal("local", config=tmp_path / "none.yaml"))


@pytest.mark.parametrize(
    ("options", "words", "code"),
    [
        (("--cluster", "slrum"), "error: no cluster is called 'slrum'", 1),
        (("--cluster-config", "junk.yaml"), "is no YAML", 1),
        (("--cluster-config", "none.yaml"), "'none.yaml' does not exist", 2),
    ],
)
def test_a_command_that_cannot_start_costs_no_earlier_run(folder, serial, options, words, code):
    (folder / "junk.yaml").write_text("a: [1")
    ended, text = command(folder, "fit", "data.zarr", "-k", 4, "--out", "serial", "--overwrite", *options)
    assert ended == code
    assert words in text
    assert (folder / "serial" / "result.json").exists()
