"""How much of the engine's own speed the product's rollout phase keeps: same prompts, same lengths, one run."""

import json
import multiprocessing
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from tests.bench.report import Figure
from tests.bench.runs import demo_spec, train
from tests.support.installation import ROOT, Installation

STEPS, PROMPTS, GROUP, MAX_TOKENS = 24, 32, 8, 32
MODES: dict[str, dict[str, Any]] = {
    "sync": {"type": "sync"},
    "streamed": {"type": "streamed"},
    "async": {"type": "async", "max_staleness": 2},
    "in_flight": {"type": "in_flight", "max_staleness": 4},
}
DATA = {"sources": [{"name": "add_sub", "dataset": "gsm8k-add-sub@1"}]}
POLICY = ROOT / "demo" / "starter-policy"


def measure(installation: Installation) -> list[Figure]:
    """Tokens per second of the generation phase, against the engine alone just before and just after."""
    # In a process of its own: vLLM leaves settings in the environment that the peer must not inherit.
    context = multiprocessing.get_context("spawn")
    figures: list[Figure] = []
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        before = pool.submit(_engine_alone).result()
        for name, mode in MODES.items():
            steps = _run(installation, name, mode)
            after = pool.submit(_engine_alone).result()
            # The speed of a virtual machine's cores drifts: sides that are compared run next to each other.
            alone, before = (before + after) / 2, after
            figures += [Figure(f"{name}: engine alone", alone, "tokens/s"), *_figures(name, steps, alone)]
    return figures


def _figures(name: str, steps: list[dict[str, float]], alone: float) -> Iterator[Figure]:
    phase = _median([m["perf/throughput"] * m["timing_s/step"] / m["timing_s/generate"] for m in steps])
    yield Figure(f"{name}: rollout phase", phase, "tokens/s")
    yield Figure(f"{name}: rollout phase / engine alone", phase / alone, "", "≥ 0.85")
    yield Figure(f"{name}: whole loop / engine alone", _median([m["perf/throughput"] for m in steps]) / alone)
    yield Figure(f"{name}: engine busy", _mean(steps, "perf/engine_busy_share"))
    if any("timing_s/paused" in m for m in steps):
        yield Figure(f"{name}: paused per weight update", _mean(steps, "timing_s/paused"), "s", "≤ 0.15")


def _run(installation: Installation, name: str, mode: dict[str, Any]) -> list[dict[str, float]]:
    """The steps of a run, but for the first ones, and the last ones, in which nothing is left to generate ahead."""
    # A learning rate of almost nothing keeps the lengths of answers as they are.
    spec = demo_spec(installation, STEPS, optimizer__learning_rate=1e-12, rollout__mode=mode, data=DATA)
    return train(installation, f"rollout share, {name}", spec).metrics[4 : STEPS - 5]


def _mean(steps: list[dict[str, float]], name: str) -> float:
    found = [m[name] for m in steps if name in m]
    return sum(found) / len(found)


@cache
def _engine() -> Any:
    from worker.engine import Engine, EngineConfig

    return Engine(EngineConfig(str(POLICY), max_model_len=96, max_num_seqs=256, kv_cache_gib=0.25))


def _engine_alone() -> float:
    from transformers import AutoTokenizer

    from worker.engine import Request, Sampling

    tokenizer, engine = AutoTokenizer.from_pretrained(POLICY), _engine()
    lines = Path(ROOT / "demo" / "data" / "gsm8k-add-sub.jsonl").read_text().splitlines()
    prompts = [tuple(tokenizer(json.loads(line)["prompt"])["input_ids"]) for line in lines[: PROMPTS * STEPS]]
    speeds = []
    for step in range(STEPS):
        start, tokens = time.perf_counter(), 0
        for index, prompt in enumerate(prompts[step * PROMPTS : (step + 1) * PROMPTS]):
            for sample in range(GROUP):
                sampling = Sampling(temperature=1.0, max_tokens=MAX_TOKENS)
                engine.submit(Request(f"{step}-{index}-{sample}", prompt, sampling))
        while engine.has_unfinished:
            tokens += sum(len(completion.token_ids) for completion in engine.step())
        speeds.append(tokens / (time.perf_counter() - start))
    return _median(speeds[3:])


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
