"""A Ray cluster of several nodes on one machine, each in a network namespace of its own behind one bridge, or at an
address of the loopback where namespaces are not allowed.

    bridge 10.77.0.1: the head, and the tests
       ├── veth ── 10.77.0.2: node "a"
       └── veth ── 10.77.0.3: node "b" …

The disk is shared. A node's processes are those in its network; the head's, and all of them on the loopback, are known
by a variable of their environment.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psutil

from tests.support.installation import ROOT, end_with_parent, wait_until
from tests.support.node_networks import HEAD, Links, Loopback, Network
from tests.support.own_network import INSIDE, LOOPBACK, MARK

STORE_BYTES = 128 << 20
NOTICED = {
    "RAY_health_check_initial_delay_ms": "2000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "4000",
    "RAY_health_check_failure_threshold": "4",
}
"""A node that is killed counts as dead after 4 seconds and one that is cut off after 20, not after 15 and 65."""


@dataclass
class Node:
    """One node of the cluster."""

    name: str
    address: str
    process: subprocess.Popen[bytes]


class Nodes:
    """The cluster. Use as a context manager."""

    def __init__(self, folder: Path, **environment: str) -> None:
        """``environment`` is every node's, beside what this process has."""
        self._folder, self._environment = folder, environment
        self._nodes: dict[str, Node] = {}
        self._made = 1
        self._network: Network = Loopback() if os.environ[INSIDE] == LOOPBACK else Links()
        self.head_address = self._network.address(1)

    def __enter__(self) -> Self:
        self._network.open()
        options = ["--head", f"--port={self._network.port}", "--num-cpus=0", "--include-dashboard=false"]
        self._nodes[HEAD] = self._start(HEAD, 1, [*options, "--disable-usage-stats"])
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(self._nodes):
            self.kill(name)
        self._network.close()

    @contextmanager
    def connection(self) -> Iterator[None]:
        """This process connected to the cluster, as the one that starts runs is."""
        os.environ |= self.environment("driver") | {"RAY_ADDRESS": self.address}
        import ray  # reads its switches now

        wait_until(lambda: _listens(self.head_address, self._network.port), 60, lambda: self.log(HEAD))
        ray.init(self.address, namespace="dressage", log_to_driver=False, configure_logging=False)
        try:
            yield
        finally:
            ray.shutdown()

    @property
    def names(self) -> list[str]:
        """Names of the nodes that were not killed."""
        return list(self._nodes)

    @property
    def address(self) -> str:
        """Address of the cluster."""
        return f"{self.head_address}:{self._network.port}"

    def environment(self, name: str) -> dict[str, str]:
        """Environment of a node's processes."""
        return {
            **os.environ,
            **NOTICED,
            "PYTHONPATH": str(ROOT),
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "1",
            "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
            "RAY_worker_niceness": "0",
            "RAY_memory_monitor_refresh_ms": "0",
            "RAY_DISABLE_IMPORT_WARNING": "1",
            **self._environment,
            MARK: self._mark(name),
        }

    def add(self, name: str, cpus: float = 2, gpus: int = 0) -> Node:
        """Start a node; it has joined when ``alive`` counts it."""
        self._made += 1
        self._network.wire(name, self._network.address(self._made))
        options = [f"--address={self.address}", f"--num-cpus={cpus}", f"--num-gpus={gpus}"]
        self._nodes[name] = self._start(name, self._made, options)
        return self._nodes[name]

    def alive(self) -> dict[str, str]:
        """Addresses of the nodes that Ray counts on but the head, with their ids. Needs a connection."""
        import ray

        return {
            node["NodeManagerAddress"]: node["NodeID"]
            for node in ray.nodes()
            if node["Alive"] and "node:__internal_head__" not in node["Resources"]
        }

    def until_alive(self, count: int, seconds: float = 60.0) -> None:
        """Wait until Ray counts on so many nodes beside the head."""
        wait_until(lambda: len(self.alive()) == count, seconds, lambda: f"alive: {self.alive()}")

    def processes(self, name: str) -> list[psutil.Process]:
        """Processes of a node."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                if process.pid != os.getpid() and self._network.holds(name, process, self._mark(name)):
                    found.append(process)
        return found

    def kill(self, name: str) -> None:
        """Kill all of a node's processes, as when its power fails."""
        node = self._nodes.pop(name)
        while doomed := self.processes(name):
            for process in doomed:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            psutil.wait_procs(doomed, timeout=10)
        node.process.wait(10)
        if name != HEAD:
            self._network.unwire(name)

    def cut(self, name: str) -> None:
        """Take the node's link away, where it has one. Its processes go on."""
        self._links.set_link(name, "down")

    def mend(self, name: str) -> None:
        """Give the link back."""
        self._links.set_link(name, "up")

    @contextmanager
    def shaped(self, name: str, discipline: str) -> Iterator[None]:
        """Have the node's link, where it has one, delay or limit what passes; its processes run at their speed."""
        self._links.shape(name, discipline)
        try:
            yield
        finally:
            self._links.unshape(name)

    @contextmanager
    def slowed(self, name: str, share: float, period_s: float = 0.5) -> Iterator[None]:
        """Let the node's processes run for a share of the time only."""
        ended = threading.Event()

        def take_turns() -> None:
            while not ended.is_set():
                processes = self.processes(name)
                _signal(processes, signal.SIGSTOP)
                ended.wait(period_s * (1 - share))
                _signal(processes, signal.SIGCONT)
                ended.wait(period_s * share)

        thread = threading.Thread(target=take_turns)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def log(self, name: str) -> str:
        """What a node's start has said."""
        return (self._folder / f"{name}.log").read_text()[-3000:]

    @property
    def _links(self) -> Links:
        assert isinstance(self._network, Links), "a node on the loopback has no link"
        return self._network

    def _mark(self, name: str) -> str:
        return f"{self._folder}/{name}"

    def _start(self, name: str, number: int, options: list[str]) -> Node:
        address = self._network.address(number)
        command = [
            *self._network.within(name),
            *(str(Path(sys.executable).with_name("ray")), "start", "--block", f"--node-ip-address={address}"),
            *(f"--temp-dir={self._folder / name}", f"--object-store-memory={STORE_BYTES}"),
            *("--include-log-monitor=false", *self._network.options(number), *options),
        ]
        with (self._folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                command,
                env=self.environment(name),
                cwd=ROOT,
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=end_with_parent,
            )
        return Node(name, address, process)


def _listens(address: str, port: int) -> bool:
    with suppress(OSError), socket.create_connection((address, port), timeout=1):
        return True
    return False


def _signal(processes: list[psutil.Process], number: int) -> None:
    for process in processes:
        with suppress(psutil.Error):
            process.send_signal(number)
