"""A quick try in the web tier: scores pasted samples by pure graders, in bounded time."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainer_core.rewards import RewardDefinition, Sample, split_thinking
from trainer_core.rewards.score import Score, score

MAX_SAMPLES = 50
MAX_TEXT = 100_000
MAX_SECONDS = 5.0
"""Samples whose turn comes later are not scored. A grader bounds its own time besides."""


@dataclass(frozen=True, slots=True)
class Pasted:
    """A completion that someone wants scored."""

    output_text: str
    item: Mapping[str, Any]
    completion_tokens: int | None = None
    finish_reason: str = "stop"


def try_out(
    definition: RewardDefinition,
    samples: Sequence[Pasted],
    *,
    thinking_start: str,
    thinking_end: str,
    max_seconds: float = MAX_SECONDS,
) -> list[Score]:
    """One score per sample; an error, never a zero, for those that could not be scored."""
    deadline = time.monotonic() + max_seconds
    results = []
    for pasted in samples:
        if time.monotonic() >= deadline:
            results.append(Score(reward=None, error=f"not scored: the samples before took {max_seconds:g} s"))
            continue
        thinking, answer = split_thinking(pasted.output_text, thinking_start, thinking_end)
        sample = Sample(pasted.output_text, thinking, answer, pasted.completion_tokens, pasted.finish_reason)
        results.append(score(definition, sample, pasted.item))
    return results
