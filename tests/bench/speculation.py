"""Speculation in the tail: speed with it against without, by running sequences, and on the long-tailed task; and χ²
of what is sampled."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.bench import long_tail
from tests.bench.report import Figure
from tests.bench.runs import train
from tests.support.installation import Installation

ROUNDS = 3
"""Times that each side is measured, in turns: a machine's speed drifts."""
RUNNING = (1, 4, 16, 64, 256)
TOKENS = 1_000_000
"""Tokens behind each χ²."""
LEAST_P = 0.01


@dataclass(frozen=True)
class Load:
    """What is generated, over and over, to compare."""

    name: str
    prompts: int
    samples: int
    temperature: float = 1.0


def measure(installation: Installation) -> list[Figure]:
    """The whole loop on the long-tailed task, speculation off and on in turns."""
    long_tail.policy(installation)
    figures: list[Figure] = []
    for name in ("async", "sync"):
        rates: dict[str, list[float]] = {"off": [], "tail": []}
        accepted = []
        for speculation in ("off", "tail", "tail", "off"):
            document = long_tail.run_spec(installation, long_tail.MODES[name])
            document["rollout"]["engine"] = long_tail.ENGINE | {"speculation": speculation}
            title = f"speculation {speculation}, {name}"
            steps = train(installation, title, document).metrics[long_tail.WARM : long_tail.STEPS - long_tail.LAST]
            seconds = sum(step["timing_s/step"] for step in steps)
            # Lengths are random: a step of more tokens is no slower loop.
            rates[speculation].append(sum(step["perf/throughput"] * step["timing_s/step"] for step in steps) / seconds)
            accepted += [step["speculation/accepted_share"] for step in steps if "speculation/accepted_share" in step]
        figures += [
            Figure(f"{name}: without", sum(rates["off"]) / 2, "tokens/s"),
            Figure(f"{name}: with", sum(rates["tail"]) / 2, "tokens/s"),
            Figure(
                f"{name}: with / without",
                sum(rates["tail"]) / sum(rates["off"]),
                "",
                "≥ 1.5" if name == "async" else "≥ 0.97",
            ),
            Figure(f"{name}: accepted share", sum(accepted) / max(len(accepted), 1)),
        ]
    return figures


def measure_engine() -> list[Figure]:
    """The engine alone: tokens per second with speculation against without, and the law of the tokens."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        figures = process.submit(_long_tailed).result()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        figures += process.submit(_random_text).result()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        figures += process.submit(_law).result()
    return figures


def _long_tailed() -> list[Figure]:
    from transformers import AutoTokenizer

    folder = long_tail.made()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    lines = Path(long_tail.PROMPTS).read_text().splitlines()
    prompts = [tuple(tokenizer(json.loads(line)["prompt"])["input_ids"]) for line in lines]
    engine = _engine(folder, **long_tail.ENGINE)
    figures = []
    for running in RUNNING:
        load = Load(f"{running} running", max(1, running // 8), min(8, running))
        figures += _compare(engine, load, prompts)
    return figures


def _random_text() -> list[Figure]:
    """A policy of random weights: nothing comes again."""
    with TemporaryDirectory() as folder:
        _random_policy(Path(folder), vocab=5000)
        engine = _engine(Path(folder), max_model_len=448, max_num_seqs=256, kv_cache_gib=1.0)
        prompts = [(3, 4 + n, 5 + n) for n in range(64)]
        return [
            figure
            for load in (Load("random text, 4 running", 1, 4), Load("random text, 64 running", 8, 8))
            for figure in _compare(engine, load, prompts)
        ]


def _engine(folder: Path, **settings: Any) -> Any:
    from worker.engine import EngineConfig, InferenceEngine

    return InferenceEngine(EngineConfig(str(folder), speculation="tail", **settings))


def _compare(engine: Any, load: Load, prompts: list[tuple[int, ...]]) -> Iterator[Figure]:
    speculator = engine._speculator
    speeds: dict[bool, float] = {}
    spent = {True: 0.0, False: 0.0}
    made = {True: 0, False: 0}
    before = speculator.stats
    for number in range(2 * ROUNDS + 2):
        on = number % 4 in (1, 2)
        engine._speculator = engine._core.scheduler.speculator = speculator if on else None
        start, tokens = time.perf_counter(), _generate(engine, load, prompts, number)
        if number > 1:  # the first of each warms up, and measures what steps cost
            spent[on] += time.perf_counter() - start
            made[on] += tokens
    engine._speculator = engine._core.scheduler.speculator = speculator
    for on in (True, False):
        speeds[on] = made[on] / spent[on]
    after = speculator.stats
    yield Figure(f"{load.name}: without", speeds[False], "tokens/s")
    yield Figure(f"{load.name}: with / without", speeds[True] / speeds[False], "", "≥ 0.97")
    if after.drafted > before.drafted:
        accepted = (after.accepted - before.accepted) / (after.drafted - before.drafted)
        yield Figure(f"{load.name}: accepted share", accepted)


def _generate(engine: Any, load: Load, prompts: list[tuple[int, ...]], number: int) -> int:
    """Keep as many answers running as the load has, for 24 answers or four of each. Returns the tokens made."""
    from worker.engine import Request, Sampling

    running = load.prompts * load.samples
    sampling = Sampling(temperature=load.temperature, max_tokens=long_tail.LENGTHS["max_tokens"])
    left, submitted, tokens = max(24, 3 * running), 0, 0
    while left:
        while submitted < max(24, 3 * running) and engine.stats().running + engine.stats().waiting < running:
            prompt = prompts[(97 * number + submitted // load.samples) % len(prompts)]
            engine.submit(Request(f"{number}-{submitted}", prompt, sampling))
            submitted += 1
        for completion in engine.step():
            tokens += len(completion.token_ids)
            left -= 1
    return tokens


def _law() -> list[Figure]:
    """χ² of 10^6 tokens against the policy's own probabilities, by the whole engine with the same draft every time."""
    with TemporaryDirectory() as folder:
        model = _random_policy(Path(folder), vocab=12, spread=0.2)
        engine = _engine(Path(folder), max_model_len=64, max_num_seqs=256, kv_cache_gib=0.25, stop_at_eos=False)
        kinds = ((1.0, 1.0, -1), (0.7, 1.0, -1), (1.0, 0.8, -1), (0.7, 1.0, 5))
        return [figure for kind in kinds for figure in _chi_squared(engine, model, *kind)]


def _chi_squared(engine: Any, model: Any, temperature: float, top_p: float, top_k: int) -> Iterator[Figure]:
    """The first token comes with the prompt, two are drafted, and one stands behind them."""
    import torch

    from tests.worker.engine.drafts import ForcedDrafts, chi_squared, speculating
    from worker.engine import Request, Sampling

    prompt: tuple[int, ...] = (3, 4, 5)
    draft: list[int] = []
    laws = []
    for _ in range(4):
        with torch.no_grad():
            logits = model(torch.tensor([[*prompt, *draft]])).logits[0, -1].double()
        laws.append(_law_of(logits / temperature, top_p, top_k))
        draft.append(int(laws[-1].argmax()))
    seen = torch.zeros(4, len(laws[0]), dtype=torch.float64)
    sampling = Sampling(temperature, top_p=top_p, top_k=top_k, max_tokens=4)
    number = 0
    with speculating(engine, ForcedDrafts(lambda _, after: draft[1:3] if after == 1 else [])):
        while seen.sum() < TOKENS:
            for _ in range(256):
                engine.submit(Request(f"r{number}", prompt, sampling))
                number += 1
            while engine.has_unfinished:
                for completion in engine.step():
                    for place, token in enumerate(completion.token_ids):
                        seen[place, token] += 1
                        if token != draft[place]:
                            break
    for place, (counts, law) in enumerate(zip(seen, laws, strict=True)):
        name = f"χ² at temperature {temperature}, top-p {top_p}, top-k {top_k}, token {place + 1}"
        yield Figure(f"{name}: p", chi_squared(counts.numpy(), law.numpy()), "", f"> {LEAST_P}")


def _law_of(logits: Any, top_p: float, top_k: int) -> Any:
    import torch

    p = torch.softmax(logits, -1)
    order = p.argsort(descending=True)
    kept = torch.zeros_like(p, dtype=torch.bool)
    kept[order[: len(p) if top_k < 0 else top_k]] = True
    p = torch.where(kept, p, 0.0)
    p = p / p.sum()
    before = p[order].cumsum(0) - p[order]
    p[order[before >= top_p]] = 0.0
    return p / p.sum()


def _random_policy(folder: Path, vocab: int, spread: float = 0.05) -> Any:
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(3)
    model = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=vocab,
            hidden_size=128,
            intermediate_size=384,
            num_hidden_layers=4,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=32,
            max_position_embeddings=512,
            tie_word_embeddings=True,
            initializer_range=spread,
            bos_token_id=None,
            eos_token_id=1,
            pad_token_id=0,
        )
    ).eval()
    model.save_pretrained(folder)
    return model
