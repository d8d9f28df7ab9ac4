"""What a local cluster listens on: nothing that another machine could reach, unless it was told to."""

from __future__ import annotations

import socket

import pytest
from dask_processes import free_port, listening

from backbone_dask import cluster
from backbone_dask.errors import ClusterError, InvalidSettingError


def test_everything_listens_on_loopback():
    with cluster(workers=2) as client:
        found = listening()
        # Scheduler, dashboard, two nannies, two workers with a web server each.
        assert len(found) == 8
        assert {host for host, _ in found} == {"127.0.0.1"}
        assert client.dashboard_link.startswith("http://127.0.0.1:")


def test_a_host_and_a_dashboard_of_ones_own():
    port = free_port()
    with cluster(workers=1, config={"host": "127.0.0.2", "dashboard": f"127.0.0.3:{port}"}) as client:
        found = listening()
        assert ("127.0.0.3", port) in found
        assert {host for host, _ in found} == {"127.0.0.2", "127.0.0.3"}
        assert client.dashboard_link == f"http://127.0.0.3:{port}/status"
        assert client.submit(sum, [1, 2]).result() == 3


def test_every_network_if_asked_for(tmp_path):
    port = free_port()
    config = tmp_path / "local.yaml"
    config.write_text(f"host: 0.0.0.0\ndashboard: {port}\n")
    with cluster(workers=1, config=config) as client:
        found = listening()
        assert {host for host, _ in found} == {"0.0.0.0"}
        assert ("0.0.0.0", port) in found
        assert client.submit(sum, [1, 2]).result() == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"hots": "0.0.0.0"}, "a local cluster has no option 'hots'; known are: dashboard, host"),
        ({"host": "tcp://127.0.0.1"}, "host: 'tcp://127.0.0.1' is no IPv4 address or name"),
        ({"host": 7}, "host: 7 is no IPv4 address or name"),
        ({"host": ""}, "host: '' is no IPv4 address or name"),
        ({"dashboard": "here"}, "dashboard: 'here' is no HOST:PORT and no port"),
        ({"dashboard": 65536}, "dashboard: 65536 is no HOST:PORT and no port"),
        ({"dashboard": True}, "dashboard: True is no HOST:PORT and no port"),
        ({"dashboard": "::1:8787"}, "dashboard: '::1:8787' is no HOST:PORT and no port"),
    ],
)
def test_options_that_cannot_be_meant(options, words):
    with pytest.raises(InvalidSettingError, match=words), cluster(workers=1, config=options):
        pass


@pytest.mark.parametrize("options", [{"host": "203.0.113.7"}, {"dashboard": "203.0.113.7:0"}])
def test_an_address_that_this_machine_does_not_have(options):
    words = r"cannot listen on 203\.0\.113\.7, port any \(Cannot assign requested address\)"
    with pytest.raises(ClusterError, match=words), cluster(workers=1, config=options):
        pass
    assert listening() == set()


def test_a_dashboard_where_something_else_listens():
    """Dask would take another port, and say so in a warning."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(ClusterError, match=f"port {port} .Address already in use"),
            cluster(workers=1, config={"dashboard": port}),
        ):
            pass
