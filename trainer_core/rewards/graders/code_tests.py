"""Programs judged by tests. The verdict is reached outside the program's jail: it never sees what is expected of it."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.grader_model import GraderModel, Tool
from trainer_core.rewards.graders import code_blocks
from trainer_core.rewards.graders.jail import Jail, Language, Limits, Verdict, require
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import field


class CodeTestsGrader(GraderModel):
    """The share of tests that the answer's program passes, or 1 only if it passes all.

    The row lists either Python tests (``"assert f(1) == 2"``, each a program) or pairs of ``input`` and ``output``.
    """

    tool: ClassVar[Tool | None] = "jail"
    type: Literal["code_tests"] = "code_tests"
    language: Language = "python"
    """Language of the program. Assert tests are for Python only."""
    tests: str = field("tests", min_length=1, max_length=200)
    """Field of the dataset row with the tests."""
    setup: str | None = field(None, max_length=200)
    """Field with Python that runs before each assert test, beside the test: imports, helpers."""
    entry_point: str | None = field(None, max_length=200)
    """Field with the name of the function under test, where the tests do not use names that the program defines."""
    prepend: str | None = field(None, max_length=200)
    """Field with text that is put before the program: the beginning of a function that the policy completes."""
    credit: Literal["all", "share"] = "all"
    """All or nothing, or the share of tests passed."""
    compare: Literal["lines", "tokens"] = "lines"
    """Output is compared line by line without white space at their ends, or word by word."""
    timeout_s: float = field(5.0, gt=0.0, le=60.0, unit="s")
    """Time for one input, or for all assert tests together. A slower program fails."""
    memory_mb: int = field(512, ge=64, le=8192, unit="MiB")
    """Memory of all processes of the program."""

    def grade(self, sample: Sample, item: Mapping[str, Any], jail: Jail | None = None) -> float:
        """Grade from 0.0 to 1.0.

        Raises:
            GraderError: the row's tests cannot be read.
            JailError: there is no jail, or it failed.
        """
        tests = item.get(self.tests)
        if isinstance(tests, str):
            tests = [tests]
        if not isinstance(tests, list | tuple) or not tests:
            raise GraderError(f"the row has no list of tests in the field {self.tests!r}")
        acts = not all(isinstance(test, str) for test in tests)
        code = code_blocks.program(sample.answer_text, self.language, acts)
        if not code.strip():
            return 0.0
        if self.prepend is not None:
            code = f"{_text(item, self.prepend)}{code}"
        if len(code) > 500_000 or "\0" in code:
            return 0.0
        passed = self._passed(code, tests, item, require(jail))
        return float(all(passed)) if self.credit == "all" else sum(passed) / len(passed)

    def _passed(self, code: str, tests: Sequence[Any], item: Mapping[str, Any], jail: Jail) -> list[bool]:
        limits = Limits(wall_s=self.timeout_s, memory_mb=self.memory_mb)
        if all(isinstance(test, str) for test in tests):
            if self.language != "python":
                raise GraderError(f"assert tests are in Python, the program in {self.language}")
            setup = _text(item, self.setup) if self.setup else ""
            entry_point = _text(item, self.entry_point) if self.entry_point else ""
            return self._certain(jail.assertions(code, setup, tests, entry_point, limits))
        passed = []
        for index, test in enumerate(tests):
            given, wanted = _pair(test, index)
            outcome = jail.program(code, given, self.language, limits)
            passed.append(outcome.ok and self._same(outcome.output.decode(errors="replace"), wanted))
            if self.credit == "all" and not passed[-1]:
                break
        return passed

    def _certain(self, verdicts: Sequence[Verdict]) -> list[bool]:
        """Raises GraderError where a test that counts cannot be judged."""
        if self.credit == "all" and False in verdicts:
            return [False]
        unclear = next((verdict for verdict in verdicts if isinstance(verdict, str)), None)
        if unclear is not None:
            raise GraderError(unclear)
        return [verdict is True for verdict in verdicts]

    def _same(self, given: str, wanted: str) -> bool:
        if self.compare == "tokens":
            return given.split() == wanted.split()
        return _lines(given) == _lines(wanted)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]


def _pair(test: Any, index: int) -> tuple[str, str]:
    if isinstance(test, Mapping):
        given, wanted = test.get("input", ""), test.get("output")
        if isinstance(given, str) and isinstance(wanted, str):
            return given, wanted
    raise GraderError(f"test {index} is neither text nor an object with the texts input and output")


def _text(item: Mapping[str, Any], name: str) -> str:
    value = item.get(name)
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    if not isinstance(value, str):
        raise GraderError(f"the row has no text in the field {name!r}")
    return value
