"""Rules on mixtures: what is refused, where, and in which words."""

from typing import Any

import pytest
from pydantic import ValidationError

from tests.trainer_core.specs import document
from trainer_core.spec import RunSpec


def mixed(finals: dict[str, float], parts: dict[str, Any] | None = None, start: int = 5, end: int = 10) -> RunSpec:
    whole = document(**(parts or {}))
    named = [{"name": name, "weight": weight} for name, weight in finals.items()]
    whole["data"]["transition"] = {"start": start, "end": end, "sources": named}
    return RunSpec.model_validate(whole)


@pytest.mark.parametrize(
    ("finals", "parts", "path", "message"),
    [
        ({"sums": 1.0, "minus": 1.0}, {}, ("data", "transition", "sources", 1, "name"), "there is no source 'minus'"),
        ({"sums": 0.0, "products": 0.0}, {}, ("data", "transition", "sources"), "above zero after the transition"),
        (
            {"sums": 0.0},
            {"schedule": {"steps": 5}},
            ("data", "transition", "start"),
            "the run ends at step 5, before the transition",
        ),
        (
            {"sums": 0.0},
            {"curriculum": {"type": "adaptive_ratio"}},
            ("curriculum", "horizon"),
            "moving weights need a horizon",
        ),
    ],
)
def test_a_mixture_that_makes_no_sense_is_refused(
    finals: dict[str, float], parts: dict[str, Any], path: tuple[str | int, ...], message: str
) -> None:
    with pytest.raises(ValidationError, match=message) as refused:
        mixed(finals, parts)
    assert [error["loc"] for error in refused.value.errors()] == [path]


def test_a_source_is_named_once() -> None:
    whole = document()
    final = {"name": "sums", "weight": 2.0}
    whole["data"]["transition"] = {"start": 5, "end": 10, "sources": [final, final]}
    with pytest.raises(ValidationError, match="the source 'sums' is named twice"):
        RunSpec.model_validate(whole)


def test_what_lies_on_the_edge_is_accepted() -> None:
    mixed({"sums": 0.0}, {"schedule": {"steps": 6}, "curriculum": {"type": "adaptive_ratio", "horizon": 1}})


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"curriculum": {"type": "goldilocks", "min_pass_rate": 0.9, "max_pass_rate": 0.1}}, "must not be above"),
        ({"curriculum": {"type": "goldilocks", "columns": []}}, "at least 1 item"),
        ({"curriculum": {"type": "difficulty_target", "temperature": 0.0}}, "greater than 0"),
        ({"curriculum": {"type": "adaptive_ratio", "min_adjustment": 1.5}}, "less than or equal to 1"),
        (
            {"batching": {"allocation": {"type": "uncertainty", "min_samples": 9, "max_samples": 8}}},
            "must not be above",
        ),
    ],
)
def test_a_part_that_makes_no_sense_is_refused(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        RunSpec.model_validate(document(**parts))


@pytest.mark.parametrize(
    ("parts", "path", "message"),
    [
        (
            {
                "advantage": {"type": "mc_grpo"},
                "batching": {"allocation": {"type": "dars"}},
                "rollout": {"group_size": 9},
            },
            ("batching", "allocation"),
            "mc_grpo needs an odd number of samples in every group",
        ),
        (
            {"advantage": {"type": "pass_k", "k": 4}, "batching": {"allocation": {"type": "uncertainty"}}},
            ("batching", "allocation", "min_samples"),
            "a group of 2 has no sets of 4 samples",
        ),
    ],
)
def test_group_sizes_that_an_advantage_cannot_use_are_refused(
    parts: dict[str, Any], path: tuple[str, ...], message: str
) -> None:
    with pytest.raises(ValidationError, match=message) as refused:
        RunSpec.model_validate(document(**parts))
    assert [error["loc"] for error in refused.value.errors()] == [path]


def test_a_transition_takes_time() -> None:
    with pytest.raises(ValidationError, match="must end after it starts"):
        mixed({"sums": 0.0}, start=5, end=5)
