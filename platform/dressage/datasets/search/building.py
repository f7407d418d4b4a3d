"""Builds indexes: one at a time per machine, in a separate process, started by the first search."""

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
"""Number of rows up to which a scan is fast enough."""
_AGAIN_AFTER_S = 600
"""Time after which an index that failed is tried again."""
_FAULT = 4_000
"""Maximum length of a stored fault, in characters. The end of the text is stored."""


class IndexState(TypedDict):
    """State of a version's index."""

    state: Literal["ready", "building", "failed", "not_needed"]
    """``not_needed``: the version is small enough to scan. ``failed``: the index could not be built; a search after ten
    minutes tries again."""
    percent: int
    """Percentage of the rows that are indexed."""


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
    """Ask a worker to build the index of a version. Does nothing if another worker is building it."""
    try:
        app.send_task(TASK, kwargs={"version_id": version.pk}, queue="platform", retry=False, expires=60)
    except (OperationalError, OSError) as error:
        logger.warning("message lost", task=TASK, dataset_version=version.pk, error=str(error))


def make(version: DatasetVersion) -> bool:
    """Build the index of a version. Returns whether it was built.

    Nothing is built if the index exists, if another index is being built, or if building failed now or recently.
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
        # The child process holds the lock as well, so it stays locked if this process is killed.
        ended = subprocess.run(command, check=False, env=environment, pass_fds=[lock.fileno()], capture_output=True)
        if not version.path.exists():
            index.discard(version.path)  # the version has been deleted in the meantime
            return False
        if ended.returncode:
            _keep_fault(version, ended)
            return False
        return True


def _keep_fault(version: DatasetVersion, ended: subprocess.CompletedProcess[bytes]) -> None:
    fault = ended.stderr.decode(errors="replace")[-_FAULT:]
    logger.error("index failed", dataset_version=version.pk, status=ended.returncode, error=fault)
    index.discard(version.path)  # first, because the disk may be full
    file = index.place(version.path, "failed")
    with suppress(OSError):  # only its modification time matters, and an empty file has one
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(fault)


def _failed_lately(version: DatasetVersion) -> bool:
    try:
        failed = index.place(version.path, "failed").stat().st_mtime
    except FileNotFoundError:
        return False
    return abs(time.time() - failed) < _AGAIN_AFTER_S
