"""Conversion of a run spec's settings to the engine's own types."""

from __future__ import annotations

from dataclasses import replace

from trainer_core.spec.generation import early_stop, rollout
from trainer_core.spec.learner import precision
from worker.engine.types import ConcurrencyConfig, EngineDevices, Fp8Config, NgramLoop, ProbabilityRun, Prune, Sampling


def with_early_stops(sampling: Sampling, spec: early_stop.EarlyStop) -> Sampling:
    """`sampling` with the early stops of a spec."""
    run, loop, prune = spec.probability_run, spec.ngram_loop, spec.prune
    return replace(
        sampling,
        probability_run=None if run is None else ProbabilityRun(run.tokens, run.probability),
        ngram_loop=None if loop is None else NgramLoop(loop.size, loop.repeats),
        prune=None if prune is None else Prune(prune.after, prune.keep),
    )


def concurrency(spec: rollout.Concurrency) -> ConcurrencyConfig | None:
    """`EngineConfig.concurrency` of a spec."""
    match spec:
        case rollout.FixedConcurrency():
            return None
        case rollout.AdaptiveConcurrency():
            return ConcurrencyConfig(spec.kv_target, spec.increase, spec.decrease)


def fp8(spec: precision.Fp8 | None) -> Fp8Config | None:
    """`EngineConfig.fp8` of a spec."""
    return None if spec is None else Fp8Config(spec.scales, spec.activations, spec.execution)


def devices(spec: rollout.Engine) -> EngineDevices:
    """`EngineConfig.devices` of a spec."""
    return EngineDevices(spec.tensor_parallel_size, spec.pipeline_parallel_size, spec.expert_parallel)
