"""deploy/kubernetes without a cluster: every resource by its schema, and every name that one uses of another."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from kubernetes_schemas import validate

import backbone_dask
from backbone_dask.cli.fit import fit
from backbone_dask.launch.address import CERTIFICATES
from backbone_dask.launch.worker_settings import ENVIRONMENT

ROOT = Path(backbone_dask.__file__).parents[1]
MANIFESTS = ROOT / "deploy" / "kubernetes"
Resource = dict[str, Any]


def faults(folder: Path) -> list[str]:
    """All that a cluster would refuse or could not find."""
    kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text())
    missing = [name for name in files_of(kustomization) if not (folder / name).exists()]
    if missing:
        return [f"{name} is not there" for name in missing]
    resources = {}
    for name in kustomization["resources"]:
        resource = yaml.safe_load((folder / name).read_text())
        if complaint := invalid(resource):
            return [f"{name}: {complaint}"]
        resources[resource["kind"]] = resource
    return [*dangling(resources, kustomization), *unsuited(resources), *insecure(resources)]


def files_of(kustomization: Resource) -> list[str]:
    maps = [name for generator in kustomization["configMapGenerator"] for name in generator["files"]]
    return [*kustomization["resources"], *kustomization["configurations"], *maps]


def invalid(resource: Resource) -> str:
    try:
        validate(resource)
    except jsonschema.ValidationError as error:
        return error.message
    return ""


def pods_of(resources: dict[str, Resource]) -> Iterator[tuple[str, Resource]]:
    yield "scheduler", resources["DaskCluster"]["spec"]["scheduler"]["spec"]
    yield "worker", resources["DaskCluster"]["spec"]["worker"]["spec"]
    yield "fit", resources["Job"]["spec"]["template"]["spec"]


def dangling(resources: dict[str, Resource], kustomization: Resource) -> Iterator[str]:
    """Names of what is nowhere made."""
    there = {("persistentVolumeClaim", "claimName", resources["PersistentVolumeClaim"]["metadata"]["name"])}
    there |= {("configMap", "name", generator["name"]) for generator in kustomization["configMapGenerator"]}
    for place, pod in pods_of(resources):
        volumes = {volume["name"]: volume for volume in pod.get("volumes", [])}
        for volume in volumes.values():
            [(kind, source)] = [(key, value) for key, value in volume.items() if key != "name"]
            if not any((kind, key, value) in there for key, value in source.items()):
                yield f"{place}: the volume {volume['name']} comes from nowhere"
        mounts = [mount["name"] for container in pod["containers"] for mount in container.get("volumeMounts", [])]
        yield from (f"{place}: no volume {name}" for name in mounts if name not in volumes)
    if kustomization["namespace"] != resources["Namespace"]["metadata"]["name"]:
        yield "the namespace is not made"
    images = {container["image"].split(":")[0] for _, pod in pods_of(resources) for container in pod["containers"]}
    if images != {image["name"] for image in kustomization["images"]}:
        yield "an image is not replaced"


def unsuited(resources: dict[str, Resource]) -> Iterator[str]:
    """The fit speaks to the scheduler that there is, and waits for its workers."""
    cluster = resources["DaskCluster"]
    asked = arguments_of(resources["Job"])
    # The operator calls the service after the cluster.
    if asked["cluster"] != f"tcp://{cluster['metadata']['name']}-scheduler:8786":
        yield f"the fit looks for {asked['cluster']}"
    if cluster["spec"]["scheduler"]["service"]["selector"]["dask.org/cluster-name"] != cluster["metadata"]["name"]:
        yield "the service selects the pods of another cluster"
    if asked["workers"] != cluster["spec"]["worker"]["replicas"]:
        yield "the fit waits for another number of workers"
    yield from unsuited_workers(cluster["spec"]["worker"]["spec"]["containers"][0])
    for place, pod in pods_of(resources):
        threads = {entry["value"] for entry in pod["containers"][0]["env"] if entry["name"].endswith("_NUM_THREADS")}
        if threads != {"1"}:
            yield f"{place}: BLAS has more than one thread"


def unsuited_workers(worker: Resource) -> Iterator[str]:
    """Workers have one thread, all of their pod's memory, and the settings of all others."""
    options = dict(zip(worker["args"], worker["args"][1:], strict=False))
    if options["--nthreads"] != "1":
        yield "workers have more than one thread"
    if options["--memory-limit"] != worker["resources"]["limits"]["memory"]:
        yield "Dask and Kubernetes give a worker different memory"
    if not ENVIRONMENT.items() <= {entry["name"]: entry["value"] for entry in worker["env"]}.items():
        yield "workers are set otherwise than everywhere else"


def arguments_of(job: Resource) -> dict[str, Any]:
    """As the command itself reads them."""
    [container] = job["spec"]["template"]["spec"]["containers"]
    [mounted] = [mount["mountPath"] for mount in container["volumeMounts"] if mount["name"] == "options"]
    words = [word.replace(mounted, str(MANIFESTS)) for word in container["command"] + container["args"]]
    program, command, *arguments = words
    assert (program, command) == ("backbone-dask", "fit")
    return fit.make_context("fit", arguments).params


def insecure(resources: dict[str, Resource]) -> Iterator[str]:
    """What a namespace with the restricted standard of pod security refuses."""
    for place, pod in pods_of(resources):
        [container] = pod["containers"]
        if not pod["securityContext"].get("runAsNonRoot") or pod["securityContext"].get("runAsUser") == 0:
            yield f"{place} runs as root"
        if pod["securityContext"].get("seccompProfile") != {"type": "RuntimeDefault"}:
            yield f"{place} has no seccomp profile"
        if container["securityContext"] != {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}:
            yield f"{place} has capabilities"


def test_the_manifests_are_sound() -> None:
    assert faults(MANIFESTS) == []


def test_the_options_of_the_fit_are_those_of_a_running_cluster() -> None:
    assert set(yaml.safe_load((MANIFESTS / "options.yaml").read_text())) <= {*CERTIFICATES, "timeout"}


@pytest.mark.parametrize(
    ("name", "sound", "damaged", "complaint"),
    [
        ("cluster.yaml", "replicas: 2", "replicas: two", "is not of type 'integer'"),
        ("cluster.yaml", "replicas: 2", "replica: 2", "Additional properties are not allowed"),
        ("cluster.yaml", "replicas: 2", "replicas: 3", "another number of workers"),
        ("cluster.yaml", "kind: DaskCluster", "kind: DaskClusters", "'DaskCluster' was expected"),
        ("cluster.yaml", "containerPort: 8787", "containerport: 8787", "'containerPort' is a required property"),
        ("cluster.yaml", "imagePullPolicy: IfNotPresent", "imagePullPolicy: [x]", "is not of type 'string'"),
        ("cluster.yaml", "runAsNonRoot: true", "runAsNonRoot: 1", "is not of type 'boolean'"),
        ("cluster.yaml", "runAsNonRoot: true", "runAsNonRoot: false", "scheduler runs as root"),
        ("cluster.yaml", "claimName: data", "claimName: date", "the volume data comes from nowhere"),
        ("cluster.yaml", "--memory-limit, 4Gi", "--memory-limit, 8Gi", "different memory"),
        ("cluster.yaml", 'MEMORY__PAUSE, value: "False"', 'MEMORY__PAUSE, value: "True"', "workers are set otherwise"),
        ("cluster.yaml", '--nthreads, "1"', '--nthreads, "4"', "more than one thread"),
        ("cluster.yaml", "cluster-name: backbone-dask", "cluster-name: other", "pods of another cluster"),
        ("fit.yaml", "restartPolicy: Never", "restartPolicies: Never", "Additional properties are not allowed"),
        ("fit.yaml", "backbone-dask-scheduler:8786", "scheduler:8786", "the fit looks for tcp://scheduler:8786"),
        ("fit.yaml", "drop: [ALL]", "drop: []", "fit has capabilities"),
        ("fit.yaml", 'NUMBA_NUM_THREADS, value: "1"', 'NUMBA_NUM_THREADS, value: "8"', "BLAS has more"),
        ("data.yaml", "[ReadWriteMany]", "ReadWriteMany", "is not of type 'array'"),
        ("namespace.yaml", "name: backbone-dask", "name: other", "the namespace is not made"),
        ("kustomization.yaml", "- fit.yaml", "- fits.yaml", "fits.yaml is not there"),
        ("kustomization.yaml", "- name: options", "- name: option", "the volume options comes from nowhere"),
        ("kustomization.yaml", "- name: backbone-dask", "- name: other", "an image is not replaced"),
    ],
)
def test_a_planted_fault_is_seen(tmp_path: Path, name: str, sound: str, damaged: str, complaint: str) -> None:
    folder = shutil.copytree(MANIFESTS, tmp_path / "kubernetes")
    text = (folder / name).read_text()
    assert sound in text
    (folder / name).write_text(text.replace(sound, damaged))
    assert complaint in " ".join(faults(folder))


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_kustomize_puts_them_together(tmp_path: Path) -> None:
    folder = shutil.copytree(MANIFESTS, tmp_path / "kubernetes")
    kustomization = folder / "kustomization.yaml"
    kustomization.write_text(kustomization.read_text().replace("newTag: latest", 'newTag: "7"'))
    done = subprocess.run(["kubectl", "kustomize", folder], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    made = {resource["kind"]: resource for resource in yaml.safe_load_all(done.stdout)}
    assert set(made) == {"Namespace", "ConfigMap", "PersistentVolumeClaim", "Job", "DaskCluster"}
    assert {container["image"] for _, pod in pods_of(made) for container in pod["containers"]} == {"backbone-dask:7"}
    for kind, resource in made.items():
        assert invalid(resource) == ""
        assert kind == "Namespace" or resource["metadata"]["namespace"] == "backbone-dask"
