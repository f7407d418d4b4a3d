"""Right programs with wrong ones beside them, under the same row: what a grader of code must tell apart."""

from tests.worker.sandbox.programs import answers, classes, scripts, usual, values
from tests.worker.sandbox.programs.case import Pair

PAIRS: tuple[Pair, ...] = (*scripts.PAIRS, *values.PAIRS, *classes.PAIRS, *answers.PAIRS, *usual.PAIRS)
