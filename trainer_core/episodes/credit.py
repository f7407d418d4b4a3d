"""The contribution of one trajectory to the update."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Credit:
    """The advantage of one trajectory, and whether it takes part in the loss. Each method replaces the whole credit."""

    advantage: float = 0.0
    excluded: str | None = None
    """Reason why the trajectory is left out of the loss, such as "reward_error", "zero_advantage", "truncated",
    "pruned"."""
    compared: bool = True
    """Whether the reward counts in the means and deviations of its group (``advantage.counted``)."""
    length_logit: float | None = None
    """Logit of the length weight of the answer's positive advantage among the right answers of its group, under the
    spec at its dispatch; None if advantages are not weighted by length."""
