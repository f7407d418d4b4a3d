"""Trace files on disk: in the run's folder, named by step, attempt and number."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from django.conf import settings

from dressage.embedded.private_files import sync_folder
from dressage.telemetry.models import TraceFile


def folder(run_id: str) -> Path:
    """Folder of a run's trace files."""
    return Path(settings.RUN_ROOT) / run_id / "traces"


def path_of(file: TraceFile) -> Path:
    """Path of a file, which does not exist if it was pruned in the meantime."""
    return folder(file.run_id) / f"step-{file.step:06d}-a{file.attempt}-{file.number}.parquet"


def write(file: TraceFile, data: bytes) -> None:
    """Write a file under its name: whole, or not at all. An existing file was never indexed and is replaced."""
    path = path_of(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix="upload-", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as sink:
            sink.write(data)
            sink.flush()
            os.fsync(sink.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def remove(paths: Iterable[Path]) -> None:
    """Delete files; missing ones count as deleted."""
    for path in paths:
        path.unlink(missing_ok=True)
