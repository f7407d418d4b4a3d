"""The ledger under random interleavings: the bound holds, nothing is trained twice, nothing is lost unreported."""

from collections import Counter
from math import ceil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.support.about import LEARNING
from trainer_core.steering.staleness import GroupState, StalenessError, StalenessLedger


class Loop(RuleBasedStateMachine):
    """The loop around a ledger, with what each group's oldest token must be computed independently of it."""

    @initialize(max_staleness=st.integers(0, 4), batch=st.integers(1, 4))
    def start(self, max_staleness: int, batch: int) -> None:
        self.eta, self.batch = max_staleness, batch
        self.ledger = StalenessLedger(max_staleness, batch)
        self.version = 0
        self.in_training: list[str] = []
        self.began: dict[str, int] = {}
        """Version whose tokens are the oldest of each group that has any."""
        self.count = 0
        self.drawn: set[str] = set()
        self.trained: Counter[str] = Counter()
        self.reported: set[str] = set()
        self.saved: tuple[int, set[str], set[str], set[str]] = (0, set(), set(), set())

    def pick(self, data: st.DataObject, *states: GroupState) -> str:
        return data.draw(st.sampled_from(self.ledger.names(*states)))

    def has(self, *states: GroupState) -> bool:
        return bool(self.ledger.names(*states))

    @rule(count=st.integers(1, 6), limit=st.one_of(st.none(), st.integers(1, 8)))
    def dispatch(self, count: int, limit: int | None) -> None:
        for _ in range(min(count, self.ledger.capacity(limit))):
            self.count += 1
            name = f"g{self.count}"
            self.drawn.add(name)
            self.ledger.add(name)
            self.ledger.dispatch(name)
            self.began[name] = self.version

    @precondition(lambda self: self.has(GroupState.PARKED, GroupState.WAITING))
    @rule(data=st.data())
    def dispatch_again(self, data: st.DataObject) -> None:
        name = self.pick(data, GroupState.PARKED, GroupState.WAITING)
        self.ledger.dispatch(name)
        self.began.setdefault(name, self.version)

    @precondition(lambda self: self.has(GroupState.DISPATCHED))
    @rule(data=st.data())
    def run(self, data: st.DataObject) -> None:
        self.ledger.run(self.pick(data, GroupState.DISPATCHED))

    @precondition(lambda self: self.has(GroupState.DISPATCHED, GroupState.RUNNING))
    @rule(data=st.data())
    def park(self, data: st.DataObject) -> None:
        self.ledger.park(self.pick(data, GroupState.DISPATCHED, GroupState.RUNNING))

    @precondition(
        lambda self: self.has(GroupState.DISPATCHED, GroupState.RUNNING, GroupState.PARKED, GroupState.SCORED)
    )
    @rule(data=st.data())
    def drop_tokens(self, data: st.DataObject) -> None:
        name = self.pick(data, GroupState.DISPATCHED, GroupState.RUNNING, GroupState.PARKED, GroupState.SCORED)
        self.ledger.reset(name)
        del self.began[name]

    @precondition(lambda self: self.has(GroupState.DISPATCHED, GroupState.RUNNING))
    @rule(data=st.data(), share=st.floats(0.0, 1.0))
    def finish(self, data: st.DataObject, share: float) -> None:
        for _ in range(ceil(share * len(self.ledger.names(GroupState.DISPATCHED, GroupState.RUNNING)))):
            self.ledger.score(self.pick(data, GroupState.DISPATCHED, GroupState.RUNNING))

    @precondition(lambda self: self.has(GroupState.SCORED))
    @rule(data=st.data())
    def reject(self, data: st.DataObject) -> None:
        name = self.pick(data, GroupState.SCORED)
        self.ledger.report(name)
        self.reported.add(name)

    @precondition(lambda self: not self.in_training and self.ledger.ready())
    @rule()
    def take(self) -> None:
        self.in_training = self.ledger.take()
        assert len(self.in_training) == self.batch
        for name in self.in_training:
            assert self.version - self.began[name] <= self.eta, "the bound on staleness"
            self.trained[name] += 1

    @precondition(lambda self: self.in_training)
    @rule(save=st.booleans())
    def update(self, save: bool) -> None:
        self.in_training = []
        self.version += 1
        self.ledger.advance(self.version)
        if save:
            pending = set(self.ledger.names())
            self.saved = (self.version, set(self.trained), set(self.reported), pending)

    @rule()
    def crash_and_resume(self) -> None:
        """What was trained and reported since the checkpoint is undone with the weights; its pending groups return."""
        self.version, trained, reported, pending = self.saved
        self.trained, self.reported = Counter(trained), set(reported)
        self.drawn = trained | reported | pending
        self.in_training, self.began = [], {}
        self.ledger = StalenessLedger(self.eta, self.batch, self.version)
        for name in sorted(pending):
            self.ledger.add(name)

    @invariant()
    def nothing_is_trained_twice(self) -> None:
        assert all(count == 1 for count in getattr(self, "trained", {}).values())

    @invariant()
    def nothing_is_lost(self) -> None:
        if hasattr(self, "ledger"):
            assert self.drawn == set(self.trained) | self.reported | set(self.ledger.names())

    @invariant()
    def the_books_agree(self) -> None:
        if hasattr(self, "ledger"):
            assert self.ledger.taken == self.version * self.batch + len(self.in_training)
            assert len(self.ledger) + self.ledger.taken <= (self.eta + self.version + 1) * self.batch

    @invariant()
    def the_learner_never_waits_in_vain(self) -> None:
        """With everything on its way scored and the engines supplied, the next batch could be taken."""
        if hasattr(self, "ledger") and not self.in_training:
            oldest = self.ledger.names(GroupState.DISPATCHED, GroupState.RUNNING, GroupState.PARKED, GroupState.SCORED)[
                : self.batch
            ]
            assert not self.ledger.overdue(oldest)


Loop.TestCase.settings = settings(max_examples=150, stateful_step_count=60, deadline=None)
TestLoop = pytest.mark.expensive(3, "walks through many examples", about=LEARNING)(Loop.TestCase)


def scored(ledger: StalenessLedger, *names: str) -> None:
    for name in names:
        ledger.add(name)
        ledger.dispatch(name)
        ledger.score(name)


def test_capacity_follows_areal() -> None:
    ledger = StalenessLedger(max_staleness=2, batch=4, version=5)
    assert ledger.capacity() == (2 + 5 + 1) * 4 - 5 * 4 == 12, "after a resume, 5 batches count as accepted"
    for index in range(3):
        ledger.add(f"g{index}")
        ledger.dispatch(f"g{index}")
    assert ledger.capacity() == 9
    assert ledger.capacity(max_running=4) == 1
    ledger.score("g0")
    assert ledger.capacity() == 9, "accepted instead of running"
    assert ledger.capacity(max_running=4) == 2
    ledger.report("g0")
    assert ledger.capacity() == 10, "a group that is let go makes room"


def test_a_batch_in_training_is_not_forgotten() -> None:
    ledger = StalenessLedger(max_staleness=1, batch=2)
    scored(ledger, "a", "b", "c", "d")
    assert ledger.capacity() == 0
    assert ledger.take() == ["a", "b"]
    assert ledger.capacity() == 0, "the learner still works on version 0"
    ledger.advance(1)
    assert ledger.capacity() == 2


def test_oldest_groups_come_first_and_stragglers_are_waited_for_in_time() -> None:
    ledger = StalenessLedger(max_staleness=2, batch=1)
    for name in ("a", "slow", "slower"):
        ledger.add(name)
        ledger.dispatch(name)
    ledger.score("a")
    assert ledger.take() == ["a"], "nobody waits for the slow ones yet"
    ledger.advance(1)
    scored(ledger, "b")
    assert not ledger.ready(), "two are left of version 0, and version 2 could take but one"
    with pytest.raises(StalenessError, match="no full batch"):
        ledger.take()
    ledger.score("slower")
    assert ledger.take() == ["slower"]
    ledger.advance(2)
    assert not ledger.ready(), "now the last one must come first"
    ledger.score("slow")
    assert ledger.take() == ["slow"]


def under_way(ledger: StalenessLedger, *names: str) -> None:
    for name in names:
        ledger.add(name)
        ledger.dispatch(name)


def test_a_batch_is_full_once_its_tokens_reach_the_budget() -> None:
    ledger = StalenessLedger(max_staleness=3, batch=4, token_budget=100)
    under_way(ledger, "a", "b", "c", "d", "e")
    ledger.score("b", 60)
    assert not ledger.ready()
    ledger.score("e", 40)
    assert ledger.ready()
    ledger.score("a", 30)
    # Oldest first: a has 30, b 60, e the last 10.
    assert ledger.take() == ["a", "b", "e"] and ledger.taken == 4
    ledger.score("c", 500)
    assert ledger.take() == ["c"]
    ledger.score("d", 1)
    under_way(ledger, "f", "g", "h")
    for name in ("f", "g"):
        ledger.score(name, 1)
    assert not ledger.ready()
    ledger.score("h", 1)
    # As many groups as a batch has are one, whatever they hold.
    assert ledger.take() == ["d", "f", "g", "h"]


def test_a_budget_leaves_nothing_behind_that_would_grow_too_old() -> None:
    ledger = StalenessLedger(max_staleness=1, batch=2, token_budget=10)
    under_way(ledger, "a", "b", "c")
    ledger.score("a", 10)
    # b and c are left to the one batch that may still hold them.
    assert ledger.take() == ["a"]
    for name in ("b", "c"):
        ledger.park(name)
        ledger.dispatch(name)
    ledger.advance(1)
    ledger.score("b", 50)
    assert not ledger.ready(), "c must be in this batch, though b alone has the tokens"
    ledger.score("c", 50)
    assert ledger.take() == ["b", "c"]
    ledger.advance(2)


@settings(max_examples=60, deadline=None)
@given(
    staleness=st.integers(0, 3),
    batch=st.integers(1, 4),
    budget=st.integers(1, 12),
    share=st.sampled_from([1.0, 1.5, 2.0]),
    data=st.data(),
)
def test_the_bound_holds_under_a_budget(
    staleness: int, batch: int, budget: int, share: float, data: st.DataObject
) -> None:
    """Steps of a mode that takes turns: supply, finish in any order, take, stop the rest, go on."""
    ledger = StalenessLedger(staleness, batch, token_budget=budget)
    tokens: dict[str, int] = {}
    for step in range(6):
        room = ceil(batch * share) - len(ledger.names(GroupState.SCORED))
        again = ledger.names(GroupState.PARKED)[:room]
        fresh = [f"{step}-{n}" for n in range(max(0, min(room - len(again), ledger.capacity())))]
        for name in fresh:
            ledger.add(name)
        for name in [*again, *fresh]:
            ledger.dispatch(name)
        while not ledger.ready():
            name = data.draw(st.sampled_from(ledger.names(GroupState.DISPATCHED)))
            tokens[name] = data.draw(st.integers(1, 6))
            ledger.score(name, tokens[name])
        chosen = ledger.take()
        assert len(chosen) == batch or sum(tokens[name] for name in chosen) >= budget
        for name in ledger.names(GroupState.DISPATCHED):
            ledger.park(name)
        ledger.advance(step + 1)


def test_where_the_rest_is_renewed_a_batch_waits_for_nobody() -> None:
    ledger = StalenessLedger(max_staleness=0, batch=1, renews=True)
    for name in ("slow", "late"):
        ledger.add(name)
        ledger.dispatch(name)
    scored(ledger, "a")
    assert ledger.take() == ["a"]
    ledger.score("late")
    ledger.reset("late")
    ledger.reset("slow")
    ledger.advance(1)
    assert ledger.names(GroupState.WAITING) == ["slow", "late"]


def test_a_group_that_outlives_the_bound_is_a_defect() -> None:
    ledger = StalenessLedger(max_staleness=0, batch=1)
    ledger.add("a")
    ledger.dispatch("a")
    with pytest.raises(StalenessError, match="started by version 0; the learner has reached 1"):
        ledger.advance(1)
    with pytest.raises(StalenessError, match="version 0 after 1"):
        ledger.advance(0)


def test_groups_go_the_way_they_may() -> None:
    ledger = StalenessLedger(max_staleness=0, batch=1)
    ledger.add("a")
    with pytest.raises(ValueError, match="already in flight"):
        ledger.add("a")
    with pytest.raises(StalenessError, match="a is waiting, not dispatched or running"):
        ledger.score("a")
    ledger.dispatch("a")
    ledger.run("a")
    ledger.park("a")
    with pytest.raises(StalenessError, match="a is parked, not dispatched or running"):
        ledger.score("a")
    ledger.reset("a")
    assert ledger.state("a") is GroupState.WAITING and ledger.overdue() == 0
