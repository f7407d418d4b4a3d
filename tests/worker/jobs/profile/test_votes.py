"""Votes by the reward's own graders: what counts as an answer against the gold, and what does not."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest

from tests.trainer_core.batches import trajectory
from trainer_core.episodes import Trajectory, Verdict
from trainer_core.profiling import WrongAnswer
from trainer_core.rewards import RewardDefinition
from trainer_core.rewards.score import Sample, Score, score, split_thinking
from trainer_core.spec.generation.thinking import TaggedThinking
from worker.jobs.profile.votes import Ballot, VoteReader

THINKING = TaggedThinking()
MATH = {"type": "math", "extraction": "boxed"}
FORMAT = {"type": "magistral_format"}
PARTS = {"components": [{"name": "right", "grader": MATH}, {"name": "format", "grader": FORMAT}]}
GATED = {"type": "composite", "how": "gate", "parts": [{"grader": FORMAT}, {"grader": MATH}]}
SUM = {"type": "composite", "how": "sum", "parts": [{"grader": MATH}, {"grader": FORMAT}]}


def count(definition: dict[str, Any], threshold: float, *texts: str, gold: str = "18") -> tuple[WrongAnswer, ...]:
    """The wrong answers of a row's samples."""
    reward = RewardDefinition.model_validate(definition)

    def scored(one: Trajectory, item: Mapping[str, Any]) -> Score:
        thinking, answer = split_thinking(one.output_text, THINKING.start, THINKING.end)
        return score(reward, Sample(one.output_text, thinking, answer, one.length), item)

    def regrade(
        ones: Sequence[Trajectory], items: Sequence[Mapping[str, Any]], tickets: Sequence[Any]
    ) -> Future[list[Score]]:
        assert len(ones) == len(items) == len(tickets)
        done: Future[list[Score]] = Future()
        done.set_result([scored(one, item) for one, item in zip(ones, items, strict=True)])
        return done

    item = {"prompt": "9 + 9?", "answer": gold}
    answers = [trajectory(output_text=text) for text in texts]
    for one in answers:
        found = scored(one, item)
        one.verdict = Verdict(found.reward, found.parts, error=found.error)
    ballot = Ballot(SimpleNamespace(group=SimpleNamespace(item=item, trajectories=answers)), ())  # type: ignore[arg-type]
    VoteReader(reward, THINKING, regrade, threshold).count([ballot])
    return ballot.answers


def answers(*says: str, thinks: bool = True) -> list[str]:
    return [("<think>Let me add.</think> " if thinks else "") + f"It is \\boxed{{{one}}}." for one in says]


@pytest.mark.parametrize("reward", [PARTS, {"components": [{"name": "right", "grader": SUM}]}])
def test_a_right_answer_without_its_format_is_no_vote_against_the_gold(reward: dict[str, Any]) -> None:
    says = ["18"] * 6 + ["18.0", "\\frac{36}{2}"]
    assert count(reward, 2.0, *answers(*says, thinks=False)) == ()


@pytest.mark.parametrize("reward", [PARTS, {"components": [{"name": "right", "grader": SUM}]}])
def test_wrong_answers_are_joined_whatever_their_format(reward: dict[str, Any]) -> None:
    texts = answers("19", "19.0", "\\frac{38}{2}", thinks=False) + answers("19", "20", "18")
    assert count(reward, 2.0, *texts) == (WrongAnswer("19", 4), WrongAnswer("20", 1))


def test_behind_a_closed_gate_nothing_is_known() -> None:
    gated = {"components": [{"name": "right", "grader": GATED}]}
    assert count(gated, 1.0, *answers("18", "19", thinks=False)) == ()
    assert count(gated, 1.0, *answers("19", "19.0", "18")) == (WrongAnswer("19", 2),)


def test_what_counts_as_right_gives_no_vote_and_what_has_no_place_neither() -> None:
    assert count(PARTS, 1.0, *answers("19", "20")) == (), "one part is enough for this threshold"
    assert count(PARTS, 2.0, "I do not know.", "<think>18</think> 18") == ()


def test_a_part_that_is_not_for_the_row_gives_no_vote() -> None:
    reward = {
        "components": [{"name": "right", "grader": MATH, "row_field": "exam"}, {"name": "form", "grader": FORMAT}]
    }
    assert count(reward, 2.0, *answers("19", "19")) == ()
