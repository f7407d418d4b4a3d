"""Right programs with wrong ones beside them, under the same row: what a grader of code must tell apart."""

from tests.worker.sandbox.programs import answers, classes, scripts, values
from tests.worker.sandbox.programs.case import Pair

_LATER = {
    "numpy", "numpy's linear algebra", "output of more than 1 MiB", "notes on stderr of more than 1 MiB",
    "multiprocessing", "subprocess of its own interpreter", "floating point within a tolerance", "numpy array",
    "numpy scalar",
}  # fmt: skip
_ALL = (*scripts.PAIRS, *values.PAIRS, *classes.PAIRS, *answers.PAIRS)
PAIRS: tuple[Pair, ...] = tuple(pair for pair in _ALL if pair.name not in _LATER)
