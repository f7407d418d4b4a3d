"""Facts of answers, as far as a batch's diagnosis looks at them."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

from trainer_core.episodes import Group, Trajectory
from trainer_core.rewards.answers.marks import Mark, marks
from trainer_core.rewards.answers.reading import Reading
from trainer_core.rewards.outcomes import graded_reward
from trainer_core.rewards.sample import split_thinking
from trainer_core.spec.generation.thinking import TaggedThinking, Thinking


@dataclass(frozen=True, slots=True)
class AnswerFacts:
    """Facts of one answer. Small: those of several steps are kept."""

    marks: frozenset[Mark]
    """Marks of the answer, its thinking left out."""
    read: frozenset[str]
    """Components of the reward that have found the place that they read."""
    thinking: Literal["none", "closed", "open"]
    """Whether it thinks, and has ended its thinking."""
    cut: bool
    """Whether it ended at the limit of its length."""
    reward: float | None
    """The reward as the definition gave it; None where it failed."""
    digest: bytes
    """Digest of the answer's text, white space aside: equal answers have equal ones."""


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """Facts of the samples of one prompt."""

    prompt_id: str
    answers: tuple[AnswerFacts, ...]

    @property
    def rewards(self) -> list[float]:
        """The rewards that could be computed."""
        return [answer.reward for answer in self.answers if answer.reward is not None]

    @property
    def has_signal(self) -> bool:
        """Whether rewards differ."""
        return len(set(self.rewards)) > 1


def group_facts(group: Group, thinking: Thinking, places: Sequence[Reading]) -> GroupFacts:
    """The facts of a scored group; samples that were given up halfway are left out.

    Args:
        group: the group with its texts and rewards.
        thinking: how the policy thinks, by the run's spec.
        places: the places that the reward reads.
    """
    kept = [t for t in group.trajectories if t.finish_reason != "pruned"]
    return GroupFacts(group.prompt_id, tuple(_answer(t, thinking, places) for t in kept))


def _answer(trajectory: Trajectory, thinking: Thinking, places: Sequence[Reading]) -> AnswerFacts:
    text = answer_text(trajectory.output_text, thinking)
    return AnswerFacts(
        marks=marks(text),
        read=frozenset(place.component for place in places if place.find(text) is not None),
        thinking=_thinking(trajectory, thinking),
        cut=trajectory.finish_reason == "length",
        reward=None if trajectory.reward is None else graded_reward(trajectory),
        digest=blake2b(" ".join(text.split()).encode(errors="replace"), digest_size=8).digest(),
    )


def answer_text(text: str, thinking: Thinking) -> str:
    """The completion without its thinking, as graders see it."""
    if not isinstance(thinking, TaggedThinking):
        return text.strip()
    return split_thinking(text, thinking.start, thinking.end, thinking.answer_start)[1]


def _thinking(trajectory: Trajectory, thinking: Thinking) -> Literal["none", "closed", "open"]:
    if not isinstance(thinking, TaggedThinking):
        return "none"
    text = trajectory.output_text
    if thinking.end in text:
        return "closed"
    return "open" if thinking.start in text or trajectory.thinking_tokens > 0 else "none"
