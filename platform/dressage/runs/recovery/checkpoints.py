"""Checkpoints: which one to continue from, copies for child runs, and users' requests for one."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from dressage.common.api.problems import conflict
from dressage.runs.facts.selectors import line_of
from dressage.runs.life.damage import damaged, is_whole, store_damage, visible_damage
from dressage.runs.models import Checkpoint, Run


def good_checkpoints(run: Run, before_step: int | None = None) -> Iterator[Checkpoint]:
    """Checkpoints on the run's surviving line whose files exist and show no damage, newest first.

    Those with a wrong manifest, or files of other names or sizes, are marked as damaged on the way. The worker hashes
    every file before it loads it, and reports what it finds.

    Args:
        run: the run that wrote them.
        before_step: only checkpoints of earlier steps.
    """
    for checkpoint in _on_the_line(run):
        if before_step is not None and checkpoint.step >= before_step:
            continue
        if checkpoint.damage or not checkpoint.folder.is_dir():
            continue
        try:
            fault = visible_damage(checkpoint.folder, checkpoint.manifest_sha256)
        except OSError:
            continue
        if fault is None:
            yield checkpoint
        else:
            store_damage(checkpoint, fault)


def newest_whole(run: Run, before_step: int | None = None) -> Checkpoint | None:
    """The newest checkpoint whose files are all as they were written. Reads them, the first time.

    Args:
        run: the run that wrote them. Its row should not be locked before the files have been read once.
        before_step: only checkpoints of earlier steps.

    Raises:
        Problem: 409 with the name of a file if only damaged ones are left.
    """
    for checkpoint in good_checkpoints(run, before_step):
        if _can_be_read_and_is_whole(checkpoint):
            return checkpoint
    for checkpoint in _on_the_line(run):
        if checkpoint.damage and (before_step is None or checkpoint.step < before_step):
            raise damaged(checkpoint)
    return None


def passed_over(run: Run, resume_step: int) -> list[Checkpoint]:
    """Checkpoints after ``resume_step`` that should have been continued from, newest first: damaged, or gone."""
    return [checkpoint for checkpoint in _on_the_line(run) if checkpoint.step > resume_step]


def damaged_ones(run: Run) -> list[Checkpoint]:
    """Damaged checkpoints on the run's surviving line, newest first."""
    return [checkpoint for checkpoint in _on_the_line(run) if checkpoint.damage]


def forget_damage(run: Run) -> None:
    """Take the marks from the checkpoints on the run's surviving line, so that they are verified again."""
    for checkpoint in damaged_ones(run):
        store_damage(checkpoint, "")


def _on_the_line(run: Run) -> Iterator[Checkpoint]:
    line = line_of(run)
    rows = run.checkpoints.select_related("run").order_by("-step", "-attempt")
    return (checkpoint for checkpoint in rows if line.has(checkpoint.attempt, checkpoint.step))


def _can_be_read_and_is_whole(checkpoint: Checkpoint) -> bool:
    try:
        return is_whole(checkpoint)
    except OSError:
        return False


def relative_path(run: Run, path: str) -> str:
    """``path`` relative to the run's folder, with links followed. Raises ValueError if it is outside."""
    root = run.run_dir.resolve()
    try:
        resolved = (root / Path(path)).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise ValueError("the path cannot be read") from error
    if resolved == root or not resolved.is_relative_to(root):
        raise ValueError("the checkpoint is outside the run's folder")
    return resolved.relative_to(root).as_posix()


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
        if (fault := visible_damage(partial, checkpoint.manifest_sha256)) is not None:
            raise FileNotFoundError(fault)
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
