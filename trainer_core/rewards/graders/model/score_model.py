"""OpenAI's ``score_model``: a judge gives a number."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import field_validator

from trainer_core.rewards.grader_model import GraderModel, Tool
from trainer_core.rewards.graders.model.eval_messages import EvalMessage, rendered, template_texts
from trainer_core.rewards.graders.model.judge import (
    ENDPOINT_PATTERN,
    JudgeRequest,
    Judges,
    ask_readable,
    read_json,
    schema_format,
    with_instruction,
)
from trainer_core.rewards.graders.template import NoJsonError, item_columns
from trainer_core.rewards.reasons import tell
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import SpecModel, field


class SamplingParams(SpecModel):
    """How the judge samples. What is null is left to the endpoint."""

    temperature: float | None = field(None, ge=0.0, le=2.0)
    """Spread of its answers."""
    top_p: float | None = field(None, gt=0.0, le=1.0)
    """Nucleus of its answers."""
    seed: int | None = field(None)
    """Seed, where the endpoint takes one."""
    max_completions_tokens: int | None = field(None, ge=1, le=65_536, unit="tokens")
    """Longest answer; 1024 if null."""
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = None
    """How long a reasoning model thinks."""


class ScoreModelGrader(GraderModel):
    """The judge's number."""

    tool: ClassVar[Tool | None] = "judges"
    type: Literal["score_model"] = "score_model"
    name: str = field("", max_length=200)
    """Label of the grader; has no effect."""
    model: str = field("", max_length=200)
    """Has no effect: the endpoint's own model is asked."""
    endpoint: str = field("default", pattern=ENDPOINT_PATTERN)
    """The team's judge endpoint."""
    input: tuple[EvalMessage, ...] = field(min_length=1, max_length=32)
    """Messages to the judge."""
    range: tuple[float, float] = (0.0, 1.0)
    """Least and greatest number; the grade is not rescaled."""
    sampling_params: SamplingParams = SamplingParams()
    """How the judge samples."""

    @field_validator("range")
    @classmethod
    def _range_has_an_extent(cls, bounds: tuple[float, float]) -> tuple[float, float]:
        if not bounds[0] < bounds[1]:
            raise ValueError("the first bound must be below the second")
        return bounds

    @property
    def row_columns(self) -> tuple[str, ...]:
        """Columns that the messages' templates read."""
        return item_columns(template_texts(self.input))

    def grade(self, sample: Sample, item: Mapping[str, Any], judges: Judges | None = None) -> float:
        """A number of the range; output that is not the JSON that a template reads is the lowest.

        Raises:
            JudgeError: there is no judge, it fails, or gives no number of the range.
        """
        low, high = self.range
        try:
            messages = rendered(self.input, sample, item)
        except NoJsonError:
            tell("The output is not the JSON that the template reads.")
            return low
        schema = _schema(low, high)
        instruction = (
            "Answer with one JSON object and nothing else: "
            f'{{"reason": "why, in a sentence", "result": a number from {low:g} to {high:g}}}.'
        )
        sampling = self.sampling_params
        request = JudgeRequest(
            messages=with_instruction(messages, instruction),
            temperature=sampling.temperature,
            max_tokens=sampling.max_completions_tokens or 1024,
            seed=sampling.seed,
            response_format=schema_format(schema),
            top_p=sampling.top_p,
            reasoning_effort=sampling.reasoning_effort,
        )
        [verdict] = ask_readable(judges, self.endpoint, [request], lambda text: read_json(text, schema))
        tell(f"The judge gives {verdict['result']:g}: {verdict['reason']}")
        return float(verdict["result"])


def _schema(low: float, high: float) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"reason": {"type": "string"}, "result": {"type": "number", "minimum": low, "maximum": high}},
        "required": ["reason", "result"],
        "additionalProperties": False,
    }
