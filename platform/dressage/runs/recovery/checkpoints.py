"""Checkpoints: which one to continue from, copies for child runs, and users' requests for one."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from dressage.common.api.problems import conflict
from dressage.runs.facts.selectors import line_of
from dressage.runs.models import Checkpoint, Run

MANIFEST = "manifest.json"


def good_checkpoints(run: Run, before_step: int | None = None) -> Iterator[Checkpoint]:
    """Checkpoints on the run's surviving line whose files exist, newest first.

    Args:
        run: the run that wrote them.
        before_step: only checkpoints of earlier steps.
    """
    line = line_of(run)
    rows = run.checkpoints.select_related("run").order_by("-step", "-attempt")
    for checkpoint in rows:
        if before_step is not None and checkpoint.step >= before_step:
            continue
        if line.has(checkpoint.attempt, checkpoint.step) and is_whole(checkpoint.folder, checkpoint.manifest_sha256):
            yield checkpoint


def is_whole(folder: Path, manifest_sha256: str) -> bool:
    """Whether the folder holds the announced manifest. The worker checks every file before loading it."""
    try:
        return hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest() == manifest_sha256
    except OSError:
        return False


def copy_as_origin(checkpoint: Checkpoint, child: Run) -> None:
    """Give ``child`` its own copy, which the parent's worker cannot delete. Uses hard links if the disk allows it.

    Raises:
        Problem: 409 if the checkpoint's files are gone.
    """
    target = child.origin_path
    partial = target.with_name("origin.partial")
    shutil.rmtree(partial, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        shutil.copytree(checkpoint.folder, partial, copy_function=_link)
        if not is_whole(partial, checkpoint.manifest_sha256):
            raise FileNotFoundError(partial / MANIFEST)
    except (OSError, shutil.Error) as error:
        shutil.rmtree(target.parent, ignore_errors=True)
        detail = f"The checkpoint of step {checkpoint.step} is no longer on the disk."
        raise conflict(detail, code="checkpoint_gone") from error
    os.rename(partial, target)


def _link(source: str, target: str) -> str:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)
    return target
