"""Thinking that goes on for a random while: a countdown whose length is lognormal.

Benchmarks of rollout engines need the long-tailed response lengths of real reasoning policies. The first number is the
policy's own random choice; from there every word follows from the one before, so even a small policy keeps to it.
"""

import math
import random

MEDIAN_WORDS = 12
SIGMA = 1.0
MOST_WORDS = 110
"""With the scratchpad and the answer this stays just below ``LONGEST_RESPONSE`` characters."""
LONGEST_RESPONSE = 384
"""Tokens."""


def draw_filler(rng: random.Random) -> str:
    """A countdown such as ``3 2 1``, its length lognormal with sigma 1, cut where the response would be too long."""
    words = max(1, min(MOST_WORDS, round(rng.lognormvariate(math.log(MEDIAN_WORDS), SIGMA))))
    return " ".join(str(number) for number in range(words, 0, -1))
