"""How much of the engine's own speed the product's rollout phase keeps: same prompts, same lengths, one run."""

import json
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.bench.report import Figure
from tests.bench.runs import demo_spec, train
from tests.support.installation import ROOT, Installation

STEPS, PROMPTS, GROUP, MAX_TOKENS = 16, 32, 8, 32
DATA = {"sources": [{"name": "add_sub", "dataset": "gsm8k-add-sub@1"}]}
POLICY = ROOT / "demo" / "starter-policy"


def measure(installation: Installation) -> list[Figure]:
    """Tokens per second of the generation phase, against the engine alone."""
    # In a process of its own: vLLM leaves settings in the environment that the peer must not inherit.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        alone = pool.submit(_engine_alone).result()
    figures = [Figure("engine alone", alone, "tokens/s")]
    for mode in ("sync", "async"):
        phase, whole = _run(installation, mode)
        figures += [
            Figure(f"{mode}: rollout phase", phase, "tokens/s"),
            Figure(f"{mode}: rollout phase / engine alone", phase / alone, "", "≥ 0.85"),
            Figure(f"{mode}: whole loop / engine alone", whole / alone),
        ]
    return figures


def _run(installation: Installation, mode: str) -> tuple[float, float]:
    """Tokens per second of the rollout phase and of the whole loop."""
    # A learning rate of almost nothing keeps the lengths of answers as they are.
    spec = demo_spec(installation, STEPS, optimizer__learning_rate=1e-12, rollout__mode={"type": mode}, data=DATA)
    steps = train(installation, f"rollout share, {mode}", spec).metrics[3:]
    phase = _median([m["perf/throughput"] * m["timing_s/step"] / m["timing_s/generate"] for m in steps])
    return phase, _median([m["perf/throughput"] for m in steps])


def _engine_alone() -> float:
    from transformers import AutoTokenizer

    from worker.engine import Engine, EngineConfig, Request, Sampling

    tokenizer = AutoTokenizer.from_pretrained(POLICY)
    lines = Path(ROOT / "demo" / "data" / "gsm8k-add-sub.jsonl").read_text().splitlines()
    prompts = [tuple(tokenizer(json.loads(line)["prompt"])["input_ids"]) for line in lines[: PROMPTS * STEPS]]
    speeds = []
    with Engine(EngineConfig(str(POLICY), max_model_len=96, max_num_seqs=256, kv_cache_gib=0.25)) as engine:
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
