"""A step of a run that learns from rows: nothing is generated, so its time is the learner's."""

from dataclasses import dataclass

from trainer_core.planning.lengths import strata
from trainer_core.planning.rates import Rates
from trainer_core.planning.workload import PlanError, Workload
from trainer_core.spec import RunSpec
from trainer_core.spec.objective import Preference

_REFERENCE = 4 / 3
"""Cost of a token whose reference policy is asked, too: one forward pass more beside one forward and one backward pass,
of which the backward one takes twice as long."""


@dataclass(frozen=True, slots=True)
class RowStep:
    """A step on a number of ranks. Times are in seconds."""

    ranks: int
    learn_seconds: float
    step_seconds: float
    completion_tokens: float
    """Tokens of all completions of the step, without prompts."""


def sequences(spec: RunSpec) -> int:
    """Sequences that the learner gets for one row."""
    return 2 if isinstance(spec.examples, Preference) else 1


def row_step(spec: RunSpec, rates: Rates, ranks: int) -> RowStep:
    """The step of ``spec`` with ``ranks`` learner ranks."""
    work = _work(spec, rates)
    completions = strata(rates.lengths, work.samples, spec.window)
    lengths = [min(rates.prompt_tokens + length, spec.window) for length in completions]
    passes = _REFERENCE if isinstance(spec.examples, Preference) and spec.examples.has_reference else 1.0
    learn = passes * work.learn_seconds(sum(lengths), max(lengths), ranks)
    learn += rates.learner.seconds_per_update * work.updates
    return RowStep(ranks, learn, learn + rates.loop_seconds, sum(completions))


def best_row_step(spec: RunSpec, rates: Rates, gpus: int) -> RowStep:
    """The fastest step on ``gpus`` devices, on as few ranks as it takes.

    Raises:
        PlanError: they are too few for one group of ranks.
    """
    together = spec.parallelism.context_parallel_size
    most = min(gpus // rates.learner.gpus, _work(spec, rates).max_ranks())
    if most < together:
        raise PlanError(f"the learner needs {together * rates.learner.gpus} GPUs, not {gpus}.")
    counts = {together} | {together << power for power in range(1, 17) if together << power <= most}
    counts.add(most // together * together)
    return min((row_step(spec, rates, ranks) for ranks in sorted(counts)), key=lambda step: step.step_seconds)


def _work(spec: RunSpec, rates: Rates) -> Workload:
    return Workload(
        prompts=spec.schedule.prompts_per_step,
        group_size=sequences(spec),
        max_tokens=spec.window,
        max_running=1,
        updates=spec.schedule.updates_per_step,
        rates=rates,
        context_ranks=spec.parallelism.context_parallel_size,
    )
