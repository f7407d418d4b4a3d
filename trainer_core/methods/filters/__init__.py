"""Filters: which trajectories are left out of the loss, and which of their tokens lose their advantage."""

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from trainer_core.episodes import Group
from trainer_core.methods.filters.high_entropy import high_entropy
from trainer_core.methods.filters.length_outliers import length_outliers
from trainer_core.methods.filters.mastered_tokens import mastered_tokens
from trainer_core.methods.filters.overlong import overlong
from trainer_core.methods.filters.recomposition import recomposition
from trainer_core.methods.filters.repetition import repetition
from trainer_core.methods.filters.truncated import truncated
from trainer_core.methods.filters.zero_advantage import zero_advantage
from trainer_core.methods.table import Table
from trainer_core.spec.methods.filters import (
    FILTERS,
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
from trainer_core.spec.methods.kinds import Compared

FORMULAS: Table[Callable[..., Any]] = Table(
    "filter",
    FILTERS,
    {
        ZeroAdvantageFilter: zero_advantage,
        TruncatedFilter: truncated,
        OverlongFilter: overlong,
        RepetitionFilter: repetition,
        HighEntropyTokensFilter: high_entropy,
        MasteredTokensFilter: mastered_tokens,
        LengthOutliersFilter: length_outliers,
        RecompositionFilter: recomposition,
    },
)
"""Functions of the filters. Their arguments and results depend on the filter's stage; see ``FilterModel``."""


def prepare(filters: Sequence[Filter], groups: list[Group]) -> None:
    """Apply the filters that act before advantages are computed: they change the rewards of answers that they
    truncate."""
    for spec in filters:
        if spec.stage == "rewards":
            FORMULAS.of(spec)(spec, groups)


def apply_before_rewards(filters: Sequence[Filter], groups: list[Group]) -> None:
    """Set ``excluded`` by the filters that look at completions alone, before rewards are compared."""
    for spec in filters:
        if spec.before_rewards:
            FORMULAS.of(spec)(spec, groups)


def apply(filters: Sequence[Filter], groups: list[Group], compares: Compared = "group") -> None:
    """Set ``excluded`` of the trajectories that the filters leave out; trajectories already excluded keep their reason.

    Args:
        filters: in order of application.
        groups: with advantages.
        compares: what a reward is compared with in the run; see ``RunSpec.compares``.
    """
    for spec in filters:
        if spec.stage == "trajectories":
            FORMULAS.of(spec)(spec, groups, compares)


def token_filters(filters: Sequence[Filter]) -> list[Filter]:
    """Filters that select tokens. They run in the learner, which has the entropies."""
    return [spec for spec in filters if spec.stage == "tokens"]


def keep(spec: Filter, logprobs: Tensor, entropies: Tensor, rewards: Tensor) -> Tensor:
    """Mask of a minibatch's tokens that keep their advantage → bool [N].

    A token that is left out still counts in the denominators, as in the papers' objectives.

    Args:
        spec: a filter that selects tokens.
        logprobs: the learner's, at the sampling temperature, shape [N].
        entropies: the learner's, in nats, shape [N].
        rewards: the rewards of the token's completion, shape [N].
    """
    kept: Tensor = FORMULAS.of(spec)(spec, logprobs, entropies, rewards)
    return kept
