"""Filters: which trajectories are left out of the loss, and which tokens of them lose their advantage (``tokens``)."""

from collections.abc import Sequence

from trainer_core.methods.filters.length_outliers import length_outliers
from trainer_core.methods.filters.overlong import overlong
from trainer_core.methods.filters.recomposition import recomposition
from trainer_core.methods.filters.repetition import repetition
from trainer_core.methods.filters.truncated import truncated
from trainer_core.methods.filters.zero_advantage import zero_advantage
from trainer_core.spec.methods.advantage import Compared
from trainer_core.spec.methods.filters import (
    Filter,
    HighEntropyTokensFilter,
    LengthOutliersFilter,
    MasteredTokensFilter,
    OverlongFilter,
    RecompositionFilter,
    RepetitionFilter,
    TruncatedFilter,
    ZeroAdvantageFilter,
)
from trainer_core.trajectory import Group


def prepare(filters: Sequence[Filter], groups: list[Group]) -> None:
    """What filters do before the advantages are made: change the rewards of answers that they cut short."""
    for spec in filters:
        if isinstance(spec, LengthOutliersFilter):
            length_outliers(spec, groups)


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
            case OverlongFilter():
                overlong(spec, groups)
            case RepetitionFilter():
                repetition(spec, groups)
            case RecompositionFilter():
                recomposition(spec, groups)
            case HighEntropyTokensFilter() | MasteredTokensFilter() | LengthOutliersFilter():
                pass  # in the learner, which knows entropies (``update/objective/refine.py``), and in ``prepare``
