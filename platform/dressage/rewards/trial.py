"""Quick trial in the web tier: scores pasted samples with pure graders, in bounded time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dressage.rewards.grading import Grading, SpentError, grading
from dressage.teams.models import Team
from trainer_core.link.bench import ThinkingTags
from trainer_core.rewards import RewardDefinition, Sample, split_thinking
from trainer_core.rewards.errors import GraderBug
from trainer_core.rewards.graders.tools import Tools
from trainer_core.rewards.score import Score, score

MAX_SAMPLES = 50
MAX_TEXT = 100_000
DEFAULT_TAGS = {"start": "<think>", "end": "</think>"}
"""Default tags around thoughts."""


@dataclass(frozen=True, slots=True)
class Pasted:
    """A pasted completion to score."""

    output_text: str
    item: Mapping[str, Any]
    completion_tokens: int | None = None
    finish_reason: str = "stop"


def try_out(
    team: Team,
    definition: RewardDefinition,
    samples: Sequence[Pasted],
    thinking: ThinkingTags,
) -> list[Score]:
    """One score per sample. Samples that could not be scored get an error, never a zero.

    Raises:
        Problem: 429 or 503 if too many requests wait for a grading process.
    """
    results = []
    with grading(team) as process:
        for pasted in samples:
            thoughts, answer = split_thinking(pasted.output_text, thinking.start, thinking.end, thinking.answer_start)
            sample = Sample(pasted.output_text, thoughts, answer, pasted.completion_tokens, pasted.finish_reason)
            results.append(_scored(process, definition, sample, pasted.item))
    return results


def _scored(process: Grading, definition: RewardDefinition, sample: Sample, item: Mapping[str, Any]) -> Score:
    try:
        process.check()
        return score(definition, sample, item, Tools(pure=process))
    except (SpentError, GraderBug) as error:
        return Score(reward=None, error=str(error))
