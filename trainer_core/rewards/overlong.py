"""DAPO's soft overlong punishment (arXiv 2503.14476, eq. 13)."""


def overlong_punishment(length: int, max_tokens: int, buffer: int, factor: float = 1.0) -> float:
    """0 up to ``max_tokens − buffer`` tokens, then linear down to ``−factor`` at ``max_tokens`` and beyond.

    Args:
        length: completion tokens.
        max_tokens: longest completion.
        buffer: length of the ramp in tokens, from 1 to ``max_tokens``.
        factor: largest punishment.
    """
    over = length - (max_tokens - buffer)
    return 0.0 - factor * min(max(over / buffer, 0.0), 1.0)
