"""Plug-in for pytest: each grade of a grader without a tool is also made in a grading process, and must be the same."""

import functools
from typing import Any

import pytest

from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders import GRADERS
from trainer_core.rewards.isolated.process import GradeLimits, GradingProcess, TemplateProcess

_template = TemplateProcess()
_process = GradingProcess(_template)
compared = 0


def _outcome(grade: Any) -> tuple[str, Any]:
    try:
        return "grade", grade()
    except GraderError as error:
        return "error", str(error)


def _twice(kind: Any, original: Any) -> Any:
    @functools.wraps(original)
    def grade(self: Any, sample: Any, item: Any) -> float:
        global compared
        elsewhere = _outcome(lambda: _process.grade(self, sample, item, GradeLimits(cpu_s=20.0, wall_s=300.0)))
        here = _outcome(lambda: original(self, sample, item))
        assert elsewhere == here, f"{self!r} on {sample!r} for {item!r}"
        compared += 1
        return original(self, sample, item)

    return grade


def pytest_configure() -> None:
    """Wrap every pure grader."""
    for kind in GRADERS:
        if kind.tool is None and "grade" in vars(kind):
            kind.grade = _twice(kind, kind.grade)  # type: ignore[method-assign]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell how many grades were compared."""
    terminalreporter.write_line(f"grades compared: {compared}")
    _process.close()
    _template.close()
