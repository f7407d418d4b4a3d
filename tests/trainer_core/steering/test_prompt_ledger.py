"""The prompt ledger: every ordinal that is handed out is settled once, and the figures add up."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trainer_core.update.making import make_groups
from trainer_core.episodes import Group
from trainer_core.steering.fates import Fate, fate_of
from trainer_core.steering.prompt_ledger import MAX_REASONS, OTHERS, LedgerError, PromptLedger

FATES = [Fate.TRAINED, Fate.rejected("truncated"), Fate.dropped("reward_error")]


def handed_out(count: int) -> PromptLedger:
    ledger = PromptLedger()
    for ordinal in range(count):
        ledger.hand_out(ordinal)
    return ledger


def test_figures_add_up_at_any_time() -> None:
    ledger = handed_out(5)
    for ordinal, fate in ((3, Fate.TRAINED), (0, Fate.rejected("overlong")), (4, Fate.dropped("pruned"))):
        ledger.settle(ordinal, fate)
    assert ledger.pending == [1, 2]
    assert ledger.counts() == {
        "handed_out": 5,
        "trained": 1,
        "rejected": {"overlong": 1},
        "dropped": {"pruned": 1},
        "pending": 2,
        "earlier": 0,
    }
    ended = ledger.counts("run_ended")
    assert (ended["dropped"], ended["pending"]) == ({"pruned": 1, "run_ended": 2}, 0)
    assert ledger.counts()["pending"] == 2, "a checkpoint keeps them"


@pytest.mark.parametrize("fate", FATES)
@pytest.mark.parametrize("ordinal", [1, 3, -1, 10**9])
def test_what_is_settled_or_was_never_handed_out_is_refused(ordinal: int, fate: Fate) -> None:
    ledger = handed_out(3)
    ledger.settle(1, Fate.TRAINED)
    before = ledger.state()
    with pytest.raises(LedgerError, match="settled before" if ordinal == 1 else "only prompts below 3 were handed out"):
        ledger.settle(ordinal, fate)
    assert ledger.state() == before


@pytest.mark.parametrize("ordinal", [0, 2, 4, -1])
def test_ordinals_are_handed_out_in_order_and_once(ordinal: int) -> None:
    ledger = handed_out(3)
    before = ledger.state()
    with pytest.raises(LedgerError, match="the next one is 3"):
        ledger.hand_out(ordinal)
    assert ledger.state() == before


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9), st.sampled_from(FATES)), max_size=40))
def test_a_ledger_goes_on_from_its_state(moves: list[tuple[int, int, Fate]]) -> None:
    ledger, settled = PromptLedger(), 0
    for draws, place, fate in moves:
        for _ in range(draws):
            ledger.hand_out(ledger.handed_out)
        if ledger.pending:
            ledger.settle(ledger.pending[place % len(ledger.pending)], fate)
            settled += 1
        again = PromptLedger.loaded(json.loads(json.dumps(ledger.state())))
        assert again.state() == ledger.state() and again.counts() == ledger.counts()
        ledger = again
        counts = ledger.counts()
        left_out = sum(counts["rejected"].values()) + sum(counts["dropped"].values())
        assert counts["trained"] + left_out == settled
        assert counts["handed_out"] == settled + counts["pending"] == settled + len(ledger.pending)


@pytest.mark.parametrize(
    "wrong",
    [
        {"trained": 2},
        {"handed_out": 2},
        {"pending": [1]},
        {"pending": [1, 1]},
        {"pending": [1, 3]},
        {"pending": [-1, 1]},
    ],
)
def test_a_state_that_does_not_add_up_is_refused(wrong: dict[str, Any]) -> None:
    ledger = handed_out(3)
    ledger.settle(0, Fate.TRAINED)
    assert PromptLedger.loaded(ledger.state()).pending == [1, 2]
    with pytest.raises(LedgerError, match="does not add up"):
        PromptLedger.loaded({**ledger.state(), **wrong})


def test_a_run_without_a_ledger_begins_one() -> None:
    ledger = PromptLedger(12, 3)
    assert ledger.pending == [9, 10, 11]
    assert (ledger.counts()["handed_out"], ledger.counts()["earlier"]) == (12, 9)
    with pytest.raises(LedgerError, match="prompt 8 cannot be settled as trained: it was settled before"):
        ledger.settle(8, Fate.TRAINED)
    ledger.hand_out(12)
    with pytest.raises(LedgerError, match="13 prompts are pending, but 12 were handed out"):
        PromptLedger(12, 13)


def test_reasons_without_end_are_counted_together() -> None:
    ledger = handed_out(2 * MAX_REASONS)
    for ordinal in range(2 * MAX_REASONS):
        ledger.settle(ordinal, Fate.rejected(f"{ordinal} tokens too long"))
    rejected = ledger.counts()["rejected"]
    assert (len(rejected), rejected[OTHERS], sum(rejected.values())) == (MAX_REASONS + 1, MAX_REASONS, 2 * MAX_REASONS)


@pytest.mark.parametrize("kind, reason", [("trained", "why"), ("rejected", None), ("dropped", None), ("dropped", "")])
def test_only_trained_prompts_have_no_reason(kind: Any, reason: str | None) -> None:
    with pytest.raises(ValueError, match="only trained ones have none"):
        Fate(kind, reason)


def group(*excluded: str | None) -> Group:
    (made,) = make_groups(1, groups=1, samples=len(excluded))
    for trajectory, reason in zip(made.trajectories, excluded, strict=True):
        if reason is not None:
            trajectory.exclude(reason)
    return made


@pytest.mark.parametrize(
    "excluded, fate",
    [
        ((None, None), Fate.TRAINED),
        (("truncated", None), Fate.TRAINED),
        (("zero_advantage", "zero_advantage"), Fate.rejected("zero_advantage")),
        (("truncated", "overlong", "overlong"), Fate.rejected("overlong")),
        (("truncated", "overlong"), Fate.rejected("overlong")),
        (("reward_error", "reward_error"), Fate.dropped("reward_error")),
        (("pruned", "pivot", "pruned"), Fate.dropped("pruned")),
        (("mine", "mine"), Fate.rejected("mine")),
        (("", ""), Fate.rejected("unnamed")),
        (("x" * 500,), Fate.rejected("x" * 120)),
    ],
)
def test_the_reason_that_left_out_most_is_the_groups(excluded: tuple[str | None, ...], fate: Fate) -> None:
    assert fate_of(group(*excluded)) == fate


def test_a_group_without_sampled_tokens_is_dropped() -> None:
    made = group(None, None)
    for trajectory in made.trajectories:
        trajectory.sampled[:] = False
    assert fate_of(made) == Fate.dropped("no_sampled_tokens")
    made.trajectories[0].sampled[-1] = True
    assert fate_of(made) == Fate.TRAINED
    made.trajectories.clear()
    assert fate_of(made) == Fate.dropped("no_sampled_tokens")
