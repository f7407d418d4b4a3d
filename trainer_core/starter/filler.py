"""Thinking of random length: a murmur of letters whose length is close to lognormal.

Benchmarks of rollout engines need the long-tailed response lengths of real reasoning policies, chosen by the policy
itself. A small policy cannot count to a length that it has chosen, so the murmur requires no memory. It has one of six
tempos, each with its own four letters, and every letter is repeated a geometrically distributed number of times. The
next letter depends only on the last one, yet the total length is long-tailed: four phases give its logarithm a variance
of about 0.28 (trigamma of 4), the spread of the tempos gives the rest.
"""

import random

TEMPOS = (6, 14, 28, 52, 110, 260)
"""Mean length of each tempo in letters, spread so that response lengths have a logarithm of standard deviation 1."""
PHASES = 4
MOST_LETTERS = 360
LONGEST_RESPONSE = 384
"""Tokens: the longest murmur and scratchpad, the tags and the answer."""
_LETTERS = "abcdefghijklmnopqrstuvwx"


def draw_filler(rng: random.Random) -> str:
    """A murmur such as ``eeefffgh``, of 4 to 360 letters; the few longer ones are drawn again."""
    while True:
        tempo = rng.randrange(len(TEMPOS))
        end = PHASES / TEMPOS[tempo]
        murmur = "".join(letter * _geometric(rng, end) for letter in _LETTERS[tempo * PHASES : (tempo + 1) * PHASES])
        if len(murmur) <= MOST_LETTERS:
            return murmur


def _geometric(rng: random.Random, end: float) -> int:
    """Number of trials up to the first success, with probability ``end``."""
    count = 1
    while rng.random() >= end:
        count += 1
    return count
