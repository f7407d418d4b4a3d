"""Environments: what answers the policy between its turns."""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from trainer_core.spec.base import SpecModel, field
from trainer_core.spec.untrusted import python_fault, refuse_if


class PythonEnvironment(SpecModel):
    """A Python file that answers the policy. It runs in the jail, and keeps nothing from one turn to the next.

    It defines ``respond(item, messages)``. ``item`` is the dataset row; ``messages`` is the conversation so far, whose
    last message is the policy's. It returns the next message as text (from the user) or as ``{"role": "tool" or "user",
    "content": text}``, a list of such messages, or None to end the episode.
    """

    type: Literal["python"] = "python"
    source: str = field(min_length=1, max_length=64_000, widget="python")
    """Python that defines ``respond``."""
    max_turns: int = field(4, ge=1, le=64, unit="turns")
    """Most turns of the policy. After the last one, the environment is not called again."""
    timeout_s: float = field(10.0, gt=0.0, le=120.0, unit="s")
    """A slower answer is an error: the episode gets no reward."""
    memory_mb: int = field(512, ge=64, le=8192, unit="MiB")
    """Memory of the environment."""

    @field_validator("source")
    @classmethod
    def _compiles(cls, source: str) -> str:
        refuse_if(python_fault, source)
        return source


Environment = Annotated[PythonEnvironment, Field(discriminator="type")]
