"""A Ray cluster of several nodes on one machine, each in a network namespace of its own behind one bridge.

    bridge 10.77.0.1: the head, and the tests
       ├── veth ── 10.77.0.2: node "a"
       └── veth ── 10.77.0.3: node "b" …

Runs within ``own_network.alone``. The disk is shared. A node's processes are those in its network, the head's are known
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

MARK = "DRESSAGE_TESTS_NODE"
"""Variable that names the node of a process."""
HEAD = "head"
PORT = 6379
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
        self._made = 0
        self.head_address = "10.77.0.1"

    def __enter__(self) -> Self:
        _ip("link set lo up")
        subprocess.run(["mount", "-t", "tmpfs", "none", "/run"], check=True)
        _ip("link add nodes type bridge")
        _ip(f"addr add {self.head_address}/24 dev nodes")
        _ip("link set nodes up")
        options = ["--head", f"--port={PORT}", "--num-cpus=0", "--include-dashboard=false", "--disable-usage-stats"]
        self._nodes[HEAD] = self._start(HEAD, self.head_address, options)
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(self._nodes):
            self.kill(name)
        _ip("link del nodes")

    @contextmanager
    def connection(self) -> Iterator[None]:
        """This process connected to the cluster, as the one that starts runs is."""
        os.environ |= self.environment("driver") | {"RAY_ADDRESS": self.address}
        import ray  # reads its switches now

        wait_until(lambda: _listens(self.head_address, PORT), 60, lambda: self.log(HEAD))
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
        return f"{self.head_address}:{PORT}"

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
            MARK: name,
        }

    def add(self, name: str, cpus: float = 2, gpus: int = 0) -> Node:
        """Start a node; it has joined when ``alive`` counts it."""
        self._made += 1
        address = f"10.77.0.{self._made + 1}"
        self._wire(name, address)
        options = [f"--address={self.address}", f"--num-cpus={cpus}", f"--num-gpus={gpus}"]
        self._nodes[name] = self._start(name, address, options)
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
        network = os.stat(f"/run/netns/{name}").st_ino if name != HEAD else None
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                if network is None:
                    its_own = process.pid != os.getpid() and process.environ().get(MARK) == name
                else:
                    its_own = os.stat(f"/proc/{process.pid}/ns/net").st_ino == network
                if its_own:
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
            _ip(f"link del {_link(name)}")
            _ip(f"netns del {name}")

    def cut(self, name: str) -> None:
        """Take the node's link away. Its processes go on."""
        _ip(f"link set {_link(name)} down")

    def mend(self, name: str) -> None:
        """Give the link back."""
        _ip(f"link set {_link(name)} up")

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

    def _wire(self, name: str, address: str) -> None:
        _ip(f"netns add {name}")
        _ip(f"link add {_link(name)} type veth peer name eth0 netns {name}")
        _ip(f"link set {_link(name)} master nodes up")
        for command in ("link set lo up", f"addr add {address}/24 dev eth0", "link set eth0 up"):
            _ip(f"-n {name} {command}")

    def _start(self, name: str, address: str, options: list[str]) -> Node:
        within = ["nsenter", f"--net=/run/netns/{name}"] if name != HEAD else []
        command = [
            *within,
            *(str(Path(sys.executable).with_name("ray")), "start", "--block", f"--node-ip-address={address}"),
            *(f"--temp-dir={self._folder / name}", f"--object-store-memory={STORE_BYTES}"),
            *("--include-log-monitor=false", *options),
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


def _link(name: str) -> str:
    return f"to-{name}"


def _ip(command: str) -> None:
    subprocess.run(["ip", *command.split()], check=True)


def _listens(address: str, port: int) -> bool:
    with suppress(OSError), socket.create_connection((address, port), timeout=1):
        return True
    return False


def _signal(processes: list[psutil.Process], number: int) -> None:
    for process in processes:
        with suppress(psutil.Error):
            process.send_signal(number)
