"""The checkpoints of a run: where they are stored, how they are announced, and which may be deleted.

The reasons for each are stored next to the folders in ``reasons.jsonl``, so that a later attempt can prune the
checkpoints of an earlier one. A folder whose reason is unknown is never deleted.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from trainer_core.link.events import CheckpointData, CheckpointReason
from trainer_core.update.saving.saved import SavedCheckpoint
from worker.link.client import Link

PRUNED = frozenset({"schedule", "release"})
"""Reasons of checkpoints that newer ones replace. No user requested these."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A request for a checkpoint: its reason, and the control or command that made it."""

    reason: CheckpointReason
    control_id: str | None = None


@dataclass(frozen=True, slots=True)
class _KeptCheckpoint:
    path: Path
    seq: int
    """Event that announced it; 0 for an earlier attempt's. Deleted only once the platform has acknowledged it."""


class Checkpoints:
    """Announces each checkpoint and deletes those that newer ones replace, earlier attempts' first."""

    def __init__(self, run_dir: Path, attempt: int, keep_last: int, link: Link) -> None:
        self._folder = run_dir / "checkpoints"
        self._attempt, self._keep_last, self._link = attempt, keep_last, link
        self._scheduled = [_KeptCheckpoint(path, 0) for path in self._left_behind()]

    def path(self, step: int) -> Path:
        """Folder of the checkpoint after ``step``. Attempts never write to each other's folders."""
        return self._folder / f"step-{step:06d}-a{self._attempt}"

    def announce(self, step: int, wishes: list[Wish], saved: SavedCheckpoint) -> None:
        """Report a checkpoint to the platform: one event per wish. Called when the files are safely on disk."""
        self._record(Path(saved.path).name, wishes)
        for wish in wishes:
            data = CheckpointData(
                path=saved.path,
                bytes=saved.bytes,
                manifest_sha256=saved.manifest_sha256,
                reason=wish.reason,
                control_id=wish.control_id,
                policy_version=saved.version,
            )
            seq = self._link.emit(data, step)
        self._scheduled = [kept for kept in self._scheduled if kept.path != Path(saved.path)]
        if all(wish.reason in PRUNED for wish in wishes):
            self._scheduled.append(_KeptCheckpoint(Path(saved.path), seq))
        self._prune()

    def _prune(self) -> None:
        """Delete replaceable checkpoints, except the newest ``keep_last`` acknowledged ones and any newer ones."""
        known = [kept for kept in self._scheduled if kept.seq <= self._link.acked_seq]
        for kept in known[: -self._keep_last]:
            shutil.rmtree(kept.path, ignore_errors=True)
            self._scheduled.remove(kept)

    def _record(self, name: str, wishes: list[Wish]) -> None:
        """Record the reasons before the checkpoint is announced."""
        line = json.dumps({"name": name, "reasons": [wish.reason for wish in wishes]}) + "\n"
        with open(self._folder / "reasons.jsonl", "a") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    def _left_behind(self) -> list[Path]:
        """Existing checkpoints of earlier attempts that may be deleted, oldest first."""
        reasons: dict[str, set[str]] = {}
        try:
            lines = (self._folder / "reasons.jsonl").read_text().splitlines()
        except FileNotFoundError:
            return []
        for line in lines:
            try:
                entry = json.loads(line)
            except ValueError:
                continue  # truncated by a crash: its checkpoint was never announced
            reasons.setdefault(entry["name"], set()).update(entry["reasons"])
        names = [name for name, found in reasons.items() if found <= PRUNED]
        paths = [self._folder / name for name in names if not name.endswith(f"-a{self._attempt}")]
        return sorted((path for path in paths if path.is_dir()), key=_age)


def _age(path: Path) -> tuple[int, int]:
    """Attempt and step."""
    _, step, attempt = path.name.split("-")
    return int(attempt.removeprefix("a")), int(step)
