"""Right programs with wrong ones beside them, under the same row: what a grader of code must tell apart."""

from tests.worker.sandbox.programs import answers, classes, comparisons, scripts, shared, usual, values
from tests.worker.sandbox.programs.case import Pair

_KINDS = (scripts, values, classes, answers, usual, shared, comparisons)
PAIRS: tuple[Pair, ...] = tuple(pair for kind in _KINDS for pair in kind.PAIRS)
