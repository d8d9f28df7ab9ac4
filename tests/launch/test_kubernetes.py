"""Pods through the Dask operator, against an API server on loopback that runs each pod as a process."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from kube_cases import FakeKubernetes, fake_kubernetes, kubeconfig
from kubernetes_schemas import validate_dask_cluster

import backbone_dask
from backbone_dask import cluster
from backbone_dask.errors import InvalidSettingError, MissingExtraError

MANIFEST = Path(backbone_dask.__file__).parents[1] / "deploy/kubernetes/cluster.yaml"
OPTIONS = {"image": "backbone-dask:1", "name": "wide", "resources": {"limits": {"memory": "1Gi", "cpu": "1"}}}
FIT = ("--task", "regression", "-k", "3", "--quiet")

Command = Callable[..., list[str]]


@pytest.fixture
def kubernetes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeKubernetes]:
    with fake_kubernetes() as fake:
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig(tmp_path / "kubeconfig", fake.url)))
        monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
        yield fake


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kubernetes") / "demo.zarr"
    shell(
        "simulate",
        "linear",
        path,
        *["--n", "100", "--p", "600", "--k", "3", "--rho", "0.5", "--snr", "5", "--seed", "1"],
    )
    return path


@pytest.fixture
def command(tmp_path: Path, store: Path) -> Command:
    """The words of a fit on pods."""

    def words(**options: Any) -> list[str]:
        (tmp_path / "options.yaml").write_text(yaml.safe_dump(options))
        asked = ["--cluster", "kubernetes", "--cluster-config", tmp_path / "options.yaml", "--workers", "2"]
        return [str(word) for word in ("fit", store, *FIT, "--out", tmp_path / "pods", *asked)]

    return words


def shell(*arguments: object) -> None:
    done = subprocess.run(python(*arguments), capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    assert all(re.match(r"\d\d:\d\d:\d\d \w+: ", line) for line in done.stderr.splitlines()), done.stderr


def attempt(asked: dict[str, Any], block: str = "print('there is a cluster')") -> str:
    """What a process of its own prints: Kubernetes' client keeps connections and threads until the process ends."""
    code = f"""
import json, sys
from backbone_dask import cluster
from backbone_dask.errors import BackboneError
try:
    with cluster("kubernetes", **json.loads(sys.argv[1])) as client:
{textwrap.indent(block, "        ")}
except BackboneError as error:
    print(type(error).__name__, error)
"""
    command = [sys.executable, "-c", code, json.dumps(asked)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.strip()


def python(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "backbone_dask.cli", *map(str, arguments)]


def result(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "result.json").read_text())


def test_a_fit_on_pods_is_the_serial_one_bit_for_bit(kubernetes, command, store, tmp_path) -> None:
    shell(*command(**OPTIONS))
    shell("fit", store, *FIT, "--out", tmp_path / "serial", "--workers", "0")
    pods, serial = result(tmp_path / "pods"), result(tmp_path / "serial")
    for answer in ("support", "coefficients", "intercept", "objective", "reduced"):
        assert pods[answer] == serial[answer], answer
    assert len(pods["peak_bytes"]["workers"]) == 2

    [sent] = kubernetes.created
    validate_dask_cluster(sent)
    assert kubernetes.deleted == ["wide"]
    assert all(process.poll() is not None for process in kubernetes.pods.processes)


WORKERS = """
import os, dask
def settings():
    names = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "AWS_PROFILE")
    asked = ("memory.spill", "memory.target", "profile.enabled")
    return [os.environ[name] for name in names] + [dask.config.get(f"distributed.worker.{name}") for name in asked]
workers = client.scheduler_info(n_workers=-1)["workers"].values()
found = sorted((worker["name"], worker["nthreads"], worker["memory_limit"]) for worker in workers)
print(json.dumps([found, list(client.run(settings).values())]))
"""


def test_what_is_sent_suits_the_work(kubernetes) -> None:
    options = OPTIONS | {"env": {"OMP_NUM_THREADS": 2, "AWS_PROFILE": "wide"}}
    workers, settings = json.loads(attempt({"config": options}, WORKERS))
    assert workers == [["pod-0", 1, 2**30], ["pod-1", 1, 2**30]]
    assert settings == [["2", "1", "wide", False, False, False]] * 2
    [sent] = kubernetes.created
    validate_dask_cluster(sent)
    assert sent["metadata"] == {"name": "wide", "namespace": "models"}
    assert {pod["image"] for part in ("scheduler", "worker") for pod in containers(sent, part)} == {"backbone-dask:1"}


def containers(resource: dict[str, Any], part: str) -> list[dict[str, Any]]:
    return resource["spec"][part]["spec"]["containers"]


def test_a_manifest_can_be_the_cluster(kubernetes) -> None:
    asked = {"workers": 1, "config": {"cluster_spec": str(MANIFEST)}}
    assert attempt(asked, "print(client.submit(sum, [1, 2]).result(timeout=60))") == "3"
    [sent] = kubernetes.created
    wanted = yaml.safe_load(MANIFEST.read_text())
    wanted["spec"]["worker"]["replicas"] = 1
    assert sent["spec"] == wanted["spec"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("moment", ["waiting", "fitting"])
def test_an_interrupt_deletes_the_pods(kubernetes, command, tmp_path, number, moment) -> None:
    kubernetes.image_can_be_pulled = moment == "fitting"
    process = subprocess.Popen(python(*command(**OPTIONS)), stderr=subprocess.PIPE, text=True)
    journal = tmp_path / "pods" / "events.jsonl"
    wait_until(lambda: journal.exists() and journal.read_text() if moment == "fitting" else kubernetes.created)
    process.send_signal(number)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 128 + number
    assert said.lstrip().startswith("interrupted")
    assert kubernetes.deleted == ["wide"]


def wait_until(happened: Callable[[], object]) -> None:
    deadline = time.monotonic() + 120
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_without_an_operator_the_resource_is_taken_back(kubernetes) -> None:
    kubernetes.operator_runs = False
    said = attempt({"config": OPTIONS | {"timeout": 3}})
    assert re.match(r"ClusterError .*DaskCluster wide has no scheduler .* is the Dask operator running", said)
    assert kubernetes.deleted == ["wide"]


def test_a_pod_that_never_runs_is_taken_back(kubernetes) -> None:
    kubernetes.image_can_be_pulled = False
    said = attempt({"config": OPTIONS | {"timeout": 3}})
    assert re.match(r"ClusterError .*can the image be pulled\? Try kubectl --namespace models get pods", said)
    assert kubernetes.deleted == ["wide"]


def test_what_kubernetes_says_is_passed_on(kubernetes) -> None:
    kubernetes.refusal = "you may not create daskclusters"
    said = attempt({"config": OPTIONS | {"namespace": "elsewhere"}})
    assert re.match(r"ClusterError .*in the namespace elsewhere \(you may not create daskclusters\)", said)
    assert kubernetes.deleted == []


def test_the_cluster_of_somebody_else_is_left_alone(kubernetes) -> None:
    theirs = {"metadata": {"name": "wide", "namespace": "models"}}
    kubernetes.resources = {"daskclusters": [theirs]}
    said = attempt({"config": OPTIONS})
    assert re.match(r"ClusterError .*the DaskCluster wide is there already; give this one another name", said)
    assert kubernetes.resources == {"daskclusters": [theirs]}


def test_no_kubeconfig_is_a_sentence(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    said = attempt({"config": OPTIONS})
    assert re.match(r"ClusterError .*no Kubernetes cluster is configured in .*none", said)


@pytest.mark.parametrize("text", ["", "a: b", "{{:"])
def test_a_damaged_kubeconfig_is_a_sentence(tmp_path, monkeypatch, text) -> None:
    (tmp_path / "config").write_text(text)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    said = attempt({"config": OPTIONS})
    assert re.match(r"ClusterError .*no Kubernetes cluster is configured in .*config", said)


@pytest.mark.parametrize("listening", [False, True])
def test_an_api_server_that_does_not_answer_is_a_sentence_soon(tmp_path, monkeypatch, listening) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        if not listening:
            server.close()
            address = "http://127.0.0.1:1"
        else:
            address = f"http://127.0.0.1:{server.getsockname()[1]}"
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig(tmp_path / "config", address)))
        started = time.monotonic()
        said = attempt({"config": OPTIONS})
        assert re.match(r"ClusterError .*the Kubernetes API server of .*config does not answer", said)
        assert time.monotonic() - started < 30


def enter(options: dict[str, Any], **more: Any) -> None:
    with cluster("kubernetes", config=options, **more):
        raise AssertionError("there is no cluster to be had")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (
            {"image": "x", "colour": 1},
            "a kubernetes cluster has no option 'colour'; known are: cluster_spec, env, image",
        ),
        ({}, "needs the option 'image'"),
        ({"image": "x", "resources": {"memory": "1Gi"}}, "two mappings: limits and requests"),
        ({"image": "x", "resources": {"limits": 3}}, "two mappings: limits and requests"),
        ({"image": [1]}, "image: .1. is no text"),
        ({"image": "x", "timeout": "soon"}, "timeout: 'soon' is no number of seconds"),
        ({"image": "x", "env": ["OMP_NUM_THREADS=1"]}, "'env' of a kubernetes cluster is a mapping"),
        ({"cluster_spec": str(MANIFEST), "image": "x"}, "'image' stands in the cluster_spec already"),
        ({"cluster_spec": {"spec": {}}}, "no DaskCluster resource"),
        ({"cluster_spec": str(MANIFEST.with_name("none.yaml"))}, "cannot be read"),
    ],
)
def test_options_that_cannot_work_are_refused(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InvalidSettingError, match=complaint):
        enter(options)


def test_a_name_that_kubernetes_does_not_take_is_refused(kubernetes) -> None:
    said = attempt({"config": OPTIONS | {"name": "Wide_Model"}})
    assert re.match(r"InvalidSettingError a kubernetes cluster needs a name of lower case letters", said)


def test_tls_is_refused() -> None:
    with pytest.raises(InvalidSettingError, match="no certificates; leave tls out"):
        enter(OPTIONS, tls=True)


def test_without_the_extra_it_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "dask_kubernetes", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'backbone-dask\[kubernetes\]'"):
        enter(OPTIONS)


def test_the_door_to_clusters_loads_no_kubernetes() -> None:
    code = (
        "import sys, backbone_dask.launch.clusters; print([m for m in sys.modules if m.startswith(('dask_k', 'kr8s'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout.strip() == "[]"
