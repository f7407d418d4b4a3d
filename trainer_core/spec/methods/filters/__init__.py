"""Filters of trajectories, and of tokens of them, that are left out of the loss: one file of parameters for each."""

from typing import TYPE_CHECKING, TypeAlias

from trainer_core.spec.methods.filters.high_entropy import HighEntropyTokensFilter
from trainer_core.spec.methods.filters.length_outliers import LengthOutliersFilter
from trainer_core.spec.methods.filters.mastered_tokens import MasteredTokensFilter
from trainer_core.spec.methods.filters.overlong import OverlongFilter
from trainer_core.spec.methods.filters.recomposition import RecompositionFilter
from trainer_core.spec.methods.filters.repetition import RepetitionFilter
from trainer_core.spec.methods.filters.truncated import TruncatedFilter
from trainer_core.spec.methods.filters.zero_advantage import ZeroAdvantageFilter
from trainer_core.spec.methods.kinds import FilterModel
from trainer_core.spec.plugins import members, one_of

__all__ = [
    "FILTERS",
    "Filter",
    "HighEntropyTokensFilter",
    "LengthOutliersFilter",
    "MasteredTokensFilter",
    "OverlongFilter",
    "RecompositionFilter",
    "RepetitionFilter",
    "TruncatedFilter",
    "ZeroAdvantageFilter",
]

FILTERS = members(
    "dressage.filters",
    FilterModel,
    (
        ZeroAdvantageFilter,
        TruncatedFilter,
        OverlongFilter,
        RepetitionFilter,
        HighEntropyTokensFilter,
        MasteredTokensFilter,
        LengthOutliersFilter,
        RecompositionFilter,
    ),
)
"""Every filter that a spec may choose; the formula of each stands in the table of ``trainer_core.methods.filters``."""

if TYPE_CHECKING:
    Filter: TypeAlias = FilterModel
else:
    Filter = one_of("dressage.filters", FILTERS)
