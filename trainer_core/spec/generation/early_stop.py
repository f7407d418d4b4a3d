"""Early end of completions that are not worth finishing."""

from typing import ClassVar

from trainer_core.spec.base import Advice, SpecModel, field, method_doc


class ProbabilityRunStop(SpecModel):
    """End a completion that has become certain of every next token: it repeats itself and will not stop."""

    model_config = method_doc(
        "Repetition by probability", "stop when π(y_t) > p for N tokens in a row", "MiniMax-M1 (arXiv 2506.13585)"
    )
    advice: ClassVar[Advice] = Advice(
        "Completions that repeat themselves with certainty.",
        ("rollouts/repetition_share", "response_length/clip_ratio"),
    )
    tokens: int = field(3000, ge=1, le=1_048_576, unit="tokens")
    """N: length of the run."""
    probability: float = field(0.99, gt=0.0, lt=1.0)
    """p: each token of the run is likelier than this under the sampling distribution."""


class NgramLoopStop(SpecModel):
    """End a completion that repeats the same n-gram over and over."""

    model_config = method_doc(
        "N-gram loop",
        "stop when, for a period p ≤ n, y_t = y_{t−p} throughout the last n · k tokens",
        "the repetition detection of vLLM, counted in tokens rather than in repeats of the shortest n-gram",
    )
    advice: ClassVar[Advice] = Advice(
        "Completions that fall into a loop.",
        ("rollouts/repetition_share", "response_length/clip_ratio"),
    )
    size: int = field(64, ge=1, le=4096, unit="tokens")
    """n: longest n-gram. A shorter one must fill as many tokens, so that a few equal digits are not a loop."""
    repeats: int = field(8, ge=3, le=1024)
    """k: consecutive repetitions of an n-gram of the longest size."""


class Pruning(SpecModel):
    """Stop the least promising samples of a group while they are generated.

    Once every sample of a group has ended or has ``after`` tokens, those with the lowest mean log-probability of these
    tokens are stopped, until the share ``keep`` of the group is left; samples that have ended are always kept. Pruned
    samples are excluded from the group's advantages and from the loss. The mean log-probability replaces the quality
    head that ARRoL trains.
    """

    model_config = method_doc(
        "Online pruning",
        "keep the ⌈keep · G⌉ samples with the highest mean log π(y_{≤ after}), ended ones first",
        "ARRoL (arXiv 2603.24840); confidence as in DeepConf (arXiv 2508.15260)",
    )
    advice: ClassVar[Advice] = Advice(
        "Long completions, and large groups in which the weak ones show early.",
        ("rollouts/pruned_share", "perf/throughput"),
    )
    after: int = field(512, ge=1, le=1_048_576, unit="tokens")
    """Tokens of each sample that are compared."""
    keep: float = field(0.5, gt=0.0, lt=1.0, unit="share")
    """Share of a group that is kept."""


class EarlyStop(SpecModel):
    """When a completion is ended before it ends itself. All off by default."""

    probability_run: ProbabilityRunStop | None = None
    """Repetition detected by the probability of its tokens."""
    ngram_loop: NgramLoopStop | None = None
    """Repetition detected by the tokens themselves."""
    prune: Pruning | None = None
    """Samples that are stopped in favour of the others."""
