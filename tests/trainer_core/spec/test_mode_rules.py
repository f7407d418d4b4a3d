"""Modes and rounds: what cannot be combined is refused at the field that is to change."""

from typing import Any

import pytest
from pydantic import ValidationError

from trainer_core.metrics import find
from trainer_core.spec import RunSpec

MINIMAL: dict[str, Any] = {
    "policy": {"base": "starter"},
    "data": {"sources": [{"name": "add", "dataset": "add@1"}]},
    "reward": {"definition": "right@1"},
}
STREAMED = {"type": "streamed"}
TAILS = {"type": "tail_batching"}


def spec(**changes: Any) -> RunSpec:
    return RunSpec.model_validate({**MINIMAL, **changes})


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"rollout": {"mode": STREAMED}, "schedule": {"updates_per_step": 2}}, "rollout.mode", "2 updates per step"),
        ({"rollout": {"mode": STREAMED}, "schedule": {"epochs": 2}}, "rollout.mode", "not in 2 passes over the batch"),
        ({"rollout": {"mode": STREAMED}, "advantage": {"type": "reinforce_pp"}}, "rollout.mode", "the whole batch"),
        ({"rollout": {"mode": STREAMED}, "advantage": {"type": "grpo", "whiten": "batch"}}, "rollout.mode", "batch"),
        ({"rollout": {"mode": STREAMED}, "filters": [{"type": "recomposition"}]}, "rollout.mode", "recomposition"),
        (
            {"rollout": {"mode": {"type": "async"}, "partial": {"over_provision": 1.5}}},
            "rollout.partial.over_provision",
            "async does not stop the engines",
        ),
        (
            {"rollout": {"mode": STREAMED, "partial": {"over_provision": 1.5}}},
            "rollout.partial.over_provision",
            "streamed does not stop the engines",
        ),
        (
            {"rollout": {"partial": {"over_provision": 2.5, "max_continuations": 1}}},
            "rollout.partial.over_provision",
            "at most 2",
        ),
        ({"rollout": {"scheduler": TAILS}}, "rollout.partial.over_provision", "must be above 1"),
        ({"rollout": {"partial": {"token_budget": 100}}}, "rollout.partial.token_budget", "must be above 1"),
        (
            {"rollout": {"partial": {"over_provision": 1.5, "token_budget": 100}, "scheduler": TAILS}},
            "rollout.partial.token_budget",
            "choose fifo",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(changes: dict[str, Any], path: str, words: str) -> None:
    with pytest.raises(ValidationError) as caught:
        spec(**changes)
    found = {".".join(str(part) for part in error["loc"]): error["msg"] for error in caught.value.errors()}
    assert words in found[path]


@pytest.mark.parametrize(
    ("rollout", "staleness", "overlaps", "recomputes"),
    [
        ({}, 0, False, True),
        ({"mode": STREAMED}, 0, False, True),
        ({"mode": {"type": "async", "max_staleness": 8}}, 8, True, True),
        ({"mode": {"type": "async"}, "kv_on_update": "keep"}, 1, True, False),
        ({"mode": {"type": "in_flight"}}, 4, True, False),
        ({"mode": {"type": "in_flight"}, "kv_on_update": "recompute"}, 4, True, True),
        ({"partial": {"over_provision": 2.0, "max_continuations": 3}}, 3, False, True),
        ({"partial": {"over_provision": 2.0}, "scheduler": TAILS}, 0, False, True),
    ],
)
def test_what_follows_from_a_mode(rollout: dict[str, Any], staleness: int, overlaps: bool, recomputes: bool) -> None:
    found = spec(rollout=rollout).rollout
    assert (found.max_staleness, found.overlaps, found.recompute_kv) == (staleness, overlaps, recomputes)


def test_staleness_is_bounded_in_the_spec() -> None:
    for beyond in (0, 65):
        with pytest.raises(ValidationError):
            spec(rollout={"mode": {"type": "async", "max_staleness": beyond}})


def test_the_histogram_of_ages_is_registered() -> None:
    entry = find("staleness/share/3")
    assert entry is not None and entry.unit == "share"
