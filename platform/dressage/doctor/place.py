"""The installation that is examined, and its requirements."""

import fcntl
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from dressage.config import ROOT, Config

GIB = 2**30


@dataclass(frozen=True)
class Place:
    """Everything that the checks look at. Tests simulate faults by replacing parts of it."""

    config: Config
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    root: Path = ROOT
    python: tuple[int, int] = sys.version_info[:2]
    clock: Callable[[], float] = time.time
    shared_memory: Path = Path("/dev/shm")  # nosec B108
    disk_bytes: int = 20 * GIB
    """Required size of the data folder's disk in bytes: checkpoints of a small policy need less than that."""
    free_share: float = 0.05
    """Share of the disk that must be free."""
    shared_bytes: int = GIB
    """Shared memory that Ray's object store needs."""
    descriptors: int = 4096
    """Number of files that a process must be allowed to open."""
    patience_s: float = 3.0
    """Time to wait for a response from the web server's port."""
    waiting: int = 200
    """Messages in a queue above which it seems to have no worker."""
    jail: tuple[str, ...] = (sys.executable, "-m", "worker.sandbox")
    computes: bool = find_spec("torch") is not None
    """Whether models compute here. The image of the web tier alone has no torch, and needs less."""
    ray_probe: tuple[str, ...] = ()
    """Program that joins the Ray cluster, replaceable in tests."""

    @property
    def is_up(self) -> bool:
        """Whether ``manage.py up`` is running in this folder: it holds a lock."""
        try:
            with (self.config.home / "up.lock").open("r") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    @property
    def has_database(self) -> bool:
        """Whether PostgreSQL should respond: the embedded one does so only while the installation is up."""
        return self.config.database_url is not None or self.is_up

    @property
    def has_redis(self) -> bool:
        """Whether Redis should respond."""
        return self.config.redis_url is not None or self.is_up
