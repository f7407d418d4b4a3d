"""Interface that graders ask of a jail. The worker brings one; the web tier has none and so never runs untrusted
code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from trainer_core.rewards.errors import GraderError

Language = Literal["python", "bash", "c"]
Verdict = bool | str
"""Whether a test passes, or why nobody can say."""
End = Literal["exit", "wall", "memory", "output"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of what one program may use."""

    wall_s: float = 5.0
    memory_mb: int = 512
    processes: int = 32
    output_bytes: int = 1 << 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a program, as seen from outside its jail."""

    end: End
    """Cause of its end: its own exit, or the limit that it ran into."""
    status: int
    """Exit status; 128 + the signal that killed it."""
    output: bytes
    errors: bytes
    result: bytes
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether it ended by itself, with status 0."""
        return self.end == "exit" and self.status == 0


class JailError(GraderError):
    """The jail itself failed or is missing: says nothing about the policy, and is never a zero."""


class Jail(Protocol):
    """Runs untrusted programs. Every method raises JailError when the jail fails."""

    def program(self, code: str, stdin: str, language: Language, limits: Limits) -> Outcome:
        """Run a program on ``stdin``. Raises JailError where the language is not installed."""

    def assertions(
        self, code: str, setup: str, tests: Sequence[str], entry_point: str, limits: Limits
    ) -> list[Verdict]:
        """Tells which tests the solution passes. The tests run in a jail of their own, beside the solution's."""

    def grade(self, code: str, sample: Mapping[str, Any], item: Mapping[str, Any], limits: Limits) -> Outcome:
        """Run a user's ``grade(sample, item)``; ``result`` is its number as JSON."""

    def plugin(self, job: Mapping[str, Any], packages: bool, limits: Limits) -> Outcome:
        """Call reward functions; ``result`` is a list of ``[name, weight, value | null]`` as JSON.

        Args:
            job: kind, code, functions, messages, text and item, as ``PluginGrader`` sends them.
            packages: whether the installed packages can be imported.
        """

    def equal(self, gold: str, answer: str, limits: Limits) -> Outcome:
        """Compare two LaTeX answers; ``result`` is ``{"gold": bool}``, whether the gold one is mathematics, as soon as
        that is known, and on the next line ``{"equal": bool}``."""


def require(jail: Jail | None) -> Jail:
    """``jail``, or the error that says why nothing was graded."""
    if jail is None:
        raise JailError("this grader runs untrusted code, which is graded only where there is a jail: on the cluster")
    return jail
