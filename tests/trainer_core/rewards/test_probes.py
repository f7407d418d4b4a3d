"""Adversarial probes."""

import pytest

from trainer_core.rewards import RewardDefinition, Sample, split_thinking
from trainer_core.rewards.probes import VERY_LONG_CHARACTERS, gold_text, meaning, probes, prompt_text
from trainer_core.rewards.score import score

ITEM = {"prompt": "What is 6·7?", "answer": 42}


def test_one_of_each_kind() -> None:
    made = {probe.kind: probe for probe in probes(ITEM, "[t]", "[/t]")}
    assert list(made) == ["empty", "very_long", "format_only", "gold_echoed", "prompt_repeated"]
    assert (made["empty"].output_text, made["empty"].completion_tokens) == ("", 0)
    assert len(made["very_long"].output_text) == VERY_LONG_CHARACTERS
    assert made["very_long"].completion_tokens == VERY_LONG_CHARACTERS // 4
    assert made["format_only"].output_text == "[t]\n[/t]\n\n\\boxed{}"
    assert made["gold_echoed"].output_text == "42"
    assert made["prompt_repeated"].output_text.count("What is 6·7?") == 3
    assert all(meaning(kind) for kind in made)


def test_a_row_without_texts() -> None:
    assert [probe.kind for probe in probes({}, "<t>", "</t>")] == ["empty", "very_long", "format_only"]


@pytest.mark.parametrize(
    ("item", "gold"),
    [
        ({"answer": "a", "solution": "b"}, "a"),
        ({"answer": None, "solution": "b"}, "b"),
        ({"answer": ["x", "y"]}, "x"),
        ({"answer": []}, None),
        ({"answer": 0}, "0"),
        ({"answer": True}, None),
        ({"answer": {"a": 1}, "canonical_solution": "    return 1\n"}, "    return 1\n"),
        ({"answer": "  "}, None),
    ],
)
def test_gold(item: dict[str, object], gold: str | None) -> None:
    assert gold_text(item) == gold


def test_prompts() -> None:
    assert prompt_text({"prompt": "p"}) == "p"
    messages = [{"role": "user", "content": "first"}, {"role": "user", "content": "last"}, {"role": "x"}, "odd"]
    assert prompt_text({"messages": messages}) == "last"
    assert prompt_text({"messages": "odd"}) is None


def test_an_honest_reward_pays_for_no_probe() -> None:
    grader = {"type": "math", "extraction": "boxed"}
    definition = RewardDefinition.model_validate({"components": [{"name": "right", "grader": grader}]})
    for probe in probes(ITEM, "<think>", "</think>"):
        thinking, answer = split_thinking(probe.output_text, "<think>", "</think>")
        sample = Sample(probe.output_text, thinking, answer, probe.completion_tokens)
        assert score(definition, sample, ITEM).reward == 0.0
