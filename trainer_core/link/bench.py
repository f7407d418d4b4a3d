"""Bench jobs: samples that a worker scores under one or two definitions, and its answer."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, FiniteFloat, model_validator

from trainer_core.link.base import Message
from trainer_core.link.explanation import PartExplanation
from trainer_core.link.judge import JudgeEndpoint
from trainer_core.link.limits import MAX_ERROR_TEXT
from trainer_core.rewards.definition import RewardDefinition

_Head = Annotated[str, AfterValidator(lambda text: text[:MAX_ERROR_TEXT])]
_Tail = Annotated[str, AfterValidator(lambda text: text[-MAX_ERROR_TEXT:])]


class LabelledDefinition(Message):
    """One of the definitions that are compared."""

    label: str
    definition: RewardDefinition


class BenchSample(Message):
    """A completion with its dataset row."""

    id: str | int
    output_text: str
    item: dict[str, Any]
    completion_tokens: int | None = None
    """None where nobody knows."""
    finish_reason: str = "stop"
    probe: str | None = None
    """Kind of the adversarial probe that it is, which changes nothing in its score."""


class ThinkingTags(Message):
    """The tags around thinking."""

    start: str
    end: str
    answer_start: str | None = None
    """Text that opens the answer, where the closing tag alone does not: the final channel's of Harmony."""


class BenchJob(Message):
    """Samples that shall be scored, and the definitions to score them with."""

    id: str
    definitions: tuple[LabelledDefinition, ...]
    samples: tuple[BenchSample, ...]
    thinking: ThinkingTags | None = None
    judges: dict[str, JudgeEndpoint] = {}
    reward_models: dict[str, Path] = {}
    timeout_s: float = 10.0
    """Longest time of one sample."""
    lease_s: float = 60.0
    """The platform believes a worker dead that has not asked for so long."""


class BenchScore(Message):
    """One sample's score. Long texts are cut: of a deep recursion, the traceback's end is what tells."""

    reward: FiniteFloat | None
    """None when a part failed: an error is never a zero."""
    parts: dict[str, FiniteFloat] = {}
    """Grade of each part before its weight."""
    error: _Head | None = None
    traceback: _Tail | None = None
    seconds: Annotated[float, Field(ge=0.0)] = 0.0
    forgiven: tuple[str, ...] = ()
    """Errors that were counted as 0."""
    explanation: dict[str, PartExplanation] = {}
    """Weight and reason of each part that was for the row; empty from workers of before."""

    @model_validator(mode="after")
    def _one_of_two(self) -> "BenchScore":
        if (self.reward is None) == (self.error is None):
            raise ValueError("a score has either a reward or an error")
        return self


class BenchJudge(Message):
    """What the judges were asked in all."""

    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: FiniteFloat | None = None
    seconds_p50: FiniteFloat | None = None
    seconds_p95: FiniteFloat | None = None
    agreement_repeat: FiniteFloat | None = None
    """Share of repeated questions that were answered alike."""
    agreement_swap: FiniteFloat | None = None
    """Share of questions that were answered alike in the other order."""


class BenchResult(Message):
    """Scores in the shape [definitions][samples], or the reason why there are none."""

    results: tuple[tuple[BenchScore, ...], ...] | None = None
    judge: BenchJudge | None = None
    error: Annotated[str, Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> "BenchResult":
        if (self.results is None) == (self.error is None):
            raise ValueError("give either results or error")
        return self
