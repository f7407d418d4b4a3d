"""What is wrong with a batch, in figures: each finding beside a batch that only comes near it."""

from collections.abc import Sequence

import numpy as np
import pytest

from trainer_core.episodes import FinishReason, Group, Trajectory, Verdict
from trainer_core.rewards import RewardDefinition
from trainer_core.rewards.answers import Finding, findings, group_facts, readings
from trainer_core.spec.generation.thinking import NoThinking, TaggedThinking, Thinking

MATH = RewardDefinition.model_validate(
    {"components": [{"name": "right", "grader": {"type": "math", "extraction": "boxed"}}]}
)
TAGS = TaggedThinking(start="<think>", end="</think>")


def answer(text: str, reward: float | None, finish: FinishReason = "stop", thinking_tokens: int = 0) -> Trajectory:
    return Trajectory(
        trajectory_id="t",
        prompt_ids=np.zeros(1, np.int32),
        token_ids=np.zeros(1, np.int32),
        behaviour_logprobs=np.zeros(1, np.float32),
        versions=np.zeros(1, np.int32),
        sampled=np.ones(1, np.bool_),
        finish_reason=finish,
        temperature=1.0,
        thinking_tokens=thinking_tokens,
        output_text=text,
        verdict=Verdict(reward=reward, error=None if reward is not None else "right: broken"),
    )


def found(groups: Sequence[Sequence[Trajectory]], thinking: Thinking = TAGS) -> list[Finding]:
    """Findings of these groups, each of a prompt of its own."""
    places = readings(MATH)
    made = [
        Group(f"1-{number}", f"s:{number}", "s", "s@1", {}, "", 0, list(samples))
        for number, samples in enumerate(groups)
    ]
    return findings([group_facts(group, thinking, places) for group in made], places, 64)


def kinds(groups: Sequence[Sequence[Trajectory]], thinking: Thinking = TAGS) -> list[str]:
    return [finding.kind for finding in found(groups, thinking)]


def right(number: int) -> Trajectory:
    return answer(f"\\boxed{{{number}}}", 1.0)


def wrong(number: int) -> Trajectory:
    return answer(f"\\boxed{{-{number}}}", 0.0)


HEALTHY = [[right(n), wrong(n), right(n), wrong(n)] for n in range(4)]


def test_a_healthy_batch_has_no_findings() -> None:
    assert found(HEALTHY) == []


def test_too_few_answers_say_nothing() -> None:
    assert found([[answer("", 0.0)] * 7]) == []


def test_answers_that_mostly_lack_the_box_although_some_are_paid() -> None:
    groups = [[answer(f"It is {n * 10 + k}.", 0.0) for k in range(8)] for n in range(8)]
    groups[0][:2] = [right(1), wrong(2)]
    [finding] = found(groups)
    assert (finding.kind, finding.message) == (
        "no_place",
        "2 of 64 answers hold a \\boxed{}, 64 end in a number. The part “right” of the reward reads the \\boxed{}.",
    )
    groups[1][:5] = [right(3), wrong(4), right(5), wrong(6), right(7)]
    assert found(groups) == []


def test_answers_without_the_box_that_the_reward_reads() -> None:
    groups = [[answer(f"It is {n * 10 + k}.", 0.0) for k in range(8)] for n in range(40)]
    groups[0] = [answer("I do not know", 0.0) for _ in range(8)]
    constant, silent = found(groups)
    assert (constant.kind, silent.kind) == ("constant_reward", "no_signal")
    assert constant.message == (
        "All 320 rewards are 0. 0 of 320 answers hold a \\boxed{}, 312 end in a number. The part “right” of the reward "
        "reads the \\boxed{}."
    )
    assert silent.message.startswith("In each of 40 groups all rewards are equal. 0 of 320 answers hold a \\boxed{}")
    assert "last_number" in silent.advice


def test_answers_that_have_the_box_are_too_hard_or_too_easy() -> None:
    [constant, silent] = found([[wrong(n)] * 4 for n in range(4)])
    assert constant.message == "All 16 rewards are 0. 16 of 16 answers hold a \\boxed{}."
    assert "references" in silent.advice
    [constant, silent] = found([[right(n)] * 4 for n in range(4)])
    assert constant.message.startswith("All 16 rewards are 1.")
    assert constant.advice == silent.advice == "The prompts are too easy for the policy: take harder ones."


def test_groups_without_a_signal_under_rewards_that_differ() -> None:
    groups = [[right(n)] * 4 if n % 2 else [wrong(n)] * 4 for n in range(4)]
    assert kinds(groups) == ["no_signal"]
    groups[0][0] = right(9)
    assert kinds([[right(9), *groups[0][1:]], *groups[1:]]) == []


def test_rewards_that_failed_are_no_constant_reward() -> None:
    assert kinds([[answer("\\boxed{1}", None), answer("\\boxed{2}", None)] * 4] * 2) == []


def test_all_answers_are_cut() -> None:
    groups = [[answer(f"\\boxed{{{n}}}", float(k), "length") for k in range(2)] * 5 for n in range(4)]
    [finding] = found(groups)
    assert (finding.kind, finding.share) == ("all_cut", 1.0)
    assert finding.message == "40 of 40 answers are cut at max_tokens = 64 before they end by themselves."
    nearly = [[*group[:-1], right(1)] for group in groups]  # 90 %
    assert kinds(nearly) == []


def test_thinking_that_is_never_closed() -> None:
    groups = [[answer(f"<think>{n}", float(k), "length") for k in range(2)] + [right(n)] * 2 for n in range(4)]
    [finding] = found(groups)
    assert (finding.kind, finding.share) == ("thinking_open", 1.0)
    assert finding.message == "8 of 8 answers that think never close their thinking; 8 of them are cut."
    closed = [[answer(f"<think>{n}</think>\\boxed{{{n}}}", float(k)) for k in range(2)] * 2 for n in range(4)]
    assert kinds(closed) == []
    assert kinds(groups, NoThinking()) == [], "who does not think closes nothing"


def test_thinking_that_the_prompt_has_opened() -> None:
    opened = [[answer(f"let me see {n}", float(k), thinking_tokens=3) for k in range(2)] * 2 for n in range(4)]
    assert kinds(opened) == ["thinking_open"]
    answered = [
        [answer(f"{n}</think>\\boxed{{1}}", float(k), thinking_tokens=3) for k in range(2)] * 2 for n in range(4)
    ]
    assert "thinking_open" not in kinds(answered)


def test_open_thinking_is_the_cause_where_no_group_has_a_signal() -> None:
    groups = [[answer(f"<think>{n}{k}", 0.0, "length") for k in range(4)] for n in range(4)]
    told = {finding.kind: finding for finding in found(groups)}
    assert list(told) == ["all_cut", "thinking_open", "constant_reward", "no_signal"]
    assert told["no_signal"].message.endswith(
        "0 of 16 answers hold a \\boxed{}, 16 are empty: 16 never close their thinking."
    )
    assert "thinking.budget" in told["no_signal"].advice


@pytest.mark.parametrize(("empty", "expected"), [(8, ["empty_answers"]), (7, [])])
def test_empty_answers(empty: int, expected: list[str]) -> None:
    texts = [""] * empty + [f"\\boxed{{{n}}}" for n in range(16 - empty)]
    answers = [answer(text, float(place % 2)) for place, text in enumerate(texts)]
    assert kinds([answers[::2] + answers[1::2]]) == expected


def test_the_same_answer_for_every_prompt() -> None:
    same = [[answer("I cannot  help\nwith that.", float(k)) for k in range(4)] for _ in range(4)]
    [finding] = found(same)
    assert finding.message == "16 of 16 answers to 4 prompts are the same text."
    assert kinds([same[0] * 4]) == ["no_place"], "one prompt may have one answer"
    assert kinds([*same[:3], HEALTHY[0]]) == []
