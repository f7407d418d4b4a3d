"""Right programs with wrong ones beside them, under the same row: what a grader of code must tell apart."""

from tests.worker.sandbox.programs import answers
from tests.worker.sandbox.programs.case import Pair

PAIRS: tuple[Pair, ...] = answers.PAIRS
