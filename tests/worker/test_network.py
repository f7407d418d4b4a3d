"""Where processes of several nodes meet, and which clusters are too open to be used."""

import socket
from typing import Any

import pytest
import ray

from worker.cluster import network
from worker.cluster.closed import check_closed
from worker.errors import ClusterError

OPEN = [{"Alive": True, "NodeManagerAddress": "10.1.2.3"}, {"Alive": True, "NodeManagerAddress": "127.0.0.1"}]
SETTINGS = (
    "NETWORK_IS_PRIVATE",
    "RAY_AUTH_MODE",
    "RAY_USE_TLS",
    "RENDEZVOUS_PORTS",
    "GATEWAY_HOST",
    "GATEWAY_PORTS",
    *network.INTERFACES,
)


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in SETTINGS:
        monkeypatch.delenv(variable, raising=False)


def test_an_interface_is_found_by_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    assert network.interface_of("127.0.0.1") == network.interface_of("127.77.0.2") == "lo"
    with pytest.raises(ClusterError, match=r"No network interface of .* has the address 192\.0\.2\.7.*GLOO_SOCKET_IFN"):
        network.interface_of("192.0.2.7")


def test_a_node_may_name_its_interfaces(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {"GLOO_SOCKET_IFNAME": "ib0"}
    monkeypatch.setattr(network.os, "environ", environment)
    network.use_interface("127.0.0.1")
    assert environment == {"GLOO_SOCKET_IFNAME": "ib0", "NCCL_SOCKET_IFNAME": "lo"}
    network.use_interface("192.0.2.7")  # which is nobody's, but nobody looks for it


def test_ranks_meet_at_a_free_port_of_those_that_are_set(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        monkeypatch.setenv("RENDEZVOUS_PORTS", f"{port}")
        with pytest.raises(ClusterError, match=rf"No port of RENDEZVOUS_PORTS={port} is free at 127\.0\.0\.1"):
            network.rendezvous("127.0.0.1")
    assert network.rendezvous("127.0.0.1") == f"tcp://127.0.0.1:{port}"
    monkeypatch.delenv("RENDEZVOUS_PORTS")
    host, _, chosen = network.rendezvous("127.0.0.1").rpartition(":")
    assert host == "tcp://127.0.0.1" and int(chosen) > 1023


def test_a_served_policy_listens_on_the_loopback_unless_the_operator_names_an_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def bound() -> tuple[str, str]:
        listener, address = network.bind_gateway()
        with listener:
            host, port = listener.getsockname()[:2]
        assert address.endswith(f":{port}")
        return host, address.removesuffix(f":{port}")

    assert bound() == ("127.0.0.1", "127.0.0.1")
    monkeypatch.setenv("GATEWAY_HOST", "127.0.0.2")
    assert bound() == ("127.0.0.2", "127.0.0.2")
    monkeypatch.setenv("GATEWAY_HOST", "0.0.0.0")
    monkeypatch.setattr(network, "node_address", lambda: "10.1.2.3")
    assert bound() == ("0.0.0.0", "10.1.2.3"), "clients see the address by which Ray knows the node"
    monkeypatch.setattr(network, "node_address", lambda: "fd00::7")
    assert bound() == ("0.0.0.0", "[fd00::7]")


def test_an_address_for_served_policies_that_cannot_be_used_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_HOST", "somewhere")
    with pytest.raises(ClusterError, match=r"GATEWAY_HOST='somewhere' is not an IP address"):
        network.bind_gateway()
    monkeypatch.setenv("GATEWAY_HOST", "192.0.2.7")
    with pytest.raises(ClusterError, match=r"^No port is free at 192\.0\.2\.7 \(GATEWAY_HOST\) for served policies\.$"):
        network.bind_gateway()
    monkeypatch.delenv("GATEWAY_HOST")
    monkeypatch.setenv("GATEWAY_PORTS", "80")
    with pytest.raises(ClusterError, match=r"GATEWAY_PORTS='80' names no ports"):
        network.bind_gateway()


@pytest.mark.parametrize("asked", ["a-b", "30000-20000", "80", "60000-70000", "-5"])
def test_ports_that_are_none_are_refused(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RENDEZVOUS_PORTS", asked)
    with pytest.raises(ClusterError, match=rf"RENDEZVOUS_PORTS='{asked}' names no ports"):
        network.rendezvous("127.0.0.1")


def test_an_open_cluster_on_a_network_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "nodes", lambda: OPEN)
    with pytest.raises(ClusterError, match=r"listens on 10\.1\.2\.3 without authentication.*RAY_AUTH_MODE=token"):
        check_closed()
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    monkeypatch.setenv("NETWORK_IS_PRIVATE", "false")
    with pytest.raises(ClusterError):
        check_closed()


@pytest.mark.parametrize(
    "setting", [("RAY_AUTH_MODE", "token"), ("RAY_USE_TLS", "1"), ("NETWORK_IS_PRIVATE", "true"), None]
)
def test_a_closed_or_private_cluster_is_not(setting: tuple[str, str] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes: list[dict[str, Any]] = OPEN if setting else [*OPEN[1:], {"Alive": False, "NodeManagerAddress": "10.1.2.4"}]
    monkeypatch.setattr(ray, "nodes", lambda: nodes)
    if setting:
        monkeypatch.setenv(*setting)
    check_closed()
