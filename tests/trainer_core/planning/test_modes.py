"""Modes of the spec as the planner's model knows them."""

from tests.trainer_core.specs import spec
from trainer_core.planning.modes import all_modes, chosen_mode


def test_every_mode_is_offered_whatever_the_spec_chooses() -> None:
    for kind in ("sync", "async"):
        chosen = spec(rollout={"mode": {"type": kind}})
        assert [mode.name for mode in all_modes(chosen)] == ["sync", "streamed", "async", "in_flight"]
        assert chosen_mode(chosen).name == kind


def test_only_overlapping_modes_let_tokens_age() -> None:
    ages = {mode.name: mode.max_staleness for mode in all_modes(spec())}
    assert ages == {"sync": 0, "streamed": 0, "async": 1, "in_flight": 4}
