"""Certificates that are made for one cluster and are gone with it."""

from __future__ import annotations

import ipaddress
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import dask
from distributed.security import Security
from distributed.utils import get_ip

from backbone_dask.errors import MissingExtraError
from backbone_dask.launch.listening import EVERYWHERE

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

DAY = timedelta(days=1)
HTTP = "distributed.scheduler.dashboard.tls"


@contextmanager
def temporary_tls(hosts: set[str]) -> Iterator[Security]:
    """Security of a cluster that listens on `hosts`; in the block, Dask serves its web pages over https.

    The key of the connections stays in memory. Dask takes that of web pages from a file, which is therefore another
    one: who reads it could pretend to be the dashboard, but not join the cluster.
    """
    security = _security()
    with tempfile.TemporaryDirectory(prefix="backbone-dask-tls-") as folder:
        certificate, key = Path(folder, "dashboard.pem"), Path(folder, "dashboard.key")
        certificate_bytes, key_bytes = _signed_by_itself(hosts)
        _write_private(certificate, certificate_bytes)
        _write_private(key, key_bytes)
        # The workers' own web servers read the same settings, those of workers that are restarted too.
        with dask.config.set({f"{HTTP}.cert": str(certificate), f"{HTTP}.key": str(key)}):
            yield security


def _security() -> Security:
    try:
        return Security.temporary()
    except ImportError as cause:
        raise MissingExtraError("encryption needs cryptography: pip install 'backbone-dask[tls]'") from cause


def _write_private(path: Path, content: bytes) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)


def _signed_by_itself(hosts: set[str]) -> tuple[bytes, bytes]:
    """A certificate and its key, in PEM, for this machine under all names that its pages are asked for by."""
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = ec.generate_private_key(ec.SECP256R1())
    certificate = _certificate(key, hosts)
    return (
        certificate.public_bytes(Encoding.PEM),
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    )


def _certificate(key: EllipticCurvePrivateKey, hosts: set[str]) -> x509.Certificate:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.x509.oid import NameOID

    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "backbone-dask dashboard")])
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - DAY)
        .not_valid_after(now + 365 * DAY)
        .add_extension(x509.SubjectAlternativeName(_names(hosts)), critical=False)
        .sign(key, hashes.SHA256())
    )


def _names(hosts: set[str]) -> list[x509.GeneralName]:
    from cryptography import x509

    names: list[x509.GeneralName] = []
    reached = {get_ip()} if EVERYWHERE in hosts else set()
    for one in sorted({"localhost", "127.0.0.1", socket.gethostname()} | hosts | reached):
        try:
            names.append(x509.IPAddress(ipaddress.ip_address(one)))
        except ValueError:
            names.append(x509.DNSName(one))
    return names
