"""Splits a completion into steps, each of which begins in a state that can be valued."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from trainer_core.spec.methods.branching import TextSteps, VineAdvantage


def step_starts(spec: VineAdvantage, texts: Sequence[str], sampled: NDArray[np.bool_]) -> list[int]:
    """First token of every step except the first, ascending; at most ``spec.max_states`` of them.

    A step begins with a token that the policy sampled: before a forced token it has no choice.

    Args:
        spec: how steps end.
        texts: text of each token of the completion, shape [T].
        sampled: whether the policy sampled it, shape [T].
    """
    length = len(texts)
    own = np.flatnonzero(sampled)
    starts: list[int] = []
    for end in _ends(spec, texts):
        place = int(np.searchsorted(own, end))
        if end < length and 0 < place < len(own) and (not starts or own[place] > starts[-1]):
            starts.append(int(own[place]))
    if len(starts) <= spec.max_states:
        return starts
    chosen = np.linspace(0, len(starts) - 1, spec.max_states).round().astype(int)
    return [starts[index] for index in chosen]


def _ends(spec: VineAdvantage, texts: Sequence[str]) -> list[int]:
    """Numbers of tokens after which a step ends."""
    if not isinstance(spec.steps, TextSteps):
        return list(range(spec.steps.every, len(texts), spec.steps.every))
    # A separator may span several tokens, or be in the middle of one: the step ends with the token that completes it.
    behind = list(accumulate(len(text) for text in texts))
    found = re.finditer(f"(?:{re.escape(spec.steps.separator)})+", "".join(texts))
    return [bisect_left(behind, match.end()) + 1 for match in found]
