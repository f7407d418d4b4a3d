"""Guesses the tests of programs."""

from typing import Any

from trainer_core.datasets.mapping.code_tests import tests_of
from trainer_core.datasets.mapping.document import MappedTests
from trainer_core.datasets.mapping.path import written
from trainer_core.datasets.mapping.proposal.columns import FirstRows

_TESTS = (
    "private_tests", "hidden_tests", "tests", "test_cases", "unit_tests", "test_list", "input_output",
    "private_test_cases", "test_case", "public_tests", "public_test_cases",
)  # fmt: skip


def guess_tests(columns: FirstRows) -> MappedTests | None:
    """The tests, if a grader can run them in all rows."""
    for name in columns.named(_TESTS):
        if columns.all((name,), _is_tests):
            return MappedTests(path=written([name]))
    return None


def _is_tests(value: Any) -> bool:
    if isinstance(value, str) and not ("assert" in value or value.lstrip()[:1] in ("[", "{")):
        return False
    try:
        tests = tests_of(value, "tests")
    except ValueError:
        return False
    return all(isinstance(test, dict) or "assert" in test or "test" in test for test in tests)
