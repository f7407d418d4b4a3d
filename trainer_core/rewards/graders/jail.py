"""Interface that graders ask of a jail. The worker brings one; the web tier has none and so never runs untrusted
code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from trainer_core.rewards.errors import GraderError

Verdict = bool | str
"""Whether a test passes, or why nobody can say."""
End = Literal["exit", "cpu", "wall", "memory", "output"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of what one program may use."""

    wall_s: float = 5.0
    """Seconds on the clock, without those in which the program waits for a processor."""
    memory_mb: int = 512
    processes: int = 32
    output_bytes: int = 1 << 20
    cpu_s: float | None = None
    """Processor time of all its processes together; None: only the clock counts."""
    output_ends: bool = True
    """Whether a program ends that writes more to its output; else the rest is left out, as it is of errors."""
    address_space: bool = True
    """Whether the memory also bounds addresses. Not for runtimes that reserve more than they use."""


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
    cpu_s: float = 0.0
    """Processor time that it has used."""

    @property
    def ok(self) -> bool:
        """Whether it ended by itself, with status 0."""
        return self.end == "exit" and self.status == 0


@dataclass(frozen=True, slots=True)
class Program:
    """A program that can be run."""

    language: str
    code: str
    memory_mb: int = 512
    files: Mapping[str, str] = field(default_factory=dict)
    """Files that its build left, in base64."""
    failure: str | None = None
    """What the compiler says of a program that cannot be built."""


class JailError(GraderError):
    """The jail itself failed or is missing: says nothing about the policy, and is never a zero."""


class BusyError(JailError):
    """The machine gave a program too little of its processors to say anything of it."""


class Jail(Protocol):
    """Runs untrusted programs. Every method raises JailError when the jail fails."""

    def build(self, code: str, language: str, limits: Limits) -> Program:
        """Build a program once for all its inputs. Raises JailError where the language is not installed."""

    def run(self, program: Program, stdin: str, arguments: Sequence[str], limits: Limits) -> Outcome:
        """Run a program on ``stdin`` with the ``arguments`` of its command line."""

    def assertions(
        self,
        code: str,
        setup: str,
        tests: Sequence[str],
        entry_point: str,
        limits: Limits,
        frameworks: Sequence[str] = (),
    ) -> list[Verdict]:
        """Tells which tests the solution passes. The tests run in a jail of their own, beside the solution's.

        Args:
            code: the solution.
            setup: Python that runs before each test.
            tests: the tests, each a program.
            entry_point: name of the function under test; empty where the tests name it.
            limits: limits of each of the two jails.
            frameworks: the kind of each test: ``asserts``, ``unittest`` or ``pytest``; a test of the last two may give
                several verdicts, one for each of its cases. Without it all are ``asserts``.
        """

    def check(self, source: str, given: str, output: str, wanted: str | None, limits: Limits) -> Outcome:
        """Call a row's ``check(given, output, wanted)``; ``result`` is its number as JSON."""

    def grade(self, code: str, sample: Mapping[str, Any], item: Mapping[str, Any], limits: Limits) -> Outcome:
        """Run a user's ``grade(sample, item)``; ``result`` is its number as JSON."""

    def respond(
        self, code: str, item: Mapping[str, Any], messages: Sequence[Mapping[str, str]], limits: Limits
    ) -> Outcome:
        """Call an environment's ``respond(item, messages)``; ``result`` is what it returns, as JSON."""

    def plugin(self, job: Mapping[str, Any], packages: bool, limits: Limits) -> Outcome:
        """Call reward functions; ``result`` is a list of ``[name, weight, value | null]`` as JSON.

        Args:
            job: kind, code, functions, messages, text and item, as ``PluginGrader`` sends them.
            packages: whether the installed packages can be imported.
        """

    def equal(self, comparison: Mapping[str, Any], limits: Limits) -> Outcome:
        """Compare two mathematical answers.

        Args:
            comparison: ``trees``, two of ``mathematics.tree.to_json`` with ``units_required``, or ``latex``, two texts;
                and ``cpu_s``, the processor time that it may take.
            limits: what ends the whole job, more generous than ``cpu_s``.

        ``result`` is ``{"gold": bool}``, whether the gold one is mathematics, as soon as that is known, and on the next
        line ``{"equal": bool}`` or ``{"unfinished": why}``.
        """


def require(jail: Jail | None) -> Jail:
    """``jail``, or the error that says why nothing was graded."""
    if jail is None:
        raise JailError("this grader runs untrusted code, which is graded only where there is a jail: on the cluster")
    return jail
