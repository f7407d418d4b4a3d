"""Addresses, interfaces and ports that the processes of a run use to connect to each other."""

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
INTERFACES = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")
"""Variables that set the network interface for collective operations."""


def node_address() -> str:
    """Address by which the cluster's other nodes know this one."""
    return str(ray.util.get_node_ip_address())


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
        f"No network interface of {socket.gethostname()} has the address {address}, by which Ray knows this node. "
        f"Name the interface in {INTERFACES[0]} and {INTERFACES[1]}, or start Ray with another --node-ip-address."
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
    asked = os.environ.get(PORTS, "")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    for port in _ports(asked):
        with socket.socket(family) as listener:
            try:
                listener.bind((address, port))
            except OSError:
                continue
            host = f"[{address}]" if family == socket.AF_INET6 else address
            return f"tcp://{host}:{listener.getsockname()[1]}"
    raise ClusterError(f"No port of {PORTS}={asked} is free at {address}, where the learner's ranks shall meet.")


def _ports(asked: str) -> Iterable[int]:
    if not asked:
        return (0,)  # the system chooses
    first, _, last = asked.partition("-")
    try:
        ports = range(int(first), int(last or first) + 1)
    except ValueError:
        ports = range(0)
    if not ports or not 1024 <= ports[0] <= ports[-1] <= 65_535:
        raise ClusterError(f"{PORTS}={asked!r} names no ports. Write the first and the last, such as 20000-20099.")
    return ports
