"""The token sequences that engine and learner score."""

import numpy as np

PROBE_SEQUENCES = 4
PROBE_TOKENS = 16


def probe_sequences(vocab_size: int, max_model_len: int, seed: int = 0) -> list[list[int]]:
    """Fixed token sequences for the probe: drawn over the whole vocabulary, so that every part of the policy speaks."""
    rng = np.random.default_rng(seed)
    length = max(2, min(PROBE_TOKENS, max_model_len - 1))
    drawn: list[list[int]] = rng.integers(0, vocab_size, (PROBE_SEQUENCES, length)).tolist()
    return drawn
