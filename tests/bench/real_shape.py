"""The whole loop on a policy of a real shape, beside TRL and beside what the machine can do.

134.5 M random weights in SmolLM's shape (30 layers of 576, vocabulary 49,152). Answers are 32 tokens long, or end at
random: geometric lengths with a mean of about 90 tokens, cut at 512, whose logarithm spreads by more than 1.
"""

import json
import multiprocessing
import os
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from math import log
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from tests.bench.report import Figure
from tests.bench.runs import Report, demo_spec, train
from tests.support.installation import ROOT, Installation

PROMPTS, GROUP = 8, 8
WARM, LAST = 2, 1
"""Steps of a run, the first and the last ones, that do not count."""
TOKENS = 640
"""Tokens of a micro-batch: enough for the peak of matrix products, few enough for memory, and the longest answer."""
PEER = ROOT / "tests" / "bench" / "peer_trl"
STARTER = ROOT / "demo" / "starter-policy"
MEAN_LENGTH, CUT = 90, 512
ROLES = ("RolloutWorker", "LearnerWorker", "RewardWorker", "RunController")


@dataclass(frozen=True)
class Lengths:
    """Lengths of the answers."""

    name: str
    max_tokens: int
    ratio: str
    """What is asked for against TRL."""
    cache_gib: float
    """Room for the keys and values of all answers of a step, in float32."""
    steps: int
    their_steps: int
    """Steps of a run: ours, and TRL's, of which the first does not count."""


SHORT, LONG = Lengths("short", 32, "≥ 1.6", 0.5, 7, 4), Lengths("long", CUT, "≥ 4", 1.75, 7, 2)
DTYPES = ("float32", "bfloat16")
MODES: dict[str, dict[str, Any]] = {"sync": {"type": "sync"}, "async": {"type": "async", "max_staleness": 2}}


def measure_short(installation: Installation) -> list[Figure]:
    """Answers of 32 tokens: a step's seconds and utilisation by number type and mode; TRL's; memory."""
    return _measure(installation, SHORT)


def measure_long(installation: Installation) -> list[Figure]:
    """The same with lengths that have a long tail."""
    return _measure(installation, LONG)


def _measure(installation: Installation, lengths: Lengths) -> list[Figure]:
    subprocess.run([str(PEER / "setup.sh")], check=True)
    folder = _policy(installation, lengths)
    return [figure for dtype in DTYPES for figure in _compare(installation, folder, lengths, dtype)]


def _compare(installation: Installation, folder: Path, lengths: Lengths, dtype: str) -> list[Figure]:
    name, figures, best, memory = f"{lengths.name}, {dtype}", [], float("inf"), 0.0
    for mode in MODES:
        report, peak = _with_peak(lambda mode=mode: _run(installation, lengths, dtype, mode), _ours)
        steps = report.metrics[WARM : lengths.steps - LAST]
        seconds = median(step["timing_s/step"] for step in steps)
        best, memory = min(best, seconds), max(memory, peak)
        figures += [
            Figure(f"{name}, {mode}: step", seconds, "s"),
            Figure(f"{name}, {mode}: utilisation", median(step["perf/mfu"] for step in steps), "", "≥ 0.85"),
            Figure(f"{name}, {mode}: start", report.start_s, "s", "≤ 30"),
        ]
    theirs, their_peak = _trl(installation.home, folder, lengths, dtype)
    return [
        *figures,
        Figure(f"{name}: TRL's step", theirs, "s"),
        Figure(f"{name}: TRL / Dressage", theirs / best, "", lengths.ratio),
        Figure(f"{name}: peak memory", memory / 2**30, "GiB"),
        Figure(f"{name}: peak memory / TRL's", memory / their_peak, "", "≤ 0.7"),
    ]


def _run(installation: Installation, lengths: Lengths, dtype: str, mode: str) -> Report:
    spec = demo_spec(
        installation,
        lengths.steps,
        policy__base=f"real-{lengths.name}",
        policy__dtype=dtype,
        data={"sources": [{"name": "add_sub", "dataset": "gsm8k-add-sub@1"}]},
        filters=[],
        thinking={"type": "none"},
        curriculum={"type": "uniform"},
        diagnosis={"every_steps": 0},
        optimizer__learning_rate=1e-6,
        rollout__mode=MODES[mode],
        rollout__group_size=GROUP,
        rollout__max_tokens=lengths.max_tokens,
        rollout__engine={
            "dtype": dtype,
            "lm_head_dtype": "float32",
            "max_model_len": lengths.max_tokens + 64,
            "max_num_seqs": PROMPTS * GROUP,
            "kv_cache_gib": lengths.cache_gib,
        },
        parallelism__max_tokens_per_microbatch=TOKENS,
        schedule__prompts_per_step=PROMPTS,
    )
    return train(installation, f"real shape, {lengths.name}, {dtype}, {mode}", spec)


def _trl(home: Path, folder: Path, lengths: Lengths, dtype: str) -> tuple[float, float]:
    """Median seconds of a step after the first, and peak memory."""
    log_file = home / f"trl-{lengths.name}-{dtype}.jsonl"
    flags = {"policy": folder, "data": ROOT / "demo" / "data" / "gsm8k-add-sub.jsonl", "log": log_file}
    flags |= {"generation": "transformers", "steps": lengths.their_steps, "precision": dtype}
    flags |= {"prompts": PROMPTS, "group-size": GROUP}
    flags |= {"max-tokens": lengths.max_tokens, "max-model-len": lengths.max_tokens + 64, "learning-rate": 1e-6}
    command = [str(ROOT / ".venv-trl" / "bin" / "python"), str(PEER / "train.py")]
    command += [part for key, value in flags.items() for part in (f"--{key}", str(value))]
    cores = str(len(os.sched_getaffinity(0)))
    environment = {**os.environ, "OMP_NUM_THREADS": cores, "HF_HUB_OFFLINE": "1"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    code, peak = _with_peak(process.wait, lambda: [psutil.Process(process.pid)])
    if code:
        raise RuntimeError(f"TRL ended with {code}")
    ends = [json.loads(line)["seconds"] for line in log_file.read_text().splitlines()]
    return median(end - start for start, end in pairwise(ends)), peak


def _with_peak(work: Callable[[], Any], processes: Callable[[], list[psutil.Process]]) -> tuple[Any, float]:
    """Result of ``work``, and the most memory (proportional set size, bytes) of ``processes`` meanwhile."""
    most, done = 0.0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not done.wait(2.0):
            most = max(most, sum(map(_memory, processes())))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        return work(), most
    finally:
        done.set()
        watcher.join()


def _memory(process: psutil.Process) -> float:
    try:
        return float(process.memory_full_info().pss)
    except psutil.Error:
        return 0.0


def _ours() -> list[psutil.Process]:
    """Processes of runs."""
    return [one for one in psutil.process_iter(["cmdline"]) if any(role in _title(one) for role in ROLES)]


def _title(process: psutil.Process) -> str:
    return " ".join(process.info["cmdline"] or ())


def _policy(installation: Installation, lengths: Lengths) -> Path:
    """The policy, registered."""
    folder = installation.home / "policies" / f"real-{lengths.name}"
    if not folder.exists():
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            pool.submit(_make, folder, ends=lengths is LONG).result()
        name = f"real-{lengths.name}"
        installation.api.post("/policies", {"name": name, "slug": name, "path": str(folder)})
    return folder


def _make(folder: Path, ends: bool) -> None:
    """Random weights. Where the policy ``ends``, its end token's likelihood is that of the mean length everywhere."""
    import torch
    from transformers import AutoTokenizer, Qwen3Config, Qwen3ForCausalLM

    tokenizer = AutoTokenizer.from_pretrained(STARTER)
    config = Qwen3Config(
        vocab_size=49_152,
        hidden_size=576,
        intermediate_size=1536,
        num_hidden_layers=30,
        num_attention_heads=9,
        num_key_value_heads=3,
        head_dim=64,
        max_position_embeddings=2048,
        tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id if ends else None,
        bos_token_id=None,
        pad_token_id=tokenizer.pad_token_id,
        dtype="float32",
    )
    torch.manual_seed(0)
    model = Qwen3ForCausalLM(config)
    if ends:
        _let_end(model, tokenizer.eos_token_id)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _let_end(model: Any, eos: int) -> None:
    """Give every state a constant first component, by which the head finds the end token as likely as asked for."""
    import torch

    wanted = log(1 / MEAN_LENGTH)
    with torch.no_grad():
        table = model.get_input_embeddings().weight
        table[:, 0] = 1.0
        low, high = 0.0, 4.0
        ids = torch.randint(100, 20_000, (4, 32))
        for _ in range(20):
            table[eos, 0] = 1.0 + (low + high) / 2
            found = model(ids).logits.log_softmax(-1)[:, 8:, eos].mean().item()
            low, high = ((low + high) / 2, high) if found < wanted else (low, (low + high) / 2)
