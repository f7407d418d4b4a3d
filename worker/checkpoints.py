"""The checkpoints of an attempt: where they lie, how they are announced, and which may be deleted."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from trainer_core.update.saved import SavedCheckpoint
from worker.link import Link

Reason = Literal["schedule", "requested", "before_control", "final"]


@dataclass(frozen=True, slots=True)
class Wish:
    """Why a checkpoint is wanted, and by which control or command."""

    reason: Reason
    control_id: str | None = None


@dataclass(frozen=True, slots=True)
class _Kept:
    path: Path
    seq: int
    """Event that announced it: it may only be deleted once the platform knows a newer one."""


class Checkpoints:
    """Announces each checkpoint and deletes old scheduled ones."""

    def __init__(self, run_dir: Path, attempt: int, keep_last: int, link: Link) -> None:
        self._folder = run_dir / "checkpoints"
        self._attempt, self._keep_last, self._link = attempt, keep_last, link
        self._scheduled: list[_Kept] = []

    def path(self, step: int) -> Path:
        """Folder of the checkpoint after ``step``; attempts never write into one another's."""
        return self._folder / f"step-{step:06d}-a{self._attempt}"

    def announce(self, step: int, wishes: list[Wish], saved: SavedCheckpoint) -> None:
        """Tell the platform: one event per wish. Called when the files are safely on disk."""
        for wish in wishes:
            data = {
                "path": saved.path,
                "bytes": saved.bytes,
                "manifest_sha256": saved.manifest_sha256,
                "reason": wish.reason,
                "control_id": wish.control_id,
                "policy_version": saved.version,
            }
            seq = self._link.emit("checkpoint", data, step)
        self._scheduled = [kept for kept in self._scheduled if kept.path != Path(saved.path)]
        if all(wish.reason == "schedule" for wish in wishes):
            self._scheduled.append(_Kept(Path(saved.path), seq))
        self._prune()

    def _prune(self) -> None:
        """Delete scheduled checkpoints but for the newest ones that the platform has acknowledged, and newer."""
        known = [kept for kept in self._scheduled if kept.seq <= self._link.acked_seq]
        for kept in known[: -self._keep_last]:
            shutil.rmtree(kept.path, ignore_errors=True)
            self._scheduled.remove(kept)
