"""Rules on lengths: what is refused, where, and in which words."""

from typing import Any

import pytest
from pydantic import ValidationError

from tests.trainer_core.specs import spec
from trainer_core.spec import targets

TAGS = {"type": "tags"}
CHANNELS = {
    **TAGS,
    "start": "<|channel|>analysis<|message|>",
    "end": "<|end|>",
    "answer_start": "<|channel|>final<|message|>",
}
TARGET = {"type": "sampled", "min": 1, "max": 100, "tell": " {tokens}"}


def reward(**length: Any) -> dict[str, Any]:
    return {"reward": {"definition": "r@1", "length": length}}


REFUSED: dict[str, tuple[dict[str, Any], tuple[str | int, ...], str]] = {
    "two ways to end": (
        {"thinking": {**TAGS, "budget": 5, "forced_end": "</think>", "interruptions": ["stop</think>"]}},
        ("thinking", "forced_end"),
        "remove one of the two",
    ),
    "interruption without the closing tag": (
        {"thinking": {**TAGS, "budget": 5, "interruptions": ["</think>", "stop"]}},
        ("thinking", "interruptions", 1),
        "must end with the closing tag '</think>'",
    ),
    "interruptions that never come": (
        {"thinking": {**TAGS, "interruptions": ["</think>"]}},
        ("thinking", "interruptions"),
        "nothing is ever interrupted",
    ),
    "channels without a forced end": (
        {"thinking": {**CHANNELS, "budget": 5}},
        ("thinking", "forced_end"),
        "must contain '<|end|>' and end with '<|channel|>final<|message|>'",
    ),
    "interruption that opens no answer": (
        {"thinking": {**CHANNELS, "budget": 5, "interruptions": ["stop<|end|>"]}},
        ("thinking", "interruptions", 0),
        "must contain '<|end|>' and end with '<|channel|>final<|message|>'",
    ),
    "prompt budget that never bites": (
        {"thinking": {**TAGS, "prompt_budget": {"type": "sampled", "min": 1, "max": 128}}},
        ("thinking", "prompt_budget", "max"),
        "a budget of 128 never applies: max_tokens is 128",
    ),
    "prompt budget above its limit": (
        {"thinking": {**TAGS, "budget": 4, "prompt_budget": {"type": "sampled", "min": 5, "max": 9}}},
        ("thinking", "prompt_budget", "min"),
        "every budget of the range is above the upper limit of 4",
    ),
    "ramp without room": (
        reward(type="magistral", buffer=128),
        ("reward", "length", "buffer"),
        r"the buffer \(128\) must be shorter than max_tokens \(128\)",
    ),
    "two ramps": (
        {
            "reward": {
                "definition": "r@1",
                "overlong": {"buffer": 8},
                "length": {"type": "difficulty_aware", "buffer": 8},
            }
        },
        ("reward", "overlong"),
        "difficulty_aware penalises the same ramp",
    ),
    "target out of reach": (
        reward(type="l1_exact", target={**TARGET, "max": 129}),
        ("reward", "length", "target", "max"),
        "a target of 129 cannot be reached: max_tokens is 128",
    ),
    "target that is not told": (
        reward(type="l1_max", target={"type": "column"}),
        ("reward", "length", "target", "tell"),
        "does not see the target",
    ),
    "weights for advantages of tokens": (
        {"advantage": {"type": "gae"}, "critic": {"type": "head"}, **reward(type="decoupled")},
        ("reward", "length"),
        "decoupled weights advantages of samples; gae has one per token",
    ),
    "stage above the maximum": (
        {"length_window": {"type": "staged", "stages": [64, 129]}},
        ("length_window", "stages", 1),
        r"the last stage \(129\) must not be above max_tokens \(128\)",
    ),
    "cycle above the maximum": (
        {"length_window": {"type": "cyclic", "min": 64, "max": 129}},
        ("length_window", "max"),
        r"the widest window \(129\)",
    ),
    "window narrower than the ramp": (
        {"length_window": {"type": "cyclic", "min": 20, "max": 128}, **reward(type="magistral", buffer=20)},
        ("reward", "length", "buffer"),
        r"shorter than the narrowest window \(20\)",
    ),
    "stage narrower than the overlong ramp": (
        {
            "length_window": {"type": "staged", "stages": [20, 128]},
            "reward": {"definition": "r@1", "overlong": {"buffer": 20}},
        },
        ("reward", "overlong", "buffer"),
        r"shorter than the narrowest window \(20\)",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_contradiction_is_refused_at_its_field(name: str) -> None:
    parts, path, message = REFUSED[name]
    with pytest.raises(ValidationError, match=message) as refused:
        spec(**parts)
    assert [error["loc"] for error in refused.value.errors()] == [path]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"length_window": {"type": "staged", "stages": [64, 64]}}, "must be positive and increasing"),
        ({"length_window": {"type": "staged", "stages": [0, 64]}}, "must be positive and increasing"),
        ({"length_window": {"type": "cyclic", "min": 9, "max": 8}}, "min must not be above max"),
        ({"thinking": {**TAGS, "prompt_budget": {"type": "sampled", "min": 9, "max": 8}}}, "min must not be above max"),
        (reward(type="l1_max", target={**TARGET, "tell": "think"}), "must contain {tokens} exactly once"),
        (reward(type="l1_max", target={**TARGET, "tell": "{tokens} {tokens}"}), "must contain {tokens} exactly once"),
        ({"prompting": {"hints": {"text": "hint"}}}, "must contain {hint} exactly once"),
        ({"prompting": {"hints": {"first_share": 0.5, "max_share": 0.4}}}, "first_share must not be above max_share"),
        ({"prompting": {"nudges": {"source": {"type": "listed", "strategies": []}}}}, "at least 1 item"),
        (
            {"prompting": {"nudges": {"source": {"type": "column"}, "text": "x"}}},
            "must contain {strategy} exactly once",
        ),
        (reward(type="shorter"), "'magistral', 'l1_exact'"),
    ],
)
def test_a_part_that_makes_no_sense_is_refused(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        spec(**parts)


def test_what_lies_on_the_edge_is_accepted() -> None:
    spec(
        thinking={**TAGS, "interruptions": ["</think>"], "prompt_budget": {"type": "sampled", "min": 4, "max": 127}},
        length_window={"type": "cyclic", "min": 21, "max": 128},
        **reward(type="magistral", buffer=20),
    )
    spec(**reward(type="l1_exact", target={**TARGET, "max": 128}))
    spec(length_window={"type": "staged", "stages": [1, 128]})


def test_knobs_of_length_are_steerable() -> None:
    chosen = spec(
        thinking={**TAGS, "prompt_budget": {"type": "sampled", "min": 4, "max": 9}},
        length_window={"type": "cyclic", "min": 64, "max": 128},
        **reward(type="l1_max", target=TARGET),
    )
    paths = {target.path for target in targets(chosen)}
    assert paths >= {
        "thinking.prompt_budget.min",
        "thinking.prompt_budget.max",
        "length_window.min",
        "length_window.max",
        "reward.length.alpha",
        "reward.length.delta",
        "reward.length.target.min",
        "reward.length.target.max",
    }
