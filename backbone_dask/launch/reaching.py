"""Asking an address whether a scheduler is there and speaks as we do; Dask itself would wait without end."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from backbone_dask.errors import ClusterError, InvalidSettingError

SECONDS_OF_SILENCE = 2.0
PAUSE = 0.2


def require_scheduler(address: str, context: ssl.SSLContext | None, seconds: float) -> None:
    """Refuse an address where, within some seconds, no scheduler greets us; `context` holds certificates for tls://."""
    deadline = time.monotonic() + seconds
    with _connection(address, deadline) as connection:
        if context is None:
            _await_plain_greeting(connection, address, deadline)
        else:
            _await_encrypted_greeting(connection, address, context)


@contextmanager
def _connection(address: str, deadline: float) -> Iterator[socket.socket]:
    place = host_and_port(address)
    while True:
        try:
            connection = socket.create_connection(place, timeout=_left(deadline))
            break
        except OSError as cause:
            if time.monotonic() + PAUSE > deadline:
                raise ClusterError(
                    f"no scheduler answers at {address} ({innermost(cause)}); start one there, or mend the address"
                ) from cause
            time.sleep(PAUSE)
    with connection:
        connection.settimeout(_left(deadline))
        yield connection


def host_and_port(address: str) -> tuple[str, int]:
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or not port:
        raise InvalidSettingError(
            f"{address} is no address of a scheduler; write it as {address.partition(':')[0]}://HOST:PORT"
        )
    return host, port


def _left(deadline: float) -> float:
    return max(PAUSE, deadline - time.monotonic())


def _await_plain_greeting(connection: socket.socket, address: str, deadline: float) -> None:
    """A scheduler without encryption greets first; one with it waits to be greeted."""
    patience = min(SECONDS_OF_SILENCE, _left(deadline))
    if _greets(connection, patience):
        return
    if _is_encrypted(address, patience):
        raise ClusterError(f"the scheduler at {address} encrypts; write the address as tls://, with certificates")
    if not _greets(connection, _left(deadline)):
        raise ClusterError(f"what listens at {address} does not answer as a Dask scheduler; mend the address")


def _greets(connection: socket.socket, seconds: float) -> bool:
    connection.settimeout(seconds)
    try:
        return bool(connection.recv(1))
    except OSError:
        return False


def _is_encrypted(address: str, seconds: float) -> bool:
    stranger = ssl.create_default_context()
    stranger.check_hostname, stranger.verify_mode = False, ssl.CERT_NONE
    try:
        with socket.create_connection(host_and_port(address), timeout=seconds) as connection:
            stranger.wrap_socket(connection).close()
    except ssl.SSLError as cause:
        return _is_alert(cause)
    except OSError:
        return False
    return True


def _await_encrypted_greeting(connection: socket.socket, address: str, context: ssl.SSLContext) -> None:
    with _refusals_explained(address), context.wrap_socket(connection) as encrypted:
        # With TLS 1.3 a server looks at our certificate after the handshake: only its greeting says that it is content.
        if not encrypted.recv(1):
            raise ConnectionResetError


@contextmanager
def _refusals_explained(address: str) -> Iterator[None]:
    try:
        yield
    except ssl.SSLCertVerificationError as cause:
        raise ClusterError(
            f"the scheduler at {address} has a certificate that tls_ca_file did not sign ({cause.verify_message}); "
            "use the CA of that cluster"
        ) from cause
    except TimeoutError as cause:
        raise ClusterError(f"what listens at {address} does not answer; mend the address") from cause
    except OSError as cause:
        raise ClusterError(_refusal(cause, address)) from cause


def _refusal(cause: OSError, address: str) -> str:
    if isinstance(cause, ssl.SSLError) and not _is_alert(cause):
        return f"the scheduler at {address} does not encrypt; start it with certificates, or write tcp://"
    return f"the scheduler at {address} refuses our certificate; use a tls_client_cert that its CA has signed"


def _is_alert(cause: ssl.SSLError) -> bool:
    """Whether the other side spoke TLS, if only to refuse."""
    return "ALERT" in (cause.reason or "")


def innermost(cause: BaseException) -> str:
    """The words at the bottom of a chain of errors, on one line: libraries wrap what happened in words of their own."""
    while cause.__cause__ is not None:
        cause = cause.__cause__
    return " ".join(str(cause).split()) or type(cause).__name__
