"""Where a cluster on this machine listens: checked before it starts, since Dask moves on from a port that is taken."""

from __future__ import annotations

import socket
from dataclasses import dataclass

from backbone_dask.errors import ClusterError, InvalidSettingError

LOOPBACK, EVERYWHERE = "127.0.0.1", "0.0.0.0"


@dataclass(frozen=True, slots=True)
class Listening:
    """The host of scheduler, workers and nannies, and host and port of the dashboard; port 0 is any free one."""

    host: str
    dashboard_host: str
    dashboard_port: int

    @property
    def dashboard(self) -> str:
        return f"{self.dashboard_host}:{self.dashboard_port}"

    @property
    def hosts(self) -> set[str]:
        return {self.host, self.dashboard_host}


def listening(host: object, dashboard: object) -> Listening:
    """Read the options `host` and `dashboard`, which is HOST:PORT or a port of `host`."""
    if not isinstance(host, str) or not host or ":" in host or "/" in host:
        raise InvalidSettingError(f"host: {host!r} is no IPv4 address or name of this machine")
    # Dask would take a port alone for one of every network that the machine is in.
    name, _, port = str(dashboard).rpartition(":")
    if not port.isdecimal() or int(port) > 65535 or ":" in name:
        raise InvalidSettingError(f"dashboard: {dashboard!r} is no HOST:PORT and no port")
    place = Listening(host, name or host, int(port))
    require_free(place.host, 0)
    require_free(place.dashboard_host, place.dashboard_port)
    return place


def require_free(host: str, port: int) -> None:
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as cause:
        raise ClusterError(
            f"a cluster on this machine cannot listen on {host}, port {port or 'any'} ({cause.strerror}); "
            "choose another host or dashboard"
        ) from cause
