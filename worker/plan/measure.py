"""Measures the real engine and learner on the spec's policy, each in its own process, alone and together.

engine process    batch (warm-up) · batch, step by step · load and probe ─┐            ┌─ batch ∥
learner process   start ······························ wait ──────────────┴─► updates ─┴─ updates ∥
"""

from __future__ import annotations

import math
import multiprocessing
import os
import platform
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median

from trainer_core.planning import PlanError, Rates
from trainer_core.planning.lengths import EmpiricalLengths
from trainer_core.planning.rates import EngineRates, LearnerRates, SyncRates
from trainer_core.spec import RunSpec
from worker.plan import engine_process, learner_process
from worker.plan.documents import read_rows
from worker.plan.fit import decode_table, learner_line

Say = Callable[[str], None]
LENGTHS_KEPT = 512
OVERLAP_ROUNDS = 3


def measure(spec: RunSpec, policy: Path, prompts: Path, say: Say) -> Rates:
    """Rates of this machine for ``spec``.

    Rewards and the loop's own work are not measured: their seconds are 0, unless the caller sets them.

    Args:
        spec: the run; its batch, sampling and engine settings are used.
        policy: folder of the base policy.
        prompts: a dataset in JSON lines.
        say: called with a text about each stage.

    Raises:
        PlanError: policy or prompts cannot be used.
    """
    from worker.engine.tokenizer import PolicyTokenizer
    from worker.errors import StartError
    from worker.loop.folders import check_policy_folder
    from worker.loop.lengths import check_lengths

    rows = read_rows(prompts, spec.schedule.prompts_per_step)
    try:
        check_policy_folder(policy)
        tokenizer = PolicyTokenizer(policy)
        think = tokenizer.think_tokens(spec.thinking)
        form = spec.data.sources[0].format
        encoded = tokenizer.encode_rows(rows, form)
        check_lengths(spec, prompts.name, encoded)
    except StartError as error:
        raise PlanError(str(error)) from error
    context = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(1, mp_context=context, initializer=_quietly) as engine,
        ProcessPoolExecutor(1, mp_context=context, initializer=_quietly) as learner,
    ):
        say("starting the engine and the learner")
        started = [
            engine.submit(engine_process.start, spec, str(policy), think, encoded),
            learner.submit(learner_process.start, spec, str(policy)),
        ]
        for future in started:
            future.result()
        say("measuring the engine")
        generated = engine.submit(engine_process.measure).result()
        say("measuring the learner")
        learned = learner.submit(learner_process.measure, generated.groups).result()
        say("measuring both at the same time")
        seconds = max(1.0, 2 * (generated.batch_seconds + learned.update_seconds))
        slowdown = median(_slowdown(engine, learner, seconds) for _ in range(OVERLAP_ROUNDS))
    tokens_per_s, fixed = learner_line(learned.updates)
    return Rates(
        source=_source(policy),
        engine=EngineRates(
            decode=decode_table(generated.steps),
            prefill_tokens_per_s=generated.prefill_tokens_per_s,
            gpus=spec.rollout.engine.devices,
        ),
        learner=LearnerRates(tokens_per_s=tokens_per_s, seconds_per_update=fixed),
        sync=SyncRates(publish_seconds=learned.publish_seconds, load_seconds=generated.load_seconds),
        prompt_tokens=sum(len(prompt) for prompt in encoded) / len(encoded),
        lengths=EmpiricalLengths(tokens=_thinned(generated.lengths)),
        overlap_slowdown=min(max(1.0, slowdown), 10.0),
    )


def _slowdown(engine: ProcessPoolExecutor, learner: ProcessPoolExecutor, seconds: float) -> float:
    """Slowdown of a batch and an update that run at the same time: the geometric mean of the two factors.

    Alone and together are timed right after one another, so that other load on the machine affects both.
    """
    alone = [
        engine.submit(engine_process.repeat, seconds).result(),
        learner.submit(learner_process.repeat, seconds).result(),
    ]
    pending = [engine.submit(engine_process.repeat, seconds), learner.submit(learner_process.repeat, seconds)]
    together = [future.result() for future in pending]
    return math.sqrt(together[0] / alone[0] * (together[1] / alone[1]))


def _thinned(lengths: list[float]) -> tuple[float, ...]:
    """Lengths chosen evenly by rank, ascending: at most ``LENGTHS_KEPT``."""
    ordered = sorted(lengths)
    count = min(len(ordered), LENGTHS_KEPT)
    return tuple(ordered[(2 * place + 1) * len(ordered) // (2 * count)] for place in range(count))


def _quietly() -> None:
    """Silence stderr, where libraries print while they load and exit. Errors come back as exceptions."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def _source(policy: Path) -> str:
    cores = multiprocessing.cpu_count()
    return (
        f"measured on {platform.machine()} with {cores} cores: engine and learner of {policy.name}, alone and at the"
        " same time"
    )
