"""Scheduled checkpoints are pruned over all attempts; those that may be asked for again are not."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from trainer_core.link.events import CheckpointReason, EventData
from trainer_core.update.saving.partial import held, is_held
from trainer_core.update.saving.saved import SavedCheckpoint
from worker.loop.checkpoints import Checkpoints, Wish
from worker.loop.saving import Saving


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


def test_the_last_steps_checkpoint_is_one_of_those_that_are_kept(tmp_path: Path) -> None:
    link: Any = Link()
    checkpoints = Checkpoints(tmp_path, 1, 2, link)
    for step in (5, 10, 15):
        announce(checkpoints, step, "schedule")
    announce(checkpoints, 20, "final")
    assert names(tmp_path) == ["step-000015-a1", "step-000020-a1"]
    only = Checkpoints(tmp_path / "other", 1, 1, link)
    announce(only, 5, "schedule")
    announce(only, 10, "final")
    assert names(tmp_path / "other") == ["step-000010-a1"]
    longer = Checkpoints(tmp_path, 2, 2, link, 20)
    for step in (25, 30):
        announce(longer, step, "schedule")
    assert names(tmp_path) == ["step-000020-a1", "step-000025-a2", "step-000030-a2"], (
        "the end of before is never deleted"
    )


def test_what_is_acknowledged_late_is_deleted_before_the_next_save_and_at_the_end(tmp_path: Path) -> None:
    link: Any = Link()
    link.acknowledges, link.fenced = False, None
    checkpoints = Checkpoints(tmp_path, 1, 2, link)
    saving = Saving(checkpoints, SimpleNamespace(), link, dict)  # type: ignore[arg-type]
    for step in (5, 10, 15):
        announce(checkpoints, step, "schedule")
    assert len(names(tmp_path)) == 3
    link.acked_seq = 3
    saving.save(16)  # no wish: as after every step
    assert names(tmp_path) == ["step-000010-a1", "step-000015-a1"]

    announce(checkpoints, 20, "final")
    assert len(names(tmp_path)) == 3

    def flush(seconds: float) -> bool:
        link.acked_seq = link._seq
        return True

    link.flush = lambda seconds: False
    saving.prune_last()
    assert len(names(tmp_path)) == 3, "the platform does not know of the newest"
    link.flush, link.fenced = flush, "given up"
    saving.prune_last()
    assert len(names(tmp_path)) == 3, "another attempt may stand on them"
    link.fenced = None
    saving.prune_last()
    assert names(tmp_path) == ["step-000015-a1", "step-000020-a1"]


@pytest.mark.parametrize("reason", ["schedule", "final"])
def test_superseded_ones_go_before_those_that_a_resume_needs(tmp_path: Path, reason: CheckpointReason) -> None:
    link: Any = Link()
    first = Checkpoints(tmp_path, 1, 2, link)
    announce(first, 5, "schedule")
    announce(first, 10, reason)
    second = Checkpoints(tmp_path, 2, 2, link, 5)
    announce(second, 10, "schedule")
    assert names(tmp_path) == ["step-000005-a1", "step-000010-a2"]
    third = Checkpoints(tmp_path, 3, 2, link, 10)
    announce(third, 15, "schedule")
    assert names(tmp_path) == ["step-000010-a2", "step-000015-a3"]


def test_a_checkpoint_whose_writer_died_before_it_was_announced_is_deleted_like_the_others(tmp_path: Path) -> None:
    link: Any = Link()
    first = Checkpoints(tmp_path, 1, 1, link)
    announce(first, 5, "schedule")
    first.prepare(10, [Wish("schedule")])
    first.path(10).mkdir()
    second = Checkpoints(tmp_path, 2, 1, link, 5)
    assert names(tmp_path) == ["step-000005-a1", "step-000010-a1"]
    announce(second, 10, "schedule")
    assert names(tmp_path) == ["step-000010-a2"]


def unfinished(tmp_path: Path, attempt: int, kind: str = "partial") -> Path:
    folder = tmp_path / "checkpoints" / f".step-000010-a{attempt}.{kind}"
    (folder / "training").mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"half")
    return folder


@pytest.mark.parametrize("kind", ["partial", "replaced", "deleted"])
def test_what_dead_attempts_have_not_finished_is_removed(tmp_path: Path, kind: str) -> None:
    link: Any = Link()
    old, own, newer = (unfinished(tmp_path, attempt, kind) for attempt in (1, 3, 4))
    other = tmp_path / "checkpoints" / ".notes.partial"
    other.mkdir()
    checkpoints = Checkpoints(tmp_path, 3, 2, link)
    assert not old.exists(), "at the attempt's start"
    late = unfinished(tmp_path, 2, kind)
    checkpoints.prepare(12, [Wish("schedule")])
    assert not late.exists(), "before the next save"
    assert own.exists() and newer.exists() and other.exists(), "they may be written at this moment, or are not ours"


def test_what_a_living_process_writes_stays_until_it_dies(tmp_path: Path) -> None:
    link: Any = Link()
    folder = unfinished(tmp_path, 1)
    program = (
        "import sys; from pathlib import Path; from trainer_core.update.saving.partial import held\n"
        f"with held(Path({str(folder)!r})):\n    print('holds', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None and writer.stdout.readline() == "holds\n"
        second = Checkpoints(tmp_path, 2, 2, link)
        assert is_held(folder) and (folder / "model.safetensors").exists()
        writer.kill()
        writer.wait()
    second.prepare(12, [Wish("schedule")])
    assert not folder.exists()


def test_a_folder_is_held_while_it_is_renamed(tmp_path: Path) -> None:
    folder = unfinished(tmp_path, 1)
    with held(folder):
        moved = folder.rename(folder.with_name("step-000010-a1"))
        assert is_held(moved)
    assert not is_held(moved)
    assert not is_held(tmp_path / "nowhere")
