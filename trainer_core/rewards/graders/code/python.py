"""OpenAI's ``python`` grader: a team's own ``grade(sample, item)``, run in the jail."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import field_validator

from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.grader_model import GraderModel, Tool
from trainer_core.rewards.graders.jail import Jail, Limits, require
from trainer_core.rewards.reasons import cut, tell
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import field
from trainer_core.spec.untrusted import python_fault, refuse_if

ENDS = {
    "cpu": "took longer than its time-out",
    "wall": "took longer than its time-out",
    "memory": "used too much memory",
    "output": "wrote too much",
}


_PRINTED_BYTES = 4000
"""Bytes of what a grader prints that are read as its reason."""


class PythonGrader(GraderModel):
    """The number that ``grade(sample: dict, item: dict) -> float`` returns. What it prints is shown as its reason."""

    tool: ClassVar[Tool | None] = "jail"
    type: Literal["python"] = "python"
    name: str = field("", max_length=200)
    """Label; has no effect."""
    source: str = field(min_length=1, max_length=256_000, widget="python")
    """Python that defines ``grade``. ``sample`` has output_text, output_json, answer_text, thinking_text and, if
    an environment answered the policy, turns: a list of author and text."""
    timeout_s: float = field(5.0, gt=0.0, le=120.0, unit="s")
    """A slower grader is an error."""
    memory_mb: int = field(512, ge=64, le=8192, unit="MiB")
    """Memory of the grader."""

    @field_validator("source")
    @classmethod
    def _compiles(cls, source: str) -> str:
        refuse_if(python_fault, source)
        return source

    def grade(self, sample: Sample, item: Mapping[str, Any], jail: Jail | None = None) -> float:
        """Number that ``grade`` returns.

        Raises:
            GraderError: it raised (with its traceback), hung, or returned no number.
            JailError: there is no jail, or it failed.
        """
        limits = Limits(wall_s=self.timeout_s, memory_mb=self.memory_mb)
        outcome = require(jail).grade(self.source, _visible(sample), dict(item), limits)
        if outcome.end != "exit":
            raise GraderError(f"the grader {ENDS[outcome.end]}")
        if printed := outcome.output[:_PRINTED_BYTES].decode(errors="replace").strip():
            tell(f"It prints: {cut(printed)}")
        try:
            return float(json.loads(outcome.result))
        except (ValueError, TypeError):
            trace = outcome.errors.decode(errors="replace").strip()[-2000:]
            raise GraderError(f"the grader returned no number\n{trace}".strip()) from None


def _visible(sample: Sample) -> dict[str, Any]:
    try:
        output_json = json.loads(sample.output_text)
    except (ValueError, RecursionError):
        output_json = None
    return {
        "output_text": sample.output_text,
        "output_json": output_json,
        "answer_text": sample.answer_text,
        "thinking_text": sample.thinking_text,
        "completion_tokens": sample.completion_tokens,
        "finish_reason": sample.finish_reason,
        "turns": [{"author": author, "text": text} for author, text in sample.turns],
    }
