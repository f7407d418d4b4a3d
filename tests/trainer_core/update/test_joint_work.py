"""Work of several ranks that fails on one of them. The ranks are threads, which gather what they tell one another."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from trainer_core.update.saving import together
from trainer_core.update.saving.integrity import CheckpointError
from trainer_core.update.saving.together import JointWork


class Ranks:
    """Two ranks."""

    def __init__(self) -> None:
        self.own = threading.local()
        self._meeting = threading.Barrier(2, timeout=20)
        self._values: list[Any] = [None, None]

    def rank(self) -> int:
        number: int = self.own.rank
        return number

    def gather(self, value: Any) -> list[Any]:
        self._values[self.rank()] = value
        self._meeting.wait()
        found = list(self._values)
        self._meeting.wait()
        return found


@pytest.fixture
def ranks(monkeypatch: pytest.MonkeyPatch) -> Ranks:
    made = Ranks()
    monkeypatch.setattr(together, "rank", made.rank)
    monkeypatch.setattr(together, "gather_values_from_ranks", made.gather)
    return made


def fail(error: Exception) -> None:
    raise error


@pytest.mark.parametrize("failing", [0, 1])
def test_no_rank_raises_before_the_first_has_undone(ranks: Ranks, failing: int) -> None:
    undoing, other_raised, undone = threading.Event(), threading.Event(), threading.Event()

    def undo() -> None:
        assert ranks.rank() == 0
        undoing.set()
        # As slow as the removal of a large folder: time enough for the other rank to raise, if it would.
        assert not other_raised.wait(0.2)
        undone.set()

    def work(rank: int) -> tuple[str, bool]:
        ranks.own.rank = rank
        own = JointWork()
        if rank == failing:
            own.do(lambda: fail(OSError(28, "No space left on device")))
        try:
            own.settle(undo)
        except OSError as error:
            if rank == 1:
                other_raised.set()
            return str(error), undone.is_set()
        return "nothing", False

    with ThreadPoolExecutor(2) as pool:
        told = list(pool.map(work, (0, 1)))
    assert undoing.is_set()
    assert told == [("[Errno 28] No space left on device", True)] * 2


def test_an_undoing_that_fails_keeps_nobody_waiting(ranks: Ranks) -> None:
    def work(rank: int) -> str:
        ranks.own.rank = rank
        own = JointWork()
        own.do(lambda: fail(ValueError("bad")))
        try:
            own.settle(lambda: fail(OSError("cannot be removed")))
        except (OSError, ValueError, CheckpointError) as error:
            return str(error)
        return "nothing"

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(work, (0, 1))) == ["cannot be removed", "bad"]


def test_nothing_is_undone_where_all_have_done_their_part(ranks: Ranks) -> None:
    def work(rank: int) -> str:
        ranks.own.rank = rank
        own = JointWork()
        own.do(lambda: None)
        own.settle(lambda: fail(AssertionError("undone")))
        return "done"

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(work, (0, 1))) == ["done", "done"]
