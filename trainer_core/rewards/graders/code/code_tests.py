"""Programs judged by tests. The verdict is reached outside the program's jail: it never sees what is expected of it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.grader_model import GraderModel, Tool
from trainer_core.rewards.graders.code import code_blocks, code_output
from trainer_core.rewards.graders.code.code_frameworks import Framework, framework_of, runs_nothing
from trainer_core.rewards.graders.jail import Jail, Limits, Outcome, Verdict, require
from trainer_core.rewards.graders.languages import LANGUAGES
from trainer_core.rewards.reasons import quoted, tell
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import field

if TYPE_CHECKING:
    Language: TypeAlias = str
else:
    Language = Literal[tuple(LANGUAGES)]

_WALL_PER_CPU, _WALL_SPARE_S = 2.0, 2.0
"""A program may take so many times its processor time by the clock, and seconds: it may sleep, and not for ever."""
_OUTPUT_BYTES = 1 << 20
_ENDS = {
    "cpu": "it runs out of processor time",
    "wall": "it runs out of time",
    "memory": "it runs out of memory",
    "output": "it writes too much",
}
"""Words for the limits that end a program."""


class CodeTestsGrader(GraderModel):
    """The share of tests that the answer's program passes, or 1 only if it passes all.

    The row lists either Python tests (``"assert f(1) == 2"``, a module for unittest or pytest) or pairs of ``input``
    and ``output``, which may also hold ``args``, the words of the command line.
    """

    tool: ClassVar[Tool | None] = "jail"
    type: Literal["code_tests"] = "code_tests"
    language: Language = "python"
    """Language of the program. Python tests are for Python only. Where its compiler or runtime is not installed on the
    worker, the reward is an error that says so."""
    tests: str = field("tests", min_length=1, max_length=200)
    """Field of the dataset row with the tests."""
    framework: Literal["auto", "asserts", "unittest", "pytest"] = "auto"
    """What Python tests are written for: statements that assert, or cases of unittest or pytest, each of which counts.
    ``auto`` looks at each test, and runs all its cases; one that runs nothing is an error. A test for pytest without
    cases of its own, only fixtures and hooks, is the ``conftest.py`` of the others. Tests import the program as
    ``solution``, or use its names."""
    setup: str | None = field(None, max_length=200)
    """Field with Python that runs before each Python test, beside the test: imports, helpers."""
    entry_point: str | None = field(None, max_length=200)
    """Field with the name of the function under test, where the tests do not use names that the program defines."""
    prepend: str | None = field(None, max_length=200)
    """Field with text that is put before the program: the beginning of a function that the policy completes."""
    credit: Literal["all", "share"] = "all"
    """All or nothing, or the share of tests passed."""
    compare: Literal["lines", "tokens"] = "lines"
    """Output is compared line by line without white space at their ends, or word by word."""
    float_tolerance: float | None = field(None, gt=0.0, le=1.0)
    """Output is compared word by word, and numbers may differ by so much: relative to expected ones above 1, else
    absolute. Left out: numbers are text like any other."""
    checker: str | None = field(None, max_length=200)
    """Field with Python that defines ``check(given, output, wanted)``, which tells whether an output is right where
    several are. ``wanted`` is None where a test has no ``output``. It runs in a jail of its own."""
    timeout_s: float = field(5.0, gt=0.0, le=60.0, unit="s")
    """Processor time for one input, or for all Python tests together. A slower program fails; by the clock it may take
    twice as long and 2 s, without what it waits for a processor."""
    total_timeout_s: float = field(30.0, gt=0.0, le=600.0, unit="s")
    """Processor time for all inputs together. Those that are not reached fail."""
    memory_mb: int = field(512, ge=64, le=8192, unit="MiB")
    """Memory of all processes of the program."""

    @property
    def row_columns(self) -> tuple[str, ...]:
        """Columns without which no row can be graded."""
        return (self.tests,)

    def grade(self, sample: Sample, item: Mapping[str, Any], jail: Jail | None = None) -> float:
        """Grade from 0.0 to 1.0.

        Raises:
            GraderError: the row's tests cannot be read, or cannot tell what the program does.
            JailError: there is no jail, or it failed, or lacks the language.
        """
        tests = item.get(self.tests)
        if isinstance(tests, str):
            tests = [tests]
        if not isinstance(tests, list | tuple) or not tests:
            raise GraderError(f"the row has no list of tests in the field {self.tests!r}")
        scripts = not all(isinstance(test, str) for test in tests)
        code = code_blocks.program(sample.answer_text, self.language, acts=scripts)
        if not code.strip():
            tell("The answer holds no program.")
            return 0.0
        if self.prepend is not None:
            code = f"{_text(item, self.prepend)}{code}"
        if len(code) > 500_000 or "\0" in code:
            tell("The program has more than 500 000 characters, or a NUL among them.")
            return 0.0
        passed = (self._run if scripts else self._called)(code, tests, item, require(jail))
        if all(passed):
            tell(f"Passes all {len(passed)} tests.")
        elif self.credit == "share":
            tell(f"Passes {sum(passed)} of {len(passed)} tests.")
        return float(all(passed)) if self.credit == "all" else sum(passed) / len(passed)

    def _limits(self, output_bytes: int = _OUTPUT_BYTES) -> Limits:
        return Limits(
            wall_s=_WALL_PER_CPU * self.timeout_s + _WALL_SPARE_S,
            cpu_s=self.timeout_s,
            memory_mb=self.memory_mb,
            output_bytes=output_bytes,
        )

    def _called(self, code: str, tests: Sequence[str], item: Mapping[str, Any], jail: Jail) -> list[bool]:
        """Verdicts on functions and classes, by tests in Python."""
        if self.language != "python":
            raise GraderError(f"assert tests are in Python, the program in {self.language}")
        setup = _text(item, self.setup) if self.setup else ""
        entry_point = _text(item, self.entry_point) if self.entry_point else ""
        frameworks = [self._framework(test, index) for index, test in enumerate(tests)]
        if set(frameworks) == {"conftest"}:
            raise GraderError("the row's tests hold fixtures for pytest, and no cases that use them")
        return self._certain(jail.assertions(code, setup, tests, entry_point, self._limits(), frameworks))

    def _framework(self, test: str, index: int) -> Framework:
        """The framework of a test. Raises GraderError if it would pass with any program."""
        found = framework_of(test)
        if self.framework != "auto":
            return "conftest" if found == "conftest" and self.framework == "pytest" else self.framework
        if found == "asserts" and runs_nothing(test):
            raise GraderError(
                f"test {index} only defines functions and calls none, so any program would pass: call them at its end"
            )
        return found

    def _certain(self, verdicts: Sequence[Verdict]) -> list[bool]:
        """Raises GraderError where a test that counts cannot be judged."""
        if False in verdicts:
            tell(f"Test {verdicts.index(False) + 1} of {len(verdicts)} fails.")
        if self.credit == "all" and False in verdicts:
            return [False]
        unclear = next((verdict for verdict in verdicts if isinstance(verdict, str)), None)
        if unclear is not None:
            raise GraderError(unclear)
        return [verdict is True for verdict in verdicts]

    def _run(self, code: str, tests: Sequence[Any], item: Mapping[str, Any], jail: Jail) -> list[bool]:
        """Verdicts on a program that reads and writes."""
        pairs = [_pair(test, index, self.checker is not None) for index, test in enumerate(tests)]
        program = jail.build(code, self.language, self._limits())
        if program.failure is not None:
            tell(f"The program cannot be built: {quoted(program.failure)}.")
            return [False] * len(pairs)
        passed: list[bool] = []
        cpu_s = wall_s = 0.0
        for pair in pairs:
            if cpu_s >= self.total_timeout_s or wall_s >= _WALL_PER_CPU * self.total_timeout_s + _WALL_SPARE_S:
                if all(passed):
                    tell(f"Test {len(passed) + 1} of {len(pairs)} is not reached: the time for all of them is up.")
                return passed + [False] * (len(pairs) - len(passed))
            room = max(_OUTPUT_BYTES, 2 * len((pair.wanted or "").encode()) + (1 << 16))
            outcome = jail.run(program, pair.given, pair.arguments, self._limits(room))
            cpu_s, wall_s = cpu_s + outcome.cpu_s, wall_s + outcome.seconds
            right = outcome.ok and self._accepts(pair, outcome, item, jail)
            if not right and all(passed):
                tell(f"Test {len(passed) + 1} of {len(pairs)} fails: {_how(outcome)}.")
            passed.append(right)
            if self.credit == "all" and not passed[-1]:
                break
        return passed

    def _accepts(self, pair: "_Pair", outcome: Outcome, item: Mapping[str, Any], jail: Jail) -> bool:
        output = outcome.output.decode(errors="replace")
        if self.checker is not None:
            return self._checked(_text(item, self.checker), pair, output, jail)
        wanted = pair.wanted or ""
        if self.float_tolerance is not None:
            return code_output.same_numbers(output, wanted, self.float_tolerance)
        return (code_output.same_words if self.compare == "tokens" else code_output.same_lines)(output, wanted)

    def _checked(self, source: str, pair: "_Pair", output: str, jail: Jail) -> bool:
        outcome = jail.check(source, pair.given, output, pair.wanted, self._limits())
        try:
            return float(json.loads(outcome.result)) > 0.0 if outcome.ok else _refuse(outcome)
        except (ValueError, TypeError):
            return _refuse(outcome)


@dataclass(frozen=True, slots=True)
class _Pair:
    given: str
    wanted: str | None
    arguments: tuple[str, ...]


def _how(outcome: Outcome) -> str:
    """Words for the way a program failed a test, with nothing of what it was given or had to write."""
    if outcome.end != "exit":
        return _ENDS[outcome.end]
    return f"it exits with status {outcome.status}" if outcome.status else "its output is another one"


def _refuse(outcome: Outcome) -> bool:
    trace = outcome.errors.decode(errors="replace").strip()[-2000:]
    raise GraderError(f"the row's checker gave no verdict ({outcome.end})\n{trace}".strip())


def _pair(test: Any, index: int, checked: bool) -> _Pair:
    if isinstance(test, Mapping):
        given, wanted, arguments = test.get("input", ""), test.get("output"), test.get("args", ())
        readable = isinstance(given, str) and (isinstance(wanted, str) or (wanted is None and checked))
        if readable and isinstance(arguments, list | tuple) and all(isinstance(word, str) for word in arguments):
            return _Pair(given, wanted, tuple(arguments))
    raise GraderError(f"test {index} is neither text nor an object with the texts input and output")


def _text(item: Mapping[str, Any], name: str) -> str:
    value = item.get(name)
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    if not isinstance(value, str):
        raise GraderError(f"the row has no text in the field {name!r}")
    return value
