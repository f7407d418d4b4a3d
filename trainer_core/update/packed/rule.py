"""Rule for one layer's attention scores, in addition to which token sees which in its sequence."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """score = scale · query · key, capped if requested; the softmax is over the keys inside the window."""

    scale: float
    window: int | None = None
    """A query sees only this many latest positions, itself included."""
    softcap: float | None = None
    """c if scores are capped to c·tanh(score / c), before any mask."""
