"""A cluster that is running already, by the address of its scheduler."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from distributed import Client
from distributed.security import Security

from backbone_dask.errors import ClusterError, InvalidSettingError
from backbone_dask.launch.config import require_known, seconds_of
from backbone_dask.launch.reaching import host_and_port, innermost, require_scheduler

if TYPE_CHECKING:
    from backbone_dask.launch.clusters import Request

CERTIFICATES = ("tls_ca_file", "tls_client_cert", "tls_client_key")
SECONDS_FOR_SCHEDULER, SECONDS_FOR_WORKERS = 5.0, 60.0
# A scheduler that is restarted within this time is found again, and the work goes on.
SECONDS_FOR_RETURN = 600.0


@contextmanager
def launch(request: Request) -> Iterator[Client]:
    """A Client of the scheduler; leaving the block leaves the cluster running."""
    require_known(request.options, {*CERTIFICATES, "timeout"}, "running")
    host_and_port(request.kind)
    seconds = seconds_of(request.options)
    security = _security(request)
    context = security.get_connection_args("client")["ssl_context"] if security else None
    require_scheduler(request.kind, context, seconds or SECONDS_FOR_SCHEDULER)
    with _client(request.kind, security) as client:
        _wait_for_workers(client, request, seconds or SECONDS_FOR_WORKERS)
        yield client


def _client(address: str, security: Security | None) -> Client:
    try:
        return Client(address, security=security, timeout=SECONDS_FOR_RETURN)
    except OSError as cause:
        raise ClusterError(f"no scheduler answers at {address} ({innermost(cause)})") from cause


def _security(request: Request) -> Security | None:
    """Certificates of the configuration; without them those of Dask's own (distributed.comm.tls)."""
    given = {name: _readable(name, request.options[name]) for name in CERTIFICATES if name in request.options}
    if request.kind.startswith("tls://"):
        return _with_certificates(Security(require_encryption=True, **given), request.kind)
    if request.tls or given:
        raise InvalidSettingError(f"{request.kind} is not encrypted; a cluster with TLS has an address tls://HOST:PORT")
    return None


def _with_certificates(security: Security, address: str) -> Security:
    if not security.tls_ca_file or not security.tls_client_cert:
        raise InvalidSettingError(
            f"{address} needs certificates: give {', '.join(CERTIFICATES)} in a configuration of the cluster, "
            "or distributed.comm.tls in Dask's own"
        )
    try:
        security.get_connection_args("client")
    except OSError as cause:
        files = f"{security.tls_ca_file}, {security.tls_client_cert} and {security.tls_client_key}"
        raise InvalidSettingError(
            f"the certificates for {address} cannot be used ({innermost(cause)}): {files} must be PEM files, "
            "and the key that of the certificate"
        ) from cause
    return security


def _readable(name: str, file: object) -> str:
    path = os.path.expanduser(str(file))
    try:
        with open(path, "rb"):
            return path
    except OSError as cause:
        raise InvalidSettingError(f"{name}: {file} cannot be read ({cause.strerror})") from cause


def _wait_for_workers(client: Client, request: Request, seconds: float) -> None:
    count = request.workers or 1
    try:
        client.wait_for_workers(count, timeout=seconds)
    except TimeoutError as cause:
        there = len(client.scheduler_info(n_workers=-1)["workers"])
        raise ClusterError(
            f"{request.kind} has {there} of the {count} workers asked for; start more, or ask for fewer (--workers)"
        ) from cause
