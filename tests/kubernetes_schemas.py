"""Checks of Kubernetes resources without a cluster: the operator's own CRD, and the schemas of Kubernetes itself."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import jsonschema
import kubernetes_validate
import yaml

VERSION = "1.33"
DASK_API = "kubernetes.dask.org/v1"


def validate(resource: dict[str, Any]) -> None:
    """Raise jsonschema's error on what a cluster would refuse or silently drop."""
    if resource["apiVersion"] == DASK_API:
        validate_dask_cluster(resource)
    else:
        validate_plain(resource)


def validate_plain(resource: dict[str, Any]) -> None:
    kubernetes_validate.validate(resource, VERSION, strict=True)


def validate_dask_cluster(resource: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(strict_crd()).validate(resource)
    scheduler, worker = resource["spec"]["scheduler"], resource["spec"]["worker"]
    for template in (scheduler, worker):
        validate_plain(wrapped("Pod", template["spec"]))
    validate_plain(wrapped("Service", scheduler["service"]))


def wrapped(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": "checked"}, "spec": spec}


@cache
def strict_crd() -> dict[str, Any]:
    """The schema that the operator installs. Kubernetes drops fields that it does not know: here they are faults."""
    home = files("dask_kubernetes") / "operator/deployment/helm/dask-kubernetes-operator/crds/daskcluster.yaml"
    [version] = yaml.safe_load(home.read_text())["spec"]["versions"]
    schema = version["schema"]["openAPIV3Schema"]
    about = {"apiVersion": {"const": DASK_API}, "kind": {"const": "DaskCluster"}, "metadata": {"required": ["name"]}}
    schema["properties"] |= about
    return closed(schema) | {"required": ["apiVersion", "kind", "metadata", "spec"]}


def closed(schema: Any) -> Any:
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    known = {name: closed(part) for name, part in schema.items()}
    if "properties" in schema and not schema.get("x-kubernetes-preserve-unknown-fields"):
        known.setdefault("additionalProperties", False)
    return known
