"""A quick try in the web tier: scores pasted samples by pure graders, in bounded time."""

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
"""Tags around thoughts where nobody has named any."""


@dataclass(frozen=True, slots=True)
class Pasted:
    """A completion that someone wants scored."""

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
    """One score per sample; an error, never a zero, for those that could not be scored.

    Raises:
        Problem: 429 or 503 where too many wait for a process to grade in.
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
