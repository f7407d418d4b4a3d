"""Work of a run's workers in a step, and how its loop interleaves generation and learning."""

import math
from dataclasses import dataclass
from typing import Literal

from trainer_core.planning.rates import Rates
from trainer_core.spec import RunSpec


class PlanError(ValueError):
    """A request that contradicts itself; the message is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class Workload:
    """One training step, and the rates at which it is processed."""

    prompts: int
    """Groups per step."""
    group_size: int
    max_tokens: int
    max_running: int
    """Most sequences that run at the same time in one engine."""
    updates: int
    """Minibatches per pass over the batch, with one optimizer update each."""
    rates: Rates
    epochs: int = 1
    """Passes over the batch."""
    context_ranks: int = 1
    """Learner ranks that share the tokens of each micro-batch."""

    @property
    def samples(self) -> int:
        """Trajectories per step."""
        return self.prompts * self.group_size

    def max_ranks(self) -> int:
        """Most learner ranks that a minibatch can keep busy."""
        return max(1, self.samples // self.updates) * self.context_ranks

    def learn_seconds(self, tokens: float, longest: float, ranks: int) -> float:
        """Time in which ``ranks`` learn from ``tokens`` in all passes, if the longest trajectory has ``longest``."""
        learner = self.rates.learner

        def tokens_per_s(together: int) -> float:
            return learner.tokens_per_s * together * learner.doubling_efficiency ** math.log2(together)

        # A trajectory belongs to one group of ranks, which share its tokens.
        return self.epochs * max(tokens / tokens_per_s(ranks), longest / tokens_per_s(min(ranks, self.context_ranks)))


ModeName = Literal["sync", "streamed", "async", "in_flight"]


@dataclass(frozen=True, slots=True)
class LoopMode:
    """Interleaving of generation and learning."""

    name: ModeName
    max_staleness: int = 0
    """A group is dispatched if at most this many updates will lie between its dispatch and the update that learns
    it."""
    streams: bool = False
    """Finished groups are learned while others of the same batch are still generated."""
    interrupts: bool = False
    """New weights are loaded while sequences run. Otherwise they wait until no sequence runs."""
    recomputes_kv: bool = False
    """Running sequences recompute their keys and values under new weights."""
    surplus: float = 0.0
    """Groups dispatched beyond the batch, as a share of it; unfinished ones continue in the next step."""


def workload(spec: RunSpec, rates: Rates) -> Workload:
    """The step of ``spec``.

    Raises:
        PlanError: prompts and completions do not fit in the engine.
    """
    engine, rollout = spec.rollout.engine, spec.rollout
    if rates.prompt_tokens + rollout.max_tokens > engine.max_model_len:
        raise PlanError(
            f"prompts of {rates.prompt_tokens:g} tokens and completions of up to {rollout.max_tokens} "
            f"do not fit into max_model_len ({engine.max_model_len})."
        )
    return Workload(
        prompts=spec.schedule.prompts_per_step,
        group_size=rollout.group_size,
        max_tokens=rollout.max_tokens,
        max_running=engine.max_num_seqs,
        updates=spec.schedule.updates_per_step,
        rates=rates,
        epochs=spec.schedule.epochs,
        context_ranks=spec.parallelism.context_parallel_size,
    )
