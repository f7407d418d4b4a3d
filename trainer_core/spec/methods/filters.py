"""Which trajectories, and which tokens of them, are left out of the loss."""

from typing import Annotated, Literal

from pydantic import Field

from trainer_core.spec.base import SpecModel, field, method_doc


class ZeroAdvantageFilter(SpecModel):
    """Leave out groups whose rewards are all the same: they carry no signal.

    Where the advantage compares each part of the reward alone, these are the groups whose advantages are all 0; where
    it compares with the batch or with a critic's value, equal rewards do carry a signal and no group is left out.
    """

    model_config = method_doc(
        "Zero-advantage groups", "drop when max(r) − min(r) ≤ tolerance", "DAPO (arXiv 2503.14476), §3.2"
    )
    type: Literal["zero_advantage"] = "zero_advantage"
    tolerance: float = field(1e-8, ge=0.0)
    """Rewards closer than this count as equal."""


class TruncatedFilter(SpecModel):
    """Leave out completions that were cut at the maximum length (overlong filtering)."""

    model_config = method_doc("Overlong filtering", "mask when finish_reason = length", "DAPO (arXiv 2503.14476), §3.4")
    type: Literal["truncated"] = "truncated"


class OverlongFilter(SpecModel):
    """Leave out completions longer than a limit of their own, wherever the engine stops."""

    model_config = method_doc("Overlong by length", "mask when |o| > max_tokens", "DAPO (arXiv 2503.14476), §3.4")
    type: Literal["overlong"] = "overlong"
    max_tokens: int = field(ge=1, le=1_048_576, unit="tokens")
    """Longest completion that is learned from."""


class RepetitionFilter(SpecModel):
    """Leave out completions that ended in a loop, stopped by the engine for it or found by their last tokens."""

    model_config = method_doc(
        "Repetition",
        "mask when finish_reason = repetition, or the last tokens are one pattern of at most max_period tokens, "
        "min_repeats times over",
        "MiniMax-M1 (arXiv 2506.13585), §3.2 (early truncation of repetitive generation)",
    )
    type: Literal["repetition"] = "repetition"
    max_period: int = field(16, ge=1, le=1024, unit="tokens")
    """Longest pattern that is looked for."""
    min_repeats: int = field(8, ge=2, le=100_000)
    """How often the pattern must stand at the end."""


class HighEntropyTokensFilter(SpecModel):
    """Learn from the tokens at which the policy decides; those it is sure of keep their place in the denominators."""

    model_config = method_doc(
        "High-entropy tokens",
        "A_t ← A_t · [H_t ≥ τ], τ = the (1 − share) quantile of H over the minibatch",
        "Beyond the 80/20 rule (arXiv 2506.01939), eq. 5",
    )
    type: Literal["high_entropy"] = "high_entropy"
    share: float = field(0.2, gt=0.0, le=1.0, unit="share")
    """Share of the minibatch's tokens, those of the highest entropy, that keep their advantage."""


class MasteredTokensFilter(SpecModel):
    """While the policy's entropy is below a target, tokens of right answers that it masters are not trained further."""

    model_config = method_doc(
        "Mastered positive tokens",
        "while mean H < target_entropy: A_t ← 0 where r ≥ success and π(t) ≥ probability",
        "UloRL (arXiv 2507.19766), §3.2",
    )
    type: Literal["mastered_tokens"] = "mastered_tokens"
    probability: float = field(0.99, gt=0.0, lt=1.0)
    """Probability from which a token counts as mastered."""
    target_entropy: float = field(0.2, ge=0.0, unit="nats")
    """Mean entropy of the minibatch's tokens below which mastered tokens rest."""
    success: float = field(1.0)
    """Reward from which an answer counts as right."""


class LengthOutliersFilter(SpecModel):
    """Dynamic outlier truncation: where every answer of a group is right, the far too long ones are cut short.

    A cut answer has no end, so it is worth ``reward`` instead: the one signal in a group that had none. It comes before
    the advantages are made. In a group of n, no length lies more than (n − 1)/√n sample deviations above the mean:
    below ``deviations`` = 3 that takes at least 11 samples.
    """

    model_config = method_doc(
        "Length outliers (DOT)",
        "if all r ≥ success: T = ⌊mean(L) + α·std(L)⌋; cut to T where L − T ≥ margin",
        "Anti-Length Shift (arXiv 2601.03969)",
    )
    type: Literal["length_outliers"] = "length_outliers"
    deviations: float = field(3.0, ge=0.0, le=10.0)
    """α: how many sample standard deviations above the mean length the cut is made."""
    margin: int = field(32, ge=1, unit="tokens")
    """Shortest excess that is cut off."""
    success: float = field(1.0)
    """Reward from which an answer counts as right."""
    reward: float = field(0.0)
    """Reward of an answer that was cut."""


class RecompositionFilter(SpecModel):
    """Rollout response recomposition: learn from short right and long wrong answers, and at times from the rest.

    In priority steps a share of the right answers, the shortest, and the same share of the wrong ones, the longest, is
    learned from. Every ``compensation_every`` steps the others have their turn: those of that step's own rollouts,
    which are on policy, where the paper takes them from a replay buffer.
    """

    model_config = method_doc(
        "Recomposition (RoRecomp)",
        "priority: shortest right ∪ longest wrong, ⌈share·n⌉ each; compensation: the others",
        "RoRecomp (arXiv 2509.25958)",
    )
    type: Literal["recomposition"] = "recomposition"
    share: float = field(0.5, gt=0.0, lt=1.0, unit="share")
    """Share of the right and of the wrong answers of a step that has priority."""
    compensation_every: int = field(4, ge=2, unit="steps")
    """Every so many steps the others are learned from instead."""
    success: float = field(0.5)
    """Reward from which an answer counts as right."""


Filter = Annotated[
    ZeroAdvantageFilter
    | TruncatedFilter
    | OverlongFilter
    | RepetitionFilter
    | HighEntropyTokensFilter
    | MasteredTokensFilter
    | LengthOutliersFilter
    | RecompositionFilter,
    Field(discriminator="type"),
]
