"""Reward functions that a team wrote for TRL or verifiers, run unchanged in the jail."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import model_validator

from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.grader_model import GraderModel, Tool
from trainer_core.rewards.graders.code.python import ENDS
from trainer_core.rewards.graders.jail import Jail, Limits, require
from trainer_core.rewards.reasons import tell
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import SpecModel, field
from trainer_core.spec.untrusted import python_fault, refuse_if


class PluginFunction(SpecModel):
    """One reward function of the file."""

    name: str = field(min_length=1, max_length=200)
    """Its name in the file."""
    weight: float = field(1.0, ge=-1000.0, le=1000.0)
    """Its value is multiplied by this and added."""


class PluginGrader(GraderModel):
    """``Σ weight · value`` of the file's functions, each called with one completion.

    TRL: ``f(prompts, completions, **columns) -> list[float | None]`` with lists of one entry; None means that the
    function has nothing to say of this sample. verifiers: ``f(completion, answer, state, prompt, info, task, parser)``,
    of which a function takes what it names. Both may be ``async``. What compares the completions of one prompt with
    each other is refused where it can be told: verifiers' functions of ``completions``. Neither TRL nor verifiers is
    installed in the jail; imports of them are answered by a small stand-in.
    """

    tool: ClassVar[Tool | None] = "jail"
    type: Literal["plugin"] = "plugin"
    name: str = field("", max_length=200)
    """Label; has no effect."""
    kind: Literal["trl", "verifiers"] = field()
    """Whose calling convention the functions follow."""
    source: str = field(min_length=1, max_length=256_000)
    """The Python file."""
    functions: tuple[PluginFunction, ...] = field((), max_length=32)
    """The functions that count. May be left out for verifiers: then the file's only ``Rubric`` says it, or what its
    ``load_rubric()`` returns."""
    messages: Literal["auto", "text", "messages"] = "auto"
    """Whether prompt and completion are text or lists of messages. ``auto``: verifiers always messages, TRL where the
    row holds ``messages``."""
    packages: bool = False
    """Whether the file may import installed packages (math_verify, SymPy, NumPy); else only Python's own library."""
    timeout_s: float = field(5.0, gt=0.0, le=120.0, unit="s")
    """All functions together; slower ones are an error."""
    memory_mb: int = field(512, ge=64, le=8192, unit="MiB")
    """Memory of the functions."""

    @model_validator(mode="after")
    def _can_be_called(self) -> "PluginGrader":
        refuse_if(python_fault, self.source)
        names = [function.name for function in self.functions]
        if len(set(names)) < len(names):
            raise ValueError("a function is named twice")
        if self.kind == "trl" and not names:
            raise ValueError("name the functions that count: a TRL file does not say which they are")
        return self

    @property
    def needs_packages(self) -> bool:
        """Whether the file may import them."""
        return self.packages

    def grade(self, sample: Sample, item: Mapping[str, Any], jail: Jail | None = None) -> float:
        """The weighted sum.

        Raises:
            GraderError: a function raised (with its traceback), hung, returned no number, or none of them applies.
            JailError: there is no jail, or it failed.
        """
        as_messages = self.messages == "messages" or (
            self.messages == "auto" and (self.kind == "verifiers" or "messages" in item)
        )
        job = {
            "kind": self.kind,
            "code": self.source,
            "functions": [[function.name, function.weight] for function in self.functions],
            "messages": as_messages,
            "text": sample.output_text,
            "item": dict(item),
        }
        limits = Limits(wall_s=self.timeout_s, memory_mb=self.memory_mb)
        outcome = require(jail).plugin(job, self.packages, limits)
        if outcome.end != "exit":
            raise GraderError(f"the plug-in {ENDS[outcome.end]}")
        try:
            values = [(str(name), float(weight), value) for name, weight, value in json.loads(outcome.result)]
        except (ValueError, TypeError):
            trace = outcome.errors.decode(errors="replace").strip()[-2000:]
            raise GraderError(f"the plug-in gave no number\n{trace}".strip()) from None
        counted = [(name, weight, float(value)) for name, weight, value in values if value is not None]
        for name, _, value in counted:
            if not math.isfinite(value):
                raise GraderError(f"{name} returned {value}, not a finite number")
        tell(_values(values))
        if not counted:
            raise GraderError("no function of the plug-in applies to this sample: each returned None")
        return sum(weight * value for _, weight, value in counted)


def _values(values: Sequence[tuple[str, float, Any]]) -> str:
    """Each function's value in words."""
    said = [f"{name} {'says nothing' if value is None else f'{float(value):g}'}" for name, _, value in values]
    return f"{', '.join(said)}."
