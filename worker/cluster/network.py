"""Addresses, interfaces and ports: those by which the processes of a run connect, and those of served policies."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable
from ipaddress import ip_address

import psutil
import ray

from worker.errors import ClusterError

LOOPBACK = "127.0.0.1"
PORTS = "RENDEZVOUS_PORTS"
"""Variable with the port range, such as ``20000-20099``, for the rendezvous of learner ranks."""
GATEWAY_HOST = "GATEWAY_HOST"
"""Variable with the address that the HTTP servers of served policies listen on; ``0.0.0.0`` is every address."""
GATEWAY_PORTS = "GATEWAY_PORTS"
"""Variable with the port range of these servers."""
REACHED_S = 2.0
"""Seconds within which a node accepts a connection."""
INTERFACES = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")
"""Variables that set the network interface for collective operations."""


def node_address() -> str:
    """Address by which the cluster's other nodes know this one."""
    return str(ray.util.get_node_ip_address())


def node_answers(node_id: str) -> bool:
    """Whether a node of the cluster can be reached: its Ray process accepts a connection."""
    for node in ray.nodes():
        if node["NodeID"] == node_id and node["Alive"]:
            try:
                with socket.create_connection((node["NodeManagerAddress"], node["NodeManagerPort"]), REACHED_S):
                    return True
            except OSError:
                return False
    return False


def is_loopback(address: str) -> bool:
    """Whether an address reaches only this machine."""
    return ip_address(address).is_loopback


def interface_of(address: str) -> str:
    """Name of the interface that has an address. All of 127.0.0.0/8 belongs to the loopback interface.

    Raises:
        ClusterError: none has it.
    """
    sought = LOOPBACK if ":" not in address and is_loopback(address) else address
    for name, entries in psutil.net_if_addrs().items():
        # A link-local IPv6 address has its interface after a percent sign.
        if any(entry.address.partition("%")[0] == sought for entry in entries):
            return name
    raise ClusterError(
        f"No network interface of {socket.gethostname()} has the address {address} that Ray uses for this node. Name"
        f" the interface in {INTERFACES[0]} and {INTERFACES[1]}, or start Ray with another --node-ip-address."
    )


def use_interface(address: str) -> None:
    """Make collective operations of this process use the interface of an address, unless the environment sets one."""
    missing = [variable for variable in INTERFACES if variable not in os.environ]
    if missing:
        name = interface_of(address)
        os.environ.update(dict.fromkeys(missing, name))


def rendezvous(address: str) -> str:
    """Initialisation address for torch: a free port of an address of this machine.

    Raises:
        ClusterError: no port of ``RENDEZVOUS_PORTS`` is free, or it names none.
    """
    with _bind(address, PORTS, "for the rendezvous of the learner's ranks") as listener:
        return f"tcp://{_in_url(address)}:{listener.getsockname()[1]}"


def bind_gateway() -> tuple[socket.socket, str]:
    """A socket for the HTTP server of a served policy, and ``host:port`` as clients write it.

    It listens on ``GATEWAY_HOST``, which is the loopback address unless the operator names another, and on a port of
    ``GATEWAY_PORTS``.

    Raises:
        ClusterError: the host is no address of this machine, or no port is free.
    """
    host = os.environ.get(GATEWAY_HOST, "") or LOOPBACK
    try:
        everywhere = ip_address(host).is_unspecified
    except ValueError as error:
        raise ClusterError(f"{GATEWAY_HOST}={host!r} is not an IP address such as 0.0.0.0 or 10.0.0.7.") from error
    listener = _bind(host, GATEWAY_PORTS, f"({GATEWAY_HOST}) for served policies")
    name = node_address() if everywhere else host
    return listener, f"{_in_url(name)}:{listener.getsockname()[1]}"


def _bind(address: str, variable: str, what_for: str) -> socket.socket:
    """A socket at a free port of an address.

    Args:
        address: an address of this machine.
        variable: environment variable with the range of ports; the system chooses if it is not set.
        what_for: end of the message if no port is free.

    Raises:
        ClusterError: no port is free, or the variable names none.
    """
    asked = os.environ.get(variable, "")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    for port in _ports(variable, asked):
        listener = socket.socket(family)
        try:
            listener.bind((address, port))
            return listener
        except OSError:
            listener.close()
    raise ClusterError(f"No port{f' of {variable}={asked}' if asked else ''} is free at {address} {what_for}.")


def _in_url(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _ports(variable: str, asked: str) -> Iterable[int]:
    if not asked:
        return (0,)  # the system chooses
    first, _, last = asked.partition("-")
    try:
        ports = range(int(first), int(last or first) + 1)
    except ValueError:
        ports = range(0)
    if not ports or not 1024 <= ports[0] <= ports[-1] <= 65_535:
        raise ClusterError(f"{variable}={asked!r} names no ports. Write the first and the last, such as 20000-20099.")
    return ports
