"""Work that a run asks of its workers in a step, and how its loop interleaves generation and learning."""

import math
from dataclasses import dataclass
from typing import Literal

from trainer_core.planning.rates import Rates
from trainer_core.spec import RunSpec


class PlanError(ValueError):
    """A request that contradicts itself; the message is one sentence for a person."""


@dataclass(frozen=True, slots=True)
class Workload:
    """One training step, and the rates at which it is worked on."""

    prompts: int
    """Groups per step."""
    group_size: int
    max_tokens: int
    max_running: int
    """Sequences that run at the same time in one engine."""
    updates: int
    """Minibatches that a pass over the batch is cut into: an optimizer update each."""
    rates: Rates
    epochs: int = 1
    """Passes over the batch."""
    context_ranks: int = 1
    """Learner ranks that share out the tokens of each micro-batch."""

    @property
    def samples(self) -> int:
        """Trajectories per step."""
        return self.prompts * self.group_size

    def max_ranks(self) -> int:
        """Learner ranks that a minibatch can feed."""
        return max(1, self.samples // self.updates) * self.context_ranks

    def learn_seconds(self, tokens: float, longest: float, ranks: int) -> float:
        """Time in which ``ranks`` learn from ``tokens``, of which one trajectory has ``longest``, in all passes."""
        learner = self.rates.learner

        def tokens_per_s(together: int) -> float:
            return learner.tokens_per_s * together * learner.doubling_efficiency ** math.log2(together)

        # A trajectory is one group's; its ranks share its tokens out.
        return self.epochs * max(tokens / tokens_per_s(ranks), longest / tokens_per_s(min(ranks, self.context_ranks)))


ModeName = Literal["sync", "streamed", "async", "in_flight"]


@dataclass(frozen=True, slots=True)
class LoopMode:
    """A way to interleave generation and learning."""

    name: ModeName
    max_staleness: int = 0
    """A group is dispatched when at most this many updates will lie between it and its own."""
    streams: bool = False
    """Finished groups are learned while others of the same batch are still generated."""
    interrupts: bool = False
    """New weights are loaded under running sequences. Otherwise they wait until no sequence runs."""
    recomputes_kv: bool = False
    """Running sequences compute their keys and values anew under new weights."""
    surplus: float = 0.0
    """Groups dispatched beyond the batch, as a share of it; unfinished ones go on in the next step."""


def workload(spec: RunSpec, rates: Rates) -> Workload:
    """The step of ``spec``.

    Raises:
        PlanError: prompts and completions do not fit into the engine.
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
