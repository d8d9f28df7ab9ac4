"""Pods on Kubernetes: the Dask operator makes a scheduler and workers, which end with the block."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from distributed import Client

from backbone_dask.errors import ClusterError, InvalidSettingError, MissingExtraError
from backbone_dask.launch.config import seconds_of
from backbone_dask.launch.event_loop import EventLoop, event_loop
from backbone_dask.launch.kubernetes_spec import cluster_spec, require_sound

if TYPE_CHECKING:
    from backbone_dask.launch.clusters import Request

WORKERS = 2
SECONDS = 300.0
"""Until the scheduler and all workers are there: nodes may have to be added, and images pulled."""
SECONDS_TO_ANSWER, SECONDS_TO_ACT, SECONDS_TO_DELETE = 10.0, 60.0, 60.0
"""Of the API server, of the operator, and of both."""


@contextmanager
def launch(request: Request) -> Iterator[Client]:
    """A DaskCluster resource with one thread a worker; leaving the block deletes it."""
    require_sound(request)
    operator = _operator()
    count = request.workers or WORKERS
    spec = cluster_spec(request.options, count, operator)
    seconds = seconds_of(request.options) or SECONDS
    with event_loop() as loop:
        _require_api(loop)
        with (
            _cluster(loop, operator, spec, request.options, seconds) as cluster,
            Client(cluster.scheduler_address) as client,
        ):
            _wait_for_workers(client, cluster, count, seconds)
            yield client


def _operator() -> Any:
    try:
        from dask_kubernetes import operator
    except ImportError as cause:
        raise MissingExtraError("pods need dask-kubernetes: pip install 'backbone-dask[kubernetes]'") from cause
    return operator


def _require_api(loop: EventLoop) -> None:
    """Before anything is made: is there an API server, and does it answer?"""
    import httpx
    import kr8s
    import yaml

    async def answer() -> None:
        await kr8s.asyncio.api()

    try:
        loop.run(answer(), SECONDS_TO_ANSWER)
    except (ValueError, LookupError, TypeError, yaml.YAMLError) as cause:
        raise ClusterError(f"no Kubernetes cluster is configured in {_kubeconfig()} ({_words(cause)})") from cause
    except (OSError, TimeoutError, httpx.HTTPError, kr8s.APITimeoutError, kr8s.ServerError) as cause:
        raise ClusterError(
            f"the Kubernetes API server of {_kubeconfig()} does not answer ({_words(cause)}); try kubectl get pods"
        ) from cause


def _kubeconfig() -> str:
    return os.environ.get("KUBECONFIG") or str(Path("~/.kube/config").expanduser())


@contextmanager
def _cluster(
    loop: EventLoop, operator: Any, spec: dict[str, Any], options: Mapping[str, Any], seconds: float
) -> Iterator[Any]:
    cluster = loop.run(_unstarted(operator, spec, options, seconds))
    try:
        _start(loop, cluster, seconds)
        yield cluster
    finally:
        _delete(loop, cluster)


async def _unstarted(operator: Any, spec: dict[str, Any], options: Mapping[str, Any], seconds: float) -> Any:
    from dask_kubernetes.exceptions import ValidationError
    from dask_kubernetes.operator.kubecluster.kubecluster import CreateMode
    from tornado.ioloop import IOLoop

    # A name of the cluster's own network resolves in a pod alone; elsewhere it would be tried for 20 seconds.
    inside = "KUBERNETES_SERVICE_HOST" in os.environ
    try:
        return operator.KubeCluster(
            custom_cluster_spec=spec,
            namespace=options.get("namespace"),
            port_forward_cluster_ip=options.get("port_forward_cluster_ip", not inside),
            create_mode=CreateMode.CREATE_ONLY,
            shutdown_on_close=True,
            resource_timeout=min(seconds, SECONDS_TO_ACT),
            loop=IOLoop.current(),
            asynchronous=True,
            quiet=True,
        )
    except (ValidationError, KeyError) as cause:
        raise InvalidSettingError(
            "a kubernetes cluster needs a name of lower case letters, digits and '-', of at most 53 characters"
        ) from cause


def _start(loop: EventLoop, cluster: Any, seconds: float) -> None:
    import httpx
    import kr8s
    from dask_kubernetes.exceptions import SchedulerStartupError

    async def start() -> None:
        await cluster

    try:
        loop.run(start(), seconds)
    except ValueError as cause:
        # The resource of somebody else must outlive this block.
        cluster.shutdown_on_close = False
        raise ClusterError(f"the DaskCluster {cluster.name} is there already; give this one another name") from cause
    except kr8s.ServerError as cause:
        raise ClusterError(
            f"Kubernetes takes no DaskCluster in the namespace {cluster.namespace} ({_words(cause)}); "
            "is the Dask operator installed, and may you create one there?"
        ) from cause
    except (OSError, TimeoutError, SchedulerStartupError, httpx.HTTPError) as cause:
        raise ClusterError(
            f"the DaskCluster {cluster.name} has no scheduler after {seconds:g} seconds at most ({_words(cause)}); "
            "is the Dask operator running, and can the image be pulled? "
            f"Try kubectl --namespace {cluster.namespace} get pods"
        ) from cause


def _delete(loop: EventLoop, cluster: Any) -> None:
    # That a resource which was never made is not there is no news.
    logging.getLogger("dask_kubernetes").setLevel(logging.ERROR)

    async def close() -> None:
        await cluster.close(timeout=SECONDS_TO_DELETE)

    try:
        loop.run(close(), SECONDS_TO_DELETE)
    except Exception as cause:
        raise ClusterError(
            f"the DaskCluster {cluster.name} may still be there ({_words(cause)}); "
            f"end it with kubectl --namespace {cluster.namespace} delete daskcluster {cluster.name}"
        ) from cause


def _wait_for_workers(client: Client, cluster: Any, count: int, seconds: float) -> None:
    try:
        client.wait_for_workers(count, timeout=seconds)
    except TimeoutError as cause:
        there = len(client.scheduler_info(n_workers=-1)["workers"])
        raise ClusterError(
            f"the DaskCluster {cluster.name} has {there} workers after {seconds:g} seconds, {count} were asked for; "
            f"try kubectl --namespace {cluster.namespace} get pods"
        ) from cause


def _words(cause: BaseException) -> str:
    return " ".join(str(cause).split()) or type(cause).__name__
