"""Networks for the nodes of a cluster on one machine: links between namespaces, or addresses of the loopback."""

from __future__ import annotations

import os
import subprocess
from typing import Protocol

import psutil

from tests.support.installation import free_port
from tests.support.own_network import MARK

HEAD = "head"


class Network(Protocol):
    """What nodes are reached by."""

    port: int
    """Of the head's GCS."""

    def open(self) -> None: ...

    def close(self) -> None: ...

    def address(self, number: int) -> str:
        """Address of the head, which is number 1, or of a further node."""

    def wire(self, name: str, address: str) -> None:
        """Give a node its address."""

    def unwire(self, name: str) -> None:
        """Take it away. None of its processes is left."""

    def within(self, name: str) -> list[str]:
        """Beginning of a command that shall run on a node."""

    def options(self, number: int) -> list[str]:
        """What ``ray start`` must be told beside the address."""

    def holds(self, name: str, process: psutil.Process, mark: str) -> bool:
        """Whether a process is a node's. ``mark`` is what the node's processes have in their environment."""


class Links:
    """A network namespace for each node, linked to one bridge. Runs within ``own_network.alone``."""

    port = 6379

    def open(self) -> None:
        """Make the bridge, at which the head and the tests are."""
        _ip("link set lo up")
        subprocess.run(["mount", "-t", "tmpfs", "none", "/run"], check=True)
        _ip("link add nodes type bridge")
        _ip(f"addr add {self.address(1)}/24 dev nodes")
        _ip("link set nodes up")

    def close(self) -> None:
        """Take the bridge away."""
        _ip("link del nodes")

    def address(self, number: int) -> str:
        return f"10.77.0.{number}"

    def wire(self, name: str, address: str) -> None:
        _ip(f"netns add {name}")
        _ip(f"link add {_link(name)} type veth peer name eth0 netns {name}")
        _ip(f"link set {_link(name)} master nodes up")
        for command in ("link set lo up", f"addr add {address}/24 dev eth0", "link set eth0 up"):
            _ip(f"-n {name} {command}")

    def unwire(self, name: str) -> None:
        _ip(f"link del {_link(name)}")
        _ip(f"netns del {name}")

    def within(self, name: str) -> list[str]:
        return ["nsenter", f"--net=/run/netns/{name}"] if name != HEAD else []

    def options(self, number: int) -> list[str]:
        return []

    def holds(self, name: str, process: psutil.Process, mark: str) -> bool:
        if name == HEAD:
            return process.environ().get(MARK) == mark
        return os.stat(f"/proc/{process.pid}/ns/net").st_ino == os.stat(f"/run/netns/{name}").st_ino

    def set_link(self, name: str, state: str) -> None:
        """Set a node's link ``up`` or ``down``."""
        _ip(f"link set {_link(name)} {state}")

    def shape(self, name: str, discipline: str) -> None:
        """Have both ends of a node's link send by a queueing discipline, as ``tc`` names it: one way and the other."""
        _tc(f"qdisc add dev {_link(name)} root {discipline}")
        _tc(f"-n {name} qdisc add dev eth0 root {discipline}")

    def unshape(self, name: str) -> None:
        """Have them send as ever."""
        _tc(f"qdisc del dev {_link(name)} root")
        _tc(f"-n {name} qdisc del dev eth0 root")


class Loopback:
    """Addresses of this machine's loopback, which nobody else reaches: for machines that allow no namespaces."""

    def __init__(self) -> None:
        self.port = free_port()

    def open(self) -> None: ...

    def close(self) -> None: ...

    def address(self, number: int) -> str:
        return f"127.77.0.{number}"

    def wire(self, name: str, address: str) -> None: ...

    def unwire(self, name: str) -> None: ...

    def within(self, name: str) -> list[str]:
        return []

    def options(self, number: int) -> list[str]:
        first = 20_000 + 1_000 * number  # two nodes shall not try the same port at once
        return [
            "--dashboard-agent-listen-port=0",
            *(f"--min-worker-port={first}", f"--max-worker-port={first + 999}"),
        ]

    def holds(self, name: str, process: psutil.Process, mark: str) -> bool:
        return process.environ().get(MARK) == mark


def _link(name: str) -> str:
    return f"to-{name}"


def discipline_refusal(discipline: str) -> str | None:
    """Reason why no link here can be shaped by a queueing discipline, in one sentence; None where it can."""
    try:
        tried = subprocess.run(
            ["tc", "qdisc", "add", "dev", "lo", "root", *discipline.split()], capture_output=True, text=True
        )
    except FileNotFoundError:
        return "No link can be slowed: tc is not installed"
    if tried.returncode:
        told = (tried.stderr.strip().splitlines() or ["tc says nothing"])[-1].rstrip(".")
        return f"No link can be slowed by {discipline.split()[0]}: {told}"
    _tc("qdisc del dev lo root")
    return None


def _ip(command: str) -> None:
    subprocess.run(["ip", *command.split()], check=True)


def _tc(command: str) -> None:
    subprocess.run(["tc", *command.split()], check=True)
