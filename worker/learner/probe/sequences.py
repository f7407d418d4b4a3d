"""The token sequences that engine and learner score.

The text decides how clearly a difference in weights shows. Random tokens are improbable, and there rounding alone can
move a log-probability by a nat or more. Text that the policy writes itself is what it will sample, and its rounding is
small. So a run probes with the ends of its own prompts and the policy's continuations. The head and every layer are
covered with any text, because their columns are read back; the text need not reach every token of the vocabulary.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

PROBE_SEQUENCES = 4
PROBE_TOKENS = 16
PROMPT_TOKENS = 12
"""Number of last tokens of a prompt that a probe begins with."""
SAMPLED_TOKENS = 12
"""Number of tokens that the policy adds to them."""

Continue = Callable[[list[list[int]], int], list[list[int]]]
"""(beginnings, tokens) → the policy's continuations, each of up to ``tokens`` tokens."""


def probe_sequences(vocab_size: int, max_model_len: int, seed: int = 0) -> list[list[int]]:
    """Fixed token sequences, drawn from the whole vocabulary: the probe if no prompts are available."""
    rng = np.random.default_rng(seed)
    length = max(2, min(PROBE_TOKENS, max_model_len - 1))
    drawn: list[list[int]] = rng.integers(0, vocab_size, (PROBE_SEQUENCES, length)).tolist()
    return drawn


def probe_text(
    prompts: Sequence[NDArray[np.int32]], proceed: Continue, max_model_len: int, seed: int
) -> list[list[int]]:
    """Ends of some prompts, each with the policy's continuation.

    Args:
        prompts: token ids of the run's prompts, as the policy sees them.
        proceed: samples from the policy.
        max_model_len: longest sequence that an engine accepts, plus one.
        seed: the run's seed. The same prompts and seed give the same text.

    Returns:
        Sequences of 2 to 24 tokens; none if there are no prompts or no room.
    """
    room = min(PROMPT_TOKENS + SAMPLED_TOKENS, max_model_len - 2)
    given = [prompt for prompt in prompts if len(prompt)]
    if not given or room < 2:
        return []
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(given), size=min(PROBE_SEQUENCES, len(given)), replace=False)
    head = max(1, min(PROMPT_TOKENS, room - 1))
    beginnings = [given[int(index)][-head:].tolist() for index in chosen]
    spoken = proceed(beginnings, room - head)
    return [[*begun, *said] for begun, said in zip(beginnings, spoken, strict=True) if len(begun) + len(said) > 1]
