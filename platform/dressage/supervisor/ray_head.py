"""The local Ray head. It listens on the loopback alone, and asks for a token, because others may use this machine."""

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
        """Choose a free port, make the token, and clear what a killed head has left."""
        token = home / "ray-token"
        if not token.exists():
            token.touch(mode=0o600)
            token.write_text(secrets.token_hex(32))
        head = cls(home=home, port=_free_port())
        for left in (head._temp, socket_dir(home, "ray")):  # the latter of releases before
            shutil.rmtree(left, ignore_errors=True)
        return head

    @property
    def _temp(self) -> Path:
        # Ray opens its folder to everybody: another one, which is closed, lies around it. Names are as short as can be.
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
            # Ray takes 127.0.0.1 for the machine's own address, and listens on all of them, unless it is told that no
            # other machine can join. (The name is of the systems on which that is the default.)
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_DISABLE_IMPORT_WARNING": "1",
            "RAY_DEDUP_LOGS": "0",
            # A run in training never drains: it is resumed from its checkpoint at the next start.
            "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S": "0",
            # Left to itself Ray takes priority from its workers, and a run starves beside any other work. Training is
            # what this machine is there for: workers keep the priority that Ray was started with.
            "RAY_worker_niceness": os.environ.get("RAY_worker_niceness", "0"),  # noqa: SIM112
            # Actors may wait long for memory-hungry engines; the run's own watch decides, not Ray's memory monitor.
            "RAY_memory_monitor_refresh_ms": "0",
        }

    @property
    def command(self) -> list[str]:
        cpus = max(2, os.cpu_count() or 2)
        return [
            *(str(Path(sys.executable).with_name("ray")), "start", "--head", "--block"),
            *("--node-ip-address=127.0.0.1", f"--port={self.port}", f"--num-cpus={cpus}"),
            *("--include-dashboard=false", "--disable-usage-stats", f"--temp-dir={self._temp}"),
        ]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
