"""However many ask a judge for one run, together they keep to the places of its endpoint."""

import pytest

from trainer_core.link.judge import JudgeEndpoint
from worker.judge.open import JudgeSetup


def setup(places: int) -> JudgeSetup:
    endpoints = {slug: JudgeEndpoint(base_url="http://judge/v1", model=slug, max_in_flight=places) for slug in "ab"}
    return JudgeSetup(endpoints, {})


@pytest.mark.parametrize(("places", "left", "lent"), [(64, 56, 8), (32, 24, 8), (16, 12, 4), (2, 1, 1), (1, 1, 1)])
def test_places_are_lent_for_asks_beside_the_rewards(places: int, left: int, lent: int) -> None:
    rewards, beside = setup(places).lend("a", 8)
    assert {slug: one.max_in_flight for slug, one in rewards.endpoints.items()} == {"a": left, "b": places}
    assert {slug: one.max_in_flight for slug, one in beside.endpoints.items()} == {"a": lent}


def test_processes_share_what_is_left() -> None:
    rewards, _ = setup(32).lend("a", 8)
    assert {slug: one.max_in_flight for slug, one in rewards.shared(3).endpoints.items()} == {"a": 8, "b": 10}
