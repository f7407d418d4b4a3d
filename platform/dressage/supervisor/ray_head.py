"""The local Ray head. It listens only on the loopback address and requires a token: others may use this machine."""

import os
import secrets
import shutil
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

from dressage.embedded.sockets import socket_dir


@dataclass(frozen=True)
class RayHead:
    """A single-node Ray cluster that belongs to this installation."""

    home: Path
    port: int

    @classmethod
    def prepare(cls, home: Path) -> "RayHead":
        """Choose a free port, create the token, and remove what a killed head has left."""
        token = home / "ray-token"
        if not token.exists():
            token.touch(mode=0o600)
            token.write_text(secrets.token_hex(32))
        head = cls(home=home, port=_free_port())
        for left in (head._temp, socket_dir(home, "ray")):  # the latter from earlier releases
            shutil.rmtree(left, ignore_errors=True)
        return head

    @property
    def _temp(self) -> Path:
        # Ray opens its folder to everyone, so it is inside another, closed one. Names are as short as possible.
        return socket_dir(self.home, "r") / "t"

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def env(self) -> dict[str, str]:
        """Environment of the head and of everything that connects to it."""
        return {
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(self.home / "ray-token"),
            # Ray takes 127.0.0.1 for the machine's own address, and listens on all addresses, unless it is told that no
            # other machine can join. (The variable is named after the systems on which that is the default.)
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_DISABLE_IMPORT_WARNING": "1",
            "RAY_DEDUP_LOGS": "0",
            # A run in training never drains: it resumes from its checkpoint at the next start.
            "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S": "0",
            # By default Ray lowers the priority of its workers, and other work starves a run. Training is the purpose
            # of this machine: workers keep the priority that Ray was started with.
            "RAY_worker_niceness": os.environ.get("RAY_worker_niceness", "0"),  # noqa: SIM112
            # Actors may wait long for memory-hungry engines; the run's own monitoring decides, not Ray's memory
            # monitor.
            "RAY_memory_monitor_refresh_ms": "0",
        }

    @property
    def command(self) -> list[str]:
        cpus = max(2, os.cpu_count() or 2)
        return [
            *(str(Path(sys.executable).with_name("ray")), "start", "--head", "--block"),
            *("--node-ip-address=127.0.0.1", f"--port={self.port}", f"--num-cpus={cpus}"),
            *("--include-dashboard=false", "--disable-usage-stats", f"--temp-dir={self._temp}"),
            # It would serve metrics to anyone on this machine, and there are no nodes to add.
            "--no-monitor",
        ]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
