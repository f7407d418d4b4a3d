"""OpenAI's ``label_model``: a judge gives one of several labels."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import model_validator

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
from trainer_core.rewards.reasons import quoted, tell
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import field


class LabelModelGrader(GraderModel):
    """1 if the judge's label is a passing one, else 0."""

    tool: ClassVar[Tool | None] = "judges"
    type: Literal["label_model"] = "label_model"
    name: str = field("", max_length=200)
    """Label of the grader; has no effect."""
    model: str = field("", max_length=200)
    """Has no effect: the endpoint's own model is asked."""
    endpoint: str = field("default", pattern=ENDPOINT_PATTERN)
    """The team's judge endpoint."""
    input: tuple[EvalMessage, ...] = field(min_length=1, max_length=32)
    """Messages to the judge."""
    labels: tuple[str, ...] = field(min_length=1, max_length=64)
    """What it may answer."""
    passing_labels: tuple[str, ...] = field(min_length=1, max_length=64)
    """Those that are worth 1."""
    max_tokens: int = field(1024, ge=1, le=65_536, unit="tokens")
    """Longest answer."""

    @model_validator(mode="after")
    def _passing_labels_are_labels(self) -> "LabelModelGrader":
        unknown = [label for label in self.passing_labels if label not in self.labels]
        if unknown:
            raise ValueError(f"the passing label {unknown[0]!r} is none of the labels")
        return self

    @property
    def row_columns(self) -> tuple[str, ...]:
        """Columns that the messages' templates read."""
        return item_columns(template_texts(self.input))

    def grade(self, sample: Sample, item: Mapping[str, Any], judges: Judges | None = None) -> float:
        """1.0 or 0.0; output that is not the JSON that a template reads is 0.0.

        Raises:
            JudgeError: there is no judge, it fails, or gives none of the labels.
        """
        try:
            messages = rendered(self.input, sample, item)
        except NoJsonError:
            tell("The output is not the JSON that the template reads.")
            return 0.0
        schema = _schema(self.labels)
        instruction = (
            "Answer with one JSON object and nothing else: "
            f'{{"reason": "why, in a sentence", "result": one of {", ".join(map(repr, self.labels))}}}.'
        )
        request = JudgeRequest(
            messages=with_instruction(messages, instruction),
            max_tokens=self.max_tokens,
            response_format=schema_format(schema),
        )
        [verdict] = ask_readable(judges, self.endpoint, [request], lambda text: read_json(text, schema))
        tell(f"The judge says {quoted(verdict['result'])}: {verdict['reason']}")
        return float(verdict["result"] in self.passing_labels)


def _schema(labels: tuple[str, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"reason": {"type": "string"}, "result": {"type": "string", "enum": list(labels)}},
        "required": ["reason", "result"],
        "additionalProperties": False,
    }
