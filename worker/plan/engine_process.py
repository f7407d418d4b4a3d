"""The engine's side of a measurement. The functions run one after another in one process, which keeps the engine."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trainer_core.episodes import Group, Verdict
from trainer_core.spec import RunSpec
from worker.engine import Completion, EngineConfig, Request, SampleGroup, Sampling, ThinkTokens
from worker.engine.from_spec import concurrency, devices, fp8
from worker.messages.chunk import pack, unpack

if TYPE_CHECKING:
    from worker.engine import InferenceEngine


MEASURED_BATCHES, MOST_BATCHES, MEASURED_SECONDS = 2, 12, 3.0
"""Timed batches: at least the first number, and up to the second until the seconds are used up."""


@dataclass(frozen=True, slots=True)
class Generated:
    """Work that the engine did. Seconds are wall time."""

    steps: list[tuple[int, float]]
    """(running sequences, seconds) of each decode step."""
    prefill_tokens_per_s: float
    batch_seconds: float
    load_seconds: float
    lengths: list[float]
    groups: list[Group]
    """Groups for the learner to learn from."""


@dataclass(slots=True)
class _MeasuredEngine:
    engine: InferenceEngine
    spec: RunSpec
    sampling: Sampling
    prompts: list[NDArray[np.int32]]
    policy: str


_kept: _MeasuredEngine | None = None
"""Engine of the measuring process, and None in any other."""


def start(spec: RunSpec, policy: str, think: ThinkTokens | None, prompts: list[NDArray[np.int32]]) -> None:
    """Build the engine as a run would."""
    global _kept
    from worker.engine import InferenceEngine
    from worker.loop.dispatch import sampling

    settings = spec.rollout.engine
    config = EngineConfig(
        model_dir=policy,
        dtype=settings.dtype,
        max_model_len=settings.max_model_len,
        max_num_seqs=settings.max_num_seqs,
        kv_cache_gib=settings.kv_cache_gib,
        lm_head_dtype=settings.lm_head_dtype,
        concurrency=concurrency(settings.concurrency),
        cuda_graphs=settings.cuda_graphs,
        fp8=fp8(settings.quantization),
        think=think,
        stop_strings=spec.rollout.stop,
        devices=devices(settings),
    )
    _kept = _MeasuredEngine(InferenceEngine(config), spec, sampling(spec), prompts, policy)


def measure() -> Generated:
    """Run a warm-up batch, then timed batches, then a weight update."""
    kept = _live()
    _batch(kept, [])
    readings: list[tuple[int, int, float]] = []
    lengths: list[float] = []
    started = time.perf_counter()
    count = 0
    while count < MEASURED_BATCHES or (time.perf_counter() - started < MEASURED_SECONDS and count < MOST_BATCHES):
        completions = _batch(kept, readings)
        lengths += [float(len(completion.token_ids)) for completion in completions]
        count += 1
    seconds = time.perf_counter() - started
    prompt_tokens = sum(len(prompt) for prompt in kept.prompts) * kept.spec.rollout.group_size
    return Generated(
        steps=[(running, seconds) for running, admitted, seconds in readings if not admitted],
        prefill_tokens_per_s=count * prompt_tokens / _prefill_seconds(readings),
        batch_seconds=seconds / count,
        load_seconds=_load_seconds(kept),
        lengths=lengths,
        groups=_groups(kept, completions),
    )


def repeat(seconds: float) -> float:
    """Generate for about ``seconds``. Returns the mean wall time of a batch."""
    kept = _live()
    started = time.perf_counter()
    count = 0
    while count == 0 or time.perf_counter() - started < seconds:
        _batch(kept, [])
        count += 1
    return (time.perf_counter() - started) / count


def _live() -> _MeasuredEngine:
    if _kept is None:
        raise RuntimeError("the engine was not started")
    return _kept


def _batch(kept: _MeasuredEngine, readings: list[tuple[int, int, float]]) -> list[Completion]:
    """Generate one batch, and pack it as in a run.

    Appends (running sequences, sequences admitted, seconds) of each step to ``readings``.
    """
    engine, samples = kept.engine, kept.spec.rollout.group_size
    for place, prompt in enumerate(kept.prompts):
        ids = tuple(prompt.tolist())
        group = SampleGroup(str(place), samples)
        for sample in range(samples):
            engine.submit(Request(f"{place * samples + sample}", ids, kept.sampling, group=group))
    done: list[Completion] = []
    unfinished, waiting = len(kept.prompts) * samples, len(kept.prompts) * samples
    while engine.has_unfinished:
        started = time.perf_counter()
        finished = engine.step()
        seconds = time.perf_counter() - started
        left = engine.stats().waiting
        readings.append((unfinished - left, waiting - left, seconds))
        unfinished, waiting = unfinished - len(finished), left
        done += finished
    done.sort(key=lambda completion: int(completion.request_id))
    pack([(place, done[place * samples : (place + 1) * samples]) for place in range(len(kept.prompts))])
    return done


def _prefill_seconds(readings: list[tuple[int, int, float]]) -> float:
    """Time of the steps that admitted sequences, minus what they would have taken without."""
    decode = [(running, seconds) for running, admitted, seconds in readings if not admitted]
    extra = 0.0
    for running, admitted, seconds in readings:
        if admitted:
            nearest = min(decode, key=lambda one: abs(one[0] - running), default=(0, 0.0))
            extra += max(seconds - nearest[1], 0.0)
    # Prefill below the resolution of this difference does not matter to a plan.
    return max(extra, 1e-4)


def _load_seconds(kept: _MeasuredEngine) -> float:
    """Time a weight update with its probe: the second one, because the first one allocates buffers."""
    from pathlib import Path

    import torch
    from safetensors.torch import load_file

    tensors: dict[str, Any] = {}
    for file in sorted(Path(kept.policy).glob("*.safetensors")):
        tensors |= load_file(file)
    wanted = getattr(torch, kept.spec.rollout.engine.dtype)
    tensors = {name: tensors[name].to(wanted) for name in kept.engine.weight_shapes if name in tensors}
    seconds = 0.0
    for version in (1, 2):
        started = time.perf_counter()
        kept.engine.load_weights(version, tensors)
        kept.engine.score([[token % 16 for token in range(16)]] * 4)
        seconds = time.perf_counter() - started
    return seconds


def _groups(kept: _MeasuredEngine, completions: list[Completion]) -> list[Group]:
    """The batch as the loop hands it to the learner, with alternating advantages of ±1."""
    samples = kept.spec.rollout.group_size
    parts = [completions[start : start + samples] for start in range(0, len(completions), samples)]
    groups = [
        Group(f"1-{index}", f"measured:{index}", "measured", "measured@1", {}, "", 0) for index in range(len(parts))
    ]
    unpack(
        pack(list(enumerate(parts))),
        groups,
        [[prompt] * samples for prompt in kept.prompts],
        [kept.spec.rollout.temperature] * len(groups),
    )
    for group in groups:
        for place, trajectory in enumerate(group.trajectories):
            trajectory.verdict = Verdict(float(place % 2))
            trajectory.earn(1.0 - 2.0 * (place % 2))
    return groups
