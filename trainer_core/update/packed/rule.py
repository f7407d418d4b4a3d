"""Rule by which one layer's attention scores are made, beyond who sees whom in its sequence."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """score = scale · query · key, capped where asked; the softmax is over the keys that the window leaves."""

    scale: float
    window: int | None = None
    """A query sees only this many latest positions, itself included."""
    softcap: float | None = None
    """c where scores are capped to c·tanh(score / c), before any mask."""
