"""Every pure grader on texts that were built to make it slow."""

from collections.abc import Iterator

import pytest

from tests.support.hostile_inputs import ANY, HOSTILE, Hostile
from trainer_core.rewards import Sample
from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders import GRADERS
from trainer_core.rewards.isolated.process import GradeLimits, GradingProcess, TemplateProcess

LARGEST = 100_000
"""Longest text that the web tier tries, in characters."""
LIMITS = GradeLimits(cpu_s=2.0, wall_s=120.0)


@pytest.fixture(scope="module")
def process() -> Iterator[GradingProcess]:
    template = TemplateProcess()
    made = GradingProcess(template)
    yield made
    made.close()
    template.close()


def test_no_grader_is_forgotten() -> None:
    """A grader that is added needs a hostile input of its own."""
    pure = {grader.model_fields["type"].default for grader in GRADERS if grader.tool is None}
    assert {str(case.grader["type"]) for case in HOSTILE} == pure


@pytest.mark.parametrize("case", HOSTILE, ids=lambda case: case.name)
def test_it_is_graded_well_within_the_limit(process: GradingProcess, case: Hostile) -> None:
    grader = ANY.validate_python(case.grader)
    for size in (LARGEST // 4, LARGEST // 2, LARGEST):
        text = case.text(size)
        try:
            value = process.grade(grader, Sample(text, text, text, size), case.row(size), LIMITS)
        except GraderError as error:  # a pattern that backtracks has a limit of its own
            assert "took longer than 0.2 s" in str(error) or "cannot be applied" in str(error)
        else:
            assert -1.0 <= value <= 16.0
