"""A cluster that is running already, by the address of its scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from distributed import Client
from distributed.security import Security

from backbone_dask.errors import ClusterError, InvalidSettingError
from backbone_dask.launch.config import require_known

if TYPE_CHECKING:
    from backbone_dask.launch.clusters import Request

CERTIFICATES = {"tls_ca_file", "tls_client_cert", "tls_client_key"}
SECONDS = 30.0


@contextmanager
def launch(request: Request) -> Iterator[Client]:
    """A Client of the scheduler; leaving the block leaves the cluster running."""
    require_known(request.options, CERTIFICATES | {"timeout"}, "running")
    if request.tls and not request.kind.startswith("tls://"):
        raise InvalidSettingError(f"{request.kind} is not encrypted; a cluster with TLS has an address tls://host:port")
    seconds = float(request.options.get("timeout", SECONDS))
    try:
        client = Client(request.kind, security=_security(request), timeout=seconds)
    except OSError as cause:
        raise ClusterError(f"no scheduler answers at {request.kind} ({_reason(cause)})") from cause
    with client:
        _wait_for_workers(client, request, seconds)
        yield client


def _security(request: Request) -> Security | None:
    """Certificates of the configuration; without them those of Dask's own (distributed.comm.tls)."""
    given: dict[str, Any] = {name: request.options[name] for name in CERTIFICATES & set(request.options)}
    if not request.kind.startswith("tls://"):
        return None
    return Security(require_encryption=True, **given)


def _wait_for_workers(client: Client, request: Request, seconds: float) -> None:
    count = request.workers or 1
    try:
        client.wait_for_workers(count, timeout=seconds)
    except TimeoutError as cause:
        there = len(client.scheduler_info(n_workers=-1)["workers"])
        raise ClusterError(
            f"{request.kind} has {there} workers, {count} were asked for; start workers, or ask for fewer"
        ) from cause


def _reason(cause: BaseException) -> str:
    """The innermost words: Dask wraps what the network said in words of its own."""
    while cause.__cause__ is not None:
        cause = cause.__cause__
    return " ".join(str(cause).split()) or type(cause).__name__
