"""Scheduled checkpoints are pruned over all attempts; those that may be asked for again are not."""

from pathlib import Path
from typing import Any

from trainer_core.link.events import CheckpointReason, EventData
from trainer_core.update.saving.saved import SavedCheckpoint
from worker.loop.checkpoints import Checkpoints, Wish


class Link:
    """Acknowledges every event at once, as a platform does that is quick."""

    def __init__(self) -> None:
        self.acked_seq = 0
        self.acknowledges = True
        self._seq = 0

    def emit(self, data: EventData, step: int) -> int:
        self._seq += 1
        self.acked_seq = self._seq if self.acknowledges else self.acked_seq
        return self._seq


def announce(checkpoints: Checkpoints, step: int, *reasons: CheckpointReason) -> None:
    path = checkpoints.path(step)
    path.mkdir(parents=True)
    checkpoints.announce(step, [Wish(reason) for reason in reasons], SavedCheckpoint(str(path), 1, "0" * 64, step))


def names(run_dir: Path) -> list[str]:
    return sorted(path.name for path in (run_dir / "checkpoints").iterdir() if path.is_dir())


def test_keep_last_holds_over_attempts(tmp_path: Path) -> None:
    link: Any = Link()
    first = Checkpoints(tmp_path, 1, 2, link)
    announce(first, 2, "schedule")
    announce(first, 4, "schedule", "before_control")
    announce(first, 6, "schedule")
    announce(first, 8, "schedule")
    assert names(tmp_path) == ["step-000004-a1", "step-000006-a1", "step-000008-a1"]
    (tmp_path / "checkpoints" / "step-000009-a1").mkdir()

    second = Checkpoints(tmp_path, 2, 2, link)
    announce(second, 10, "schedule")
    assert names(tmp_path) == ["step-000004-a1", "step-000008-a1", "step-000009-a1", "step-000010-a2"]
    announce(second, 12, "requested")
    announce(second, 14, "schedule")
    kept = ["step-000004-a1", "step-000009-a1", "step-000010-a2", "step-000012-a2", "step-000014-a2"]
    assert names(tmp_path) == kept, "rewind points, wished ones, and those of unknown reason stay"


def test_what_was_written_to_give_a_place_back_is_pruned_like_a_scheduled_one(tmp_path: Path) -> None:
    link: Any = Link()
    first = Checkpoints(tmp_path, 1, 1, link)
    announce(first, 3, "release")
    announce(first, 4, "release", "requested")
    assert names(tmp_path) == ["step-000003-a1", "step-000004-a1"]
    second = Checkpoints(tmp_path, 2, 1, link)
    announce(second, 5, "release", "schedule")
    assert names(tmp_path) == ["step-000004-a1", "step-000005-a2"], "what people asked for stays"
    announce(second, 6, "schedule")
    assert names(tmp_path) == ["step-000004-a1", "step-000006-a2"]


def test_nothing_goes_before_the_platform_knows_of_newer_ones(tmp_path: Path) -> None:
    link: Any = Link()
    announce(Checkpoints(tmp_path, 1, 1, link), 2, "schedule")
    link.acknowledges = False
    second = Checkpoints(tmp_path, 2, 1, link)
    announce(second, 4, "schedule")
    assert names(tmp_path) == ["step-000002-a1", "step-000004-a2"]
    link.acked_seq = 2
    announce(second, 6, "schedule")
    assert names(tmp_path) == ["step-000004-a2", "step-000006-a2"]
