"""Filters: which trajectories are left out of the loss."""

from collections.abc import Sequence

from trainer_core.methods.filters.truncated import truncated
from trainer_core.methods.filters.zero_advantage import zero_advantage
from trainer_core.spec.advantage import Compared
from trainer_core.spec.filters import Filter, TruncatedFilter, ZeroAdvantageFilter
from trainer_core.trajectory import Group


def apply(filters: Sequence[Filter], groups: list[Group], compares: Compared = "group") -> None:
    """Set ``excluded`` of the trajectories that the filters leave out; those excluded already keep their reason.

    Args:
        filters: in their order.
        groups: with advantages.
        compares: what the advantage compares a reward with; see ``spec.advantage``.
    """
    for spec in filters:
        match spec:
            case ZeroAdvantageFilter():
                zero_advantage(spec, groups, compares)
            case TruncatedFilter():
                truncated(groups)
