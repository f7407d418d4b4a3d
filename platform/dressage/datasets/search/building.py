"""Making of indexes: one at a time on a machine, in a process of its own, asked for by the first search."""

import fcntl
import os
import subprocess
import sys
import time
from contextlib import suppress
from typing import Literal

import structlog
from django.conf import settings
from kombu.exceptions import OperationalError
from typing_extensions import TypedDict

from dressage.celery import app
from dressage.datasets.models import DatasetVersion
from dressage.datasets.search import index

logger = structlog.get_logger(__name__)
TASK = "datasets.make_index"
WITHOUT_INDEX = 20_000
"""Rows up to which a look at each of them is quick enough."""
_AGAIN_AFTER_S = 600
"""Time after which an index that failed is tried again."""
_FAULT = 4_000
"""Signs of a fault that are kept, the last ones."""


class IndexState(TypedDict):
    """How far a version's index is."""

    state: Literal["ready", "building", "failed", "not_needed"]
    """``not_needed``: the version is small enough to look at each of its rows. ``failed``: it could not be made, and a
    search after ten minutes begins it again."""
    percent: int
    """Part of the rows that are in it."""


def state(version: DatasetVersion) -> IndexState:
    """The state of a version's index."""
    if version.rows <= WITHOUT_INDEX:
        return {"state": "not_needed", "percent": 100}
    if index.place(version.path).exists():
        return {"state": "ready", "percent": 100}
    if _failed_lately(version):
        return {"state": "failed", "percent": 0}
    try:
        done = int(index.place(version.path, "done").read_text())
    except (FileNotFoundError, ValueError):
        done = 0
    return {"state": "building", "percent": min(99, 100 * done // version.rows)}


def ask(version: DatasetVersion) -> None:
    """Ask a worker to make the index of a version. Where another is at it, it does nothing."""
    try:
        app.send_task(TASK, kwargs={"version_id": version.pk}, queue="platform", retry=False, expires=60)
    except (OperationalError, OSError) as error:
        logger.warning("message lost", task=TASK, dataset_version=version.pk, error=str(error))


def make(version: DatasetVersion) -> bool:
    """Make the index of a version. Says whether it was made.

    It is not where it is there, where another one is being made, and where it failed, now or shortly before.
    """
    settings.DATASET_ROOT.mkdir(parents=True, exist_ok=True)
    with (settings.DATASET_ROOT / "index.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        if index.place(version.path).exists() or not version.path.exists() or _failed_lately(version):
            return False
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        command = [sys.executable, "-m", index.__name__, str(version.path)]
        # The process has the lock as well: it stays taken where this one is killed.
        ended = subprocess.run(command, check=False, env=environment, pass_fds=[lock.fileno()], capture_output=True)
        if not version.path.exists():
            index.discard(version.path)  # the version was deleted meanwhile
            return False
        if ended.returncode:
            _keep_fault(version, ended)
            return False
        return True


def _keep_fault(version: DatasetVersion, ended: subprocess.CompletedProcess[bytes]) -> None:
    fault = ended.stderr.decode(errors="replace")[-_FAULT:]
    logger.error("index failed", dataset_version=version.pk, status=ended.returncode, error=fault)
    index.discard(version.path)  # first: the disk may be full
    file = index.place(version.path, "failed")
    with suppress(OSError):  # its time is what counts, and an empty file has one
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(fault)


def _failed_lately(version: DatasetVersion) -> bool:
    try:
        failed = index.place(version.path, "failed").stat().st_mtime
    except FileNotFoundError:
        return False
    return abs(time.time() - failed) < _AGAIN_AFTER_S
