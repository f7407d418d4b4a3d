"""A run of packed query tokens with the packed tokens that they may see."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of packed tokens [start, stop) whose keys are the packed tokens of ``prefix`` and then the run itself."""

    start: int
    stop: int
    prefix: tuple[int, int] = (0, 0)

    @property
    def num_queries(self) -> int:
        """Number of query tokens."""
        return self.stop - self.start

    @property
    def num_keys(self) -> int:
        """Number of tokens in the prefix and the run."""
        return self.num_queries + self.prefix[1] - self.prefix[0]
