"""A bench job as the platform hands it out, and its result."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from trainer_core.rewards import RewardDefinition, Sample, split_thinking
from worker.judge.config import JudgeEndpoint
from worker.judge.use import Use, mean
from worker.scoring.scorer import Graded

MOST_TEXT = 10_000
"""Characters of an error or a traceback: of a deep recursion, the end is what tells."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Labelled(_Part):
    """One of the definitions that are compared."""

    label: str
    definition: RewardDefinition


class BenchSample(_Part):
    """A completion with its dataset row."""

    id: str | int
    output_text: str
    item: dict[str, Any]
    completion_tokens: int | None = None
    """None where nobody knows."""
    finish_reason: str = "stop"

    def sample(self, thinking: "Tags | None") -> Sample:
        """What graders see of it."""
        thoughts, answer = None, self.output_text
        if thinking is not None:
            thoughts, answer = split_thinking(self.output_text, thinking.start, thinking.end)
        return Sample(self.output_text, thoughts, answer, self.completion_tokens, self.finish_reason)


class Tags(_Part):
    """The tags around thinking."""

    start: str
    end: str


class BenchJob(_Part):
    """What shall be scored, and with what."""

    id: str
    definitions: tuple[Labelled, ...]
    samples: tuple[BenchSample, ...]
    thinking: Tags | None = None
    judges: dict[str, JudgeEndpoint] = {}
    reward_models: dict[str, Path] = {}
    timeout_s: float = 10.0
    """Longest time of one sample."""
    lease_s: float = 60.0
    """The platform believes a worker dead that has not asked for so long."""


def result_document(rows: list[list[Graded]], use: Use) -> dict[str, Any]:
    """The result: scores in the shape [definitions][samples], and what the judges were asked in all."""
    return {
        "results": [[_score(graded) for graded in row] for row in rows],
        "judge": {
            "calls": use.calls,
            "cached": use.cached,
            "prompt_tokens": use.prompt_tokens,
            "completion_tokens": use.completion_tokens,
            "cost": use.known_cost if use.calls else None,
            "seconds_p50": use.quantile(0.5),
            "seconds_p95": use.quantile(0.95),
            "agreement_repeat": mean(use.repeat),
            "agreement_swap": mean(use.swap),
        },
    }


def _score(graded: Graded) -> dict[str, Any]:
    score = graded.score
    return {
        "reward": score.reward,
        "parts": score.parts,
        "error": score.error and score.error[:MOST_TEXT],
        "traceback": graded.traceback and graded.traceback[-MOST_TEXT:],
        "seconds": graded.seconds,
        "forgiven": list(score.forgiven),
    }
