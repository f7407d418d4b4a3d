"""Rates from what a run has reported step by step. Names of metrics: ``trainer_core.metrics``."""

from collections.abc import Mapping, Sequence
from statistics import median

from trainer_core.planning.fitting import line
from trainer_core.planning.lengths import LognormalLengths, strata
from trainer_core.planning.modes import chosen_mode
from trainer_core.planning.rates import DecodePoint, EngineRates, LearnerRates, Rates, SyncRates
from trainer_core.planning.simulate import simulate
from trainer_core.planning.workload import PlanError, workload
from trainer_core.spec import RunSpec

NEEDED = (
    "timing_s/step",
    "timing_s/generate",
    "timing_s/reward",
    "timing_s/learn",
    "timing_s/sync",
    "perf/engine_busy_share",
    "perf/running_sequences",
    "prompt_length/mean",
    "response_length/mean",
    "response_length/p50",
    "groups/zero_advantage_share",
)
"""Metrics that are used."""
PAUSED = "timing_s/paused"
"""Used if it is reported: how long generation is paused for new weights. Otherwise the whole sync counts."""
LEAST_STEPS, WARM_STEPS = 5, 3
"""Minimum number of steps, and number of first steps that are left out if enough others exist."""


def rates_from_steps(spec: RunSpec, steps: Sequence[Mapping[str, float]], source: str) -> Rates:
    """Rates of the machines that ``spec`` ran on.

    The prefill is part of the decode times. Handovers between processes are visible only if generation and learning do
    not overlap.

    Args:
        spec: the spec that the steps ran under.
        steps: metrics of each, in order; steps that lack one of ``NEEDED`` are left out.
        source: the origin of the measurement, in words.

    Raises:
        PlanError: fewer than ``LEAST_STEPS`` complete steps.
    """
    complete = [step for step in steps if all(name in step for name in NEEDED)]
    if len(complete) < LEAST_STEPS:
        raise PlanError(f"rates need {LEAST_STEPS} steps with reported times; there are {len(complete)}.")
    if len(complete) >= LEAST_STEPS + WARM_STEPS:
        complete = complete[WARM_STEPS:]
    typical = {name: median(step[name] for step in complete) for name in NEEDED}
    share = _learned_share(spec, typical)
    tokens_per_s, fixed = _learner(spec, complete)
    overlap = spec.rollout.overlaps or spec.rollout.mode.type == "streamed"
    phases = ("timing_s/generate", "timing_s/reward", "timing_s/learn", "timing_s/sync")
    between = median(step["timing_s/step"] - sum(step[name] for name in phases) for step in complete)
    rates = Rates(
        source=source,
        engine=EngineRates(decode=_decode(spec, complete), gpus=spec.rollout.engine.devices),
        learner=LearnerRates(tokens_per_s=tokens_per_s, seconds_per_update=fixed / spec.schedule.updates),
        sync=_sync(complete, typical["timing_s/sync"]),
        reward_seconds=typical["timing_s/reward"],
        loop_seconds=0.0 if overlap else max(0.0, between),
        prompt_tokens=max(1.0, typical["prompt_length/mean"]),
        lengths=_lengths(spec, typical),
        learned_share=share,
    )
    busy = [step["perf/engine_busy_share"] * step["timing_s/step"] for step in complete]
    return _calibrated(spec, rates, median(seconds for seconds in busy if seconds > 0))


def _calibrated(spec: RunSpec, rates: Rates, busy: float) -> Rates:
    """Scale the decode times so that the modelled engine is busy for as long in the run's own step as the real one
    was."""
    parallelism = spec.parallelism
    work = workload(spec, rates)
    modelled = simulate(work, chosen_mode(spec), parallelism.rollout_workers, parallelism.learner_ranks)
    factor = modelled.engine_seconds / busy
    decode = tuple(
        DecodePoint(running=point.running, tokens_per_s=point.tokens_per_s * factor) for point in rates.engine.decode
    )
    return rates.model_copy(update={"engine": rates.engine.model_copy(update={"decode": decode})})


def _samples(spec: RunSpec) -> int:
    return spec.schedule.prompts_per_step * spec.rollout.group_size


def _decode(spec: RunSpec, steps: Sequence[Mapping[str, float]]) -> tuple[DecodePoint, ...]:
    """Time of a decode step as a line over the load, from (mean running sequences, mean time of a decode step)."""
    engines = spec.parallelism.rollout_workers
    points = []
    for step in steps:
        tokens = _samples(spec) * step["response_length/mean"] / engines
        running = step["perf/running_sequences"] / engines
        busy = step["perf/engine_busy_share"] * step["timing_s/step"]
        if running > 0 and busy > 0:
            points.append((running, busy / (tokens / running)))
    if not points:
        raise PlanError("the run's engines reported no running sequences.")
    fixed, per_sequence = line(points)
    load = median(running for running, _ in points)
    if fixed == 0.0:
        seconds = median(seconds for _, seconds in points)
        return (DecodePoint(running=load, tokens_per_s=load / seconds),)
    high = max(2.0, max(running for running, _ in points))
    return tuple(
        DecodePoint(running=running, tokens_per_s=running / (fixed + per_sequence * running)) for running in (1.0, high)
    )


def _learner(spec: RunSpec, steps: Sequence[Mapping[str, float]]) -> tuple[float, float]:
    """(tokens per second of one rank in one pass, fixed seconds per step)."""
    points = [
        (
            spec.schedule.epochs
            * _samples(spec)
            * (step["prompt_length/mean"] + step["response_length/mean"])
            * _learned_share(spec, step),
            step["timing_s/learn"],
        )
        for step in steps
    ]
    worked = [(tokens, seconds) for tokens, seconds in points if tokens > 0 and seconds > 0]
    if not worked:
        raise PlanError("the run's learner has not made an update.")
    fixed, per_token = line(worked)
    return 1.0 / per_token / spec.parallelism.learner_ranks, fixed


def _sync(steps: Sequence[Mapping[str, float]], whole: float) -> SyncRates:
    paused = [step[PAUSED] for step in steps if PAUSED in step]
    load = min(median(paused), whole) if paused else whole
    return SyncRates(publish_seconds=whole - load, load_seconds=load)


def _learned_share(spec: RunSpec, step: Mapping[str, float]) -> float:
    """Share of the completions that the filter for groups without signal passes to the learner."""
    filtered = spec.compares in ("group", "parts") and any(one.type == "zero_advantage" for one in spec.filters)
    return max(1e-3, 1.0 - step["groups/zero_advantage_share"]) if filtered else 1.0


def _lengths(spec: RunSpec, typical: Mapping[str, float]) -> LognormalLengths:
    """The lognormal distribution with the run's median whose mean, truncated at ``max_tokens``, is the run's."""
    middle = max(1.0, typical["response_length/p50"])
    low, high = 0.0, 5.0
    for _ in range(30):
        sigma = (low + high) / 2
        law = strata(LognormalLengths(median=middle, sigma=sigma), 128, spec.rollout.max_tokens)
        low, high = (low, sigma) if sum(law) / len(law) > typical["response_length/mean"] else (sigma, high)
    return LognormalLengths(median=middle, sigma=low)
