"""A run of packed query tokens with the packed tokens that they may see."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Span = tuple[int, int]
"""Packed tokens [start, stop)."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of packed tokens [start, stop) whose keys are the packed tokens of ``prefix``, in order, and then the run
    itself."""

    start: int
    stop: int
    prefix: tuple[Span, ...] = ()
    """Spans of the sequence before the run: of a tree of sequences, the path from the root. None is empty."""

    @property
    def own(self) -> Span:
        """The run itself."""
        return self.start, self.stop

    @property
    def num_queries(self) -> int:
        """Number of query tokens."""
        return self.stop - self.start

    @property
    def num_before(self) -> int:
        """Number of tokens in the prefix: the position of the first query."""
        return sum(stop - start for start, stop in self.prefix)

    @property
    def num_keys(self) -> int:
        """Number of tokens in the prefix and the run."""
        return self.num_queries + self.num_before

    def key_rows(self) -> NDArray[np.int64]:
        """Packed token of each key, [keys]: position j of the sequence is entry j."""
        return np.concatenate([np.arange(*span) for span in (*self.prefix, self.own)])
