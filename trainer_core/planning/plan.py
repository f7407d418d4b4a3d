"""Time and cost of a run, and the best split of its GPUs in each mode."""

from dataclasses import dataclass

from trainer_core.planning.modes import all_modes, chosen_mode
from trainer_core.planning.rates import Rates
from trainer_core.planning.rows import RowStep, best_row_step, row_step, sequences
from trainer_core.planning.simulate import simulate
from trainer_core.planning.split import Split, best_split
from trainer_core.planning.workload import LoopMode, ModeName, PlanError, Workload, workload
from trainer_core.spec import RunSpec

MAX_GPUS = 65_536


@dataclass(frozen=True, slots=True)
class ModePlan:
    """Expected speed and cost of one mode on one split. Seconds are per step."""

    mode: ModeName
    max_staleness: int
    """Bound, in versions."""
    rollout_gpus: int
    learner_gpus: int
    rollout_workers: int
    learner_ranks: int
    unused_gpus: int
    """GPUs, of those given, that would not make the step shorter."""
    step_seconds: float
    total_seconds: float
    """All steps, without start-up, evaluations and checkpoints."""
    generate_seconds: float
    """Seconds of a step in which the mean engine generates."""
    learn_seconds: float
    """Seconds of a step in which the learner learns and publishes."""
    load_seconds: float
    """Seconds of a step in which engines stand still for new weights."""
    engine_idle_share: float
    learner_idle_share: float
    tokens_per_s: float
    """Completion tokens learned per second."""
    staleness: float
    """Mean number of updates between the dispatch of a group and its own."""
    gpu_hours: float
    """GPU hours of the whole run, unused GPUs left out."""
    cost: float | None
    """``gpu_hours`` times the price of one; None without a price."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """Answers for one run spec."""

    gpus: int
    source: str
    """Origin of the rates."""
    mean_tokens: float
    """Mean completion length."""
    current: ModePlan
    """The spec as it stands: its mode, workers and ranks."""
    modes: tuple[ModePlan, ...]
    """The best split of each mode; one for a run that learns from rows, which has no engines."""


def plan(spec: RunSpec, gpus: int, rates: Rates, *, price: float | None = None) -> RunPlan:
    """Predict ``spec`` as it is, and find the best split of ``gpus`` in each mode.

    Args:
        spec: the run.
        gpus: devices for engines and learner together; workers on a machine without GPUs count as one each.
        rates: the rates of engines, learner and weight updates.
        price: the price of one GPU hour, in any currency.

    Raises:
        PlanError: the request contradicts itself.
    """
    if not 1 <= gpus <= MAX_GPUS:
        raise PlanError(f"a plan needs 1 to {MAX_GPUS} GPUs, not {gpus}.")
    if price is not None and not price >= 0:
        raise PlanError(f"a price must be 0 or more, not {price:g}.")
    if spec.examples is not None:
        return _of_rows(spec, gpus, rates, price)
    work = workload(spec, rates)
    found = tuple(_describe(spec, work, mode, best_split(work, mode, gpus), gpus, price) for mode in all_modes(spec))
    return RunPlan(
        gpus=gpus,
        source=rates.source,
        mean_tokens=found[0].tokens_per_s * found[0].step_seconds / work.samples,
        current=_as_it_stands(spec, work, price),
        modes=found,
    )


def _of_rows(spec: RunSpec, gpus: int, rates: Rates, price: float | None) -> RunPlan:
    """The plan of a run that learns from rows: it has one mode, and no engines."""
    own = row_step(spec, rates, spec.parallelism.learner_ranks)
    samples = spec.schedule.prompts_per_step * sequences(spec)
    return RunPlan(
        gpus=gpus,
        source=rates.source,
        mean_tokens=own.completion_tokens / samples,
        current=_of_row_step(spec, own, rates, own.ranks * rates.learner.gpus, price),
        modes=(_of_row_step(spec, best_row_step(spec, rates, gpus), rates, gpus, price),),
    )


def _of_row_step(spec: RunSpec, step: RowStep, rates: Rates, gpus: int, price: float | None) -> ModePlan:
    used, total = step.ranks * rates.learner.gpus, step.step_seconds * spec.schedule.steps
    hours = used * total / 3600
    return ModePlan(
        mode="sync",
        max_staleness=0,
        rollout_gpus=0,
        learner_gpus=used,
        rollout_workers=0,
        learner_ranks=step.ranks,
        unused_gpus=gpus - used,
        step_seconds=step.step_seconds,
        total_seconds=total,
        generate_seconds=0.0,
        learn_seconds=step.learn_seconds,
        load_seconds=0.0,
        engine_idle_share=0.0,
        learner_idle_share=_idle(step.learn_seconds, step.step_seconds),
        tokens_per_s=step.completion_tokens / step.step_seconds,
        staleness=0.0,
        gpu_hours=hours,
        cost=None if price is None else hours * price,
    )


def _as_it_stands(spec: RunSpec, work: Workload, price: float | None) -> ModePlan:
    mode = chosen_mode(spec)
    engines, ranks = spec.parallelism.rollout_workers, spec.parallelism.learner_ranks
    used = engines * work.rates.engine.gpus + ranks * work.rates.learner.gpus
    split = Split(engines, ranks, used, simulate(work, mode, engines, ranks))
    return _describe(spec, work, mode, split, used, price)


def _describe(spec: RunSpec, work: Workload, mode: LoopMode, split: Split, gpus: int, price: float | None) -> ModePlan:
    line = split.timeline
    total = line.step_seconds * spec.schedule.steps
    hours = split.gpus * total / 3600
    return ModePlan(
        mode=mode.name,
        max_staleness=mode.max_staleness,
        rollout_gpus=split.engines * work.rates.engine.gpus,
        learner_gpus=split.ranks * work.rates.learner.gpus,
        rollout_workers=split.engines,
        learner_ranks=split.ranks,
        unused_gpus=gpus - split.gpus,
        step_seconds=line.step_seconds,
        total_seconds=total,
        generate_seconds=line.engine_seconds,
        learn_seconds=line.learner_seconds,
        load_seconds=line.load_seconds,
        engine_idle_share=_idle(line.engine_seconds, line.step_seconds),
        learner_idle_share=_idle(line.learner_seconds, line.step_seconds),
        tokens_per_s=line.tokens_per_step / line.step_seconds,
        staleness=line.staleness,
        gpu_hours=hours,
        cost=None if price is None else hours * price,
    )


def _idle(busy: float, whole: float) -> float:
    return min(max(1.0 - busy / whole, 0.0), 1.0)
