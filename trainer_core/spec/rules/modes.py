"""Rules on how generation and learning interleave: what each mode can and cannot do."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainer_core.spec.generation.rollout import StreamedMode, SyncMode, TailBatchingScheduler
from trainer_core.spec.methods.aggregation import ConstantNormaliser, SequenceMean, TokenMean
from trainer_core.spec.methods.entropy import AdaptiveEntropyBonus
from trainer_core.spec.rewards.length_shaping import GRPOLambdaLength

if TYPE_CHECKING:
    from trainer_core.spec.run import RunSpec

Path = tuple[str | int, ...]


def streaming(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """``streamed`` learns groups before the batch is complete: nothing may need the whole of it."""
    if not isinstance(spec.rollout.mode, StreamedMode):
        return
    where: Path = ("rollout", "mode")
    advantage, updates = spec.advantage, spec.schedule.updates_per_step
    if spec.schedule.epochs > 1:
        yield where, f"streamed learns a group as it arrives, once: not in {spec.schedule.epochs} passes over the batch"
    if updates > 1:
        yield where, f"streamed learns a batch while it is generated, in one update: not in {updates} updates per step"
    if not advantage.groupwise or advantage.needs_scores:
        yield where, f"streamed needs the advantages of each group immediately; {advantage.type} needs the whole batch"
    if isinstance(spec.entropy, AdaptiveEntropyBonus):
        yield where, "streamed begins to learn before the step's entropy is known, which adaptive needs"
    for chosen in spec.filters:
        if chosen.whole_step:
            yield where, f"streamed filters each group by itself; {chosen.type} needs the whole batch"
    if isinstance(spec.reward.length, GRPOLambdaLength):
        yield where, "streamed shapes each group by itself; grpo_lambda ranks the groups of the whole batch"
    if not isinstance(spec.aggregation, TokenMean | SequenceMean | ConstantNormaliser):
        yield where, f"streamed divides by one count at the end; {spec.aggregation.type} needs one for each group"


def over_provisioning(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """Stopping at a full batch is for ``sync``; what is stopped must be learned before it is too old."""
    rollout, partial = spec.rollout, spec.rollout.partial
    tails = isinstance(rollout.scheduler, TailBatchingScheduler)
    where: Path = ("rollout", "partial", "over_provision")
    if partial.token_budget is not None:
        budget: Path = ("rollout", "partial", "token_budget")
        if partial.over_provision == 1.0:
            yield budget, "a token budget stops unfinished groups early: over_provision must be above 1"
        if tails:
            yield budget, "tail_batching counts groups, not their tokens: choose fifo"
    if partial.over_provision == 1.0:
        if tails:
            yield where, "tail_batching stops the longest groups of a full batch: it must be above 1"
        return
    if not isinstance(rollout.mode, SyncMode):
        yield where, f"{rollout.mode.type} does not stop the engines at a full batch: over-provisioning needs sync"
    elif not tails and partial.over_provision > partial.max_continuations + 1:
        yield (
            where,
            f"{partial.over_provision:g} times the batch cannot be learned within {partial.max_continuations} "
            f"continuations: at most {partial.max_continuations + 1}",
        )
