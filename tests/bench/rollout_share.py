"""How much of the engine's own speed the product's rollout phase keeps: same prompts, same lengths, one run."""

import json
import multiprocessing
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.bench import long_tail
from tests.bench.report import Figure
from tests.bench.runs import demo_spec, train
from tests.support.installation import ROOT, Installation

PROMPTS, GROUP = 32, 8
WARM, LAST = 4, 5
"""Steps of a run that do not count: engines start cold, and at the end nothing is left to generate ahead."""
MODES: dict[str, dict[str, Any]] = {
    "sync": {"type": "sync"},
    "streamed": {"type": "streamed"},
    "async": {"type": "async", "max_staleness": 2},
    "in_flight": {"type": "in_flight", "max_staleness": 4},
}
DATA = {"sources": [{"name": "add_sub", "dataset": "gsm8k-add-sub@1"}]}


@dataclass(frozen=True)
class Task:
    """What is generated."""

    name: str
    slug: str
    folder: Path
    steps: int
    max_tokens: int
    engine: dict[str, Any]
    modes: tuple[str, ...]


def measure(installation: Installation) -> list[Figure]:
    """Tokens per second of the generation phase, against the engine alone just before and just after."""
    short = {"max_model_len": 96, "max_num_seqs": 256, "kv_cache_gib": 0.25}
    longest = long_tail.LENGTHS["max_tokens"]
    tasks = [
        Task("short", "starter", ROOT / "demo" / "starter-policy", 24, 32, short, tuple(MODES)),
        Task("long", "long-tail", long_tail.policy(installation), 14, longest, long_tail.ENGINE, ("sync", "async")),
    ]
    return [figure for task in tasks for figure in _measure(installation, task)]


def _measure(installation: Installation, task: Task) -> Iterator[Figure]:
    # In a process of its own: vLLM leaves settings in the environment that the peer must not inherit.
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        before = pool.submit(_engine_alone, task).result()
        for mode in task.modes:
            steps = _run(installation, task, mode)
            after = pool.submit(_engine_alone, task).result()
            # The speed of a virtual machine's cores drifts: sides that are compared run next to each other.
            alone, before = (before + after) / 2, after
            name = f"{task.name}, {mode}"
            yield Figure(f"{name}: engine alone", alone, "tokens/s")
            yield from _figures(name, steps, alone)


def _figures(name: str, steps: list[dict[str, float]], alone: float) -> Iterator[Figure]:
    phase = _median([m["perf/throughput"] * m["timing_s/step"] / m["timing_s/generate"] for m in steps])
    yield Figure(f"{name}: rollout phase", phase, "tokens/s")
    yield Figure(f"{name}: rollout phase / engine alone", phase / alone, "", "≥ 0.85")
    yield Figure(f"{name}: whole loop / engine alone", _median([m["perf/throughput"] for m in steps]) / alone)
    yield Figure(f"{name}: engine busy", _mean(steps, "perf/engine_busy_share"))
    if any("timing_s/paused" in m for m in steps):
        yield Figure(f"{name}: paused per weight update", _mean(steps, "timing_s/paused"), "s", "≤ 0.15")


def _run(installation: Installation, task: Task, mode: str) -> list[dict[str, float]]:
    """The steps of a run that count."""
    # A learning rate of almost nothing keeps the lengths of answers as they are.
    spec = demo_spec(
        installation,
        task.steps,
        policy__base=task.slug,
        optimizer__learning_rate=1e-12,
        rollout__mode=MODES[mode],
        rollout__max_tokens=task.max_tokens,
        rollout__engine=task.engine,
        data=DATA,
    )
    return train(installation, f"rollout share, {task.name}, {mode}", spec).metrics[WARM : task.steps - LAST]


def _mean(steps: list[dict[str, float]], name: str) -> float:
    found = [m[name] for m in steps if name in m]
    return sum(found) / len(found)


@cache
def _engine(folder: Path, **settings: Any) -> Any:
    from worker.engine import EngineConfig, InferenceEngine

    return InferenceEngine(EngineConfig(str(folder), **settings))


def _engine_alone(task: Task) -> float:
    from transformers import AutoTokenizer

    from worker.engine import Request, Sampling

    engine = _engine(task.folder, **task.engine)
    tokenizer = AutoTokenizer.from_pretrained(task.folder)
    lines = Path(ROOT / "demo" / "data" / "gsm8k-add-sub.jsonl").read_text().splitlines()
    count = task.steps - LAST
    prompts = [tuple(tokenizer(json.loads(line)["prompt"])["input_ids"]) for line in lines[: PROMPTS * count]]
    speeds = []
    for step in range(count):
        start, tokens = time.perf_counter(), 0
        for index, prompt in enumerate(prompts[step * PROMPTS : (step + 1) * PROMPTS]):
            for sample in range(GROUP):
                sampling = Sampling(temperature=1.0, max_tokens=task.max_tokens)
                engine.submit(Request(f"{step}-{index}-{sample}", prompt, sampling))
        while engine.has_unfinished:
            tokens += sum(len(completion.token_ids) for completion in engine.step())
        speeds.append(tokens / (time.perf_counter() - start))
    return _median(speeds[WARM:])


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
