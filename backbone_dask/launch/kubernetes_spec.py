"""The DaskCluster resource that Kubernetes is asked for: pure decisions from options to a mapping."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from backbone_dask.errors import InvalidSettingError
from backbone_dask.launch.config import read_config, require_known, seconds_of
from backbone_dask.launch.worker_settings import ENVIRONMENT

if TYPE_CHECKING:
    from backbone_dask.launch.clusters import Request

OF_THE_PODS = {"name", "image", "resources", "env", "scheduler_service_type"}
OPTIONS = OF_THE_PODS | {"namespace", "port_forward_cluster_ip", "cluster_spec", "timeout"}

# What a namespace with the "restricted" standard of pod security asks for.
POD_SECURITY = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
CONTAINER_SECURITY = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


def require_sound(request: Request) -> None:
    options = request.options
    require_known(options, OPTIONS, "kubernetes")
    _require_kinds(options)
    seconds_of(options)
    if request.tls:
        raise InvalidSettingError(
            "the Dask operator gives a kubernetes cluster no certificates; leave tls out, "
            "and keep the cluster's network private"
        )
    if "cluster_spec" not in options and "image" not in options:
        raise InvalidSettingError(
            "a kubernetes cluster needs the option 'image', an image with backbone_dask in it; deploy/docker builds one"
        )
    if "cluster_spec" in options and (strangers := sorted(OF_THE_PODS & set(options))):
        raise InvalidSettingError(f"{strangers[0]!r} stands in the cluster_spec already; set it there alone")


def _require_kinds(options: Mapping[str, Any]) -> None:
    """Kubernetes would refuse them too, in words of its own."""
    for name in ("name", "namespace", "image", "scheduler_service_type"):
        if name in options and not (isinstance(options[name], str) and options[name]):
            raise InvalidSettingError(f"{name}: {options[name]!r} is no text")


def cluster_spec(options: Mapping[str, Any], count: int, operator: Any) -> dict[str, Any]:
    """The DaskCluster resource that is sent."""
    spec = read_config(options["cluster_spec"]) if "cluster_spec" in options else _made_spec(options, operator)
    try:
        spec["spec"]["worker"]["replicas"] = count
    except (KeyError, TypeError) as cause:
        raise InvalidSettingError("cluster_spec is no DaskCluster resource: it lacks spec.worker") from cause
    return spec


def _made_spec(options: Mapping[str, Any], operator: Any) -> dict[str, Any]:
    resources = options.get("resources", {})
    named = isinstance(resources, Mapping) and set(resources) <= {"limits", "requests"}
    if not named or not all(isinstance(amounts, Mapping) for amounts in resources.values()):
        raise InvalidSettingError("'resources' of a kubernetes cluster are two mappings: limits and requests")
    spec: dict[str, Any] = operator.make_cluster_spec(
        name=options.get("name", f"backbone-dask-{os.urandom(4).hex()}"),
        image=options["image"],
        resources=resources,
        env=_environment(options.get("env", {})),
        worker_command=_worker_command(resources),
        scheduler_service_type=options.get("scheduler_service_type", "ClusterIP"),
    )
    # dask-kubernetes still says dask-scheduler, which today's Dask does not install.
    spec["spec"]["scheduler"]["spec"]["containers"][0]["args"] = ["dask", "scheduler", "--host", "0.0.0.0"]
    for part in ("scheduler", "worker"):
        pod = spec["spec"][part]["spec"]
        pod["securityContext"] = POD_SECURITY
        pod["containers"][0]["securityContext"] = CONTAINER_SECURITY
    return spec


def _environment(given: Any) -> list[dict[str, Any]]:
    """A mapping, or a list as in a pod's specification, over the defaults."""
    theirs = (
        [{"name": name, "value": str(value)} for name, value in given.items()] if isinstance(given, Mapping) else given
    )
    if not isinstance(theirs, list) or not all(isinstance(entry, Mapping) and "name" in entry for entry in theirs):
        raise InvalidSettingError("'env' of a kubernetes cluster is a mapping, or a list of name and value")
    named = {entry["name"] for entry in theirs}
    return [entry for entry in _entries(ENVIRONMENT) if entry["name"] not in named] + theirs


def _entries(variables: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"name": name, "value": str(value)} for name, value in variables.items()]


def _worker_command(resources: Mapping[str, Any]) -> list[str]:
    """One thread; all of the pod's memory, of which Dask would take one core's share."""
    command = ["dask", "worker", "--nthreads", "1"]
    memory = (resources.get("limits") or {}).get("memory")
    return [*command, "--memory-limit", str(memory)] if memory else command
