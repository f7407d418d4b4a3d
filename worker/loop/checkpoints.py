"""The checkpoints of a run: where they are stored, how they are announced, and which may be deleted.

The reasons for each are stored next to the folders in ``reasons.jsonl``, so that a later attempt can prune the
checkpoints of an earlier one. A folder whose reason is unknown is never deleted.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import threading
from dataclasses import dataclass
from pathlib import Path

from trainer_core.link.events import CheckpointData, CheckpointReason
from trainer_core.update.saving.partial import is_held
from trainer_core.update.saving.saved import SavedCheckpoint
from worker.link.client import Link

log = logging.getLogger(__name__)

PRUNED = frozenset({"schedule", "release"})
"""Reasons of checkpoints that newer ones replace. No user requested these."""
COUNTED = PRUNED | {"final"}
"""Reasons of checkpoints that count as one of ``keep_last``."""
UNFINISHED = re.compile(r"\.step-\d+-a(?P<attempt>\d+)\.(partial|replaced|deleted)")
"""Names of folders that are being written, replaced or deleted."""


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
    stays: bool = False
    """Whether it is only counted: the last step's is never deleted."""


class Checkpoints:
    """Announces each checkpoint and deletes those that newer ones replace: superseded ones first, then the oldest.

    Also deletes what earlier attempts have left half written or half deleted.
    """

    def __init__(self, run_dir: Path, attempt: int, keep_last: int, link: Link, resume_step: int | None = None) -> None:
        """``resume_step``: step from which the attempt continues. Later ones of earlier attempts are superseded."""
        self._folder = run_dir / "checkpoints"
        self._attempt, self._keep_last, self._link = attempt, keep_last, link
        self._resume_step = resume_step
        self._lock = threading.Lock()
        self._kept = self._left_behind()
        self._remove_unfinished()

    def path(self, step: int) -> Path:
        """Folder of the checkpoint after ``step``. Attempts never write to each other's folders."""
        return self._folder / f"step-{step:06d}-a{self._attempt}"

    def prepare(self, step: int, wishes: list[Wish]) -> None:
        """Clean up before a checkpoint is written, and record its reasons, so that a later attempt may delete it even
        if this one ends before it is announced."""
        self._remove_unfinished()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._record(self.path(step).name, wishes)
        except OSError as error:
            log.warning("the reasons of the checkpoint after step %d are not recorded yet: %s", step, error)

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
        reasons = {wish.reason for wish in wishes}
        with self._lock:
            before = next((kept for kept in self._kept if kept.path == Path(saved.path)), None)
            if before is not None:
                self._kept.remove(before)
            # A repeated request for the last step does not make its checkpoint one that is not counted.
            if reasons <= COUNTED or (before is not None and before.stays):
                stays = "final" in reasons or (before is not None and before.stays)
                self._kept.append(_KeptCheckpoint(Path(saved.path), seq, stays))
        self.prune()

    def prune(self) -> None:
        """Delete replaceable checkpoints, except the newest ``keep_last`` acknowledged ones and any newer ones."""
        with self._lock:
            known = [kept for kept in self._kept if kept.seq <= self._link.acked_seq]
            old = [kept for kept in known[: -self._keep_last] if not kept.stays]
            for kept in old:
                self._kept.remove(kept)
        for kept in old:
            _delete(kept.path)

    def _record(self, name: str, wishes: list[Wish]) -> None:
        """Record the reasons before the checkpoint is announced."""
        line = json.dumps({"name": name, "reasons": [wish.reason for wish in wishes]}) + "\n"
        with open(self._folder / "reasons.jsonl", "a") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    def _left_behind(self) -> list[_KeptCheckpoint]:
        """Existing checkpoints of earlier attempts that count, superseded ones first, then the oldest."""
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
        found = [
            _KeptCheckpoint(path, 0, "final" in why and not self._is_superseded(path))
            for name, why in reasons.items()
            if why <= COUNTED and not name.endswith(f"-a{self._attempt}") and (path := self._folder / name).is_dir()
        ]
        return sorted(found, key=lambda kept: (not self._is_superseded(kept.path), _age(kept.path)))

    def _is_superseded(self, path: Path) -> bool:
        """Whether the run has continued from an earlier step than that of an earlier attempt's checkpoint."""
        return self._resume_step is not None and _age(path)[1] > self._resume_step

    def _remove_unfinished(self) -> None:
        """Delete the folders that earlier attempts have not finished writing or deleting.

        A process of an earlier attempt may still be alive: what it holds stays. The next attempt's are never touched.
        """
        try:
            entries = list(self._folder.iterdir())
        except OSError:
            return
        for path in entries:
            found = UNFINISHED.fullmatch(path.name)
            if found is None or int(found["attempt"]) >= self._attempt or is_held(path):
                continue
            shutil.rmtree(path, ignore_errors=True)


def _delete(path: Path) -> None:
    """Delete a checkpoint so that it is never seen as a damaged one: it disappears first."""
    doomed = path.with_name(f".{path.name}.deleted")
    try:
        os.rename(path, doomed)
    except OSError:
        doomed = path  # it is gone, or what an earlier process has begun to delete is in the way
    shutil.rmtree(doomed, ignore_errors=True)


def _age(path: Path) -> tuple[int, int]:
    """Attempt and step."""
    _, step, attempt = path.name.split("-")
    return int(attempt.removeprefix("a")), int(step)
