"""Time from the first step to the same mean reward, against TRL's GRPOTrainer in both of its generation modes."""

import json
import os
import subprocess
from bisect import bisect_left
from math import inf
from pathlib import Path

from tests.bench import long_tail
from tests.bench.report import Figure
from tests.bench.runs import Report, demo_spec, time_to, train
from tests.support.installation import ROOT, Installation

LEVEL_SHORT = 0.8
LEVEL_LONG = 0.65
"""The long-tailed policy learns to calculate while it murmurs; above this, reward rises more slowly than it varies."""
TASK = {"data": {"sources": [{"name": "add_sub", "dataset": "gsm8k-add-sub@1"}]}, "optimizer__learning_rate": 3e-4}
"""Both sides learn additions and subtractions at the same step size."""
PEER = ROOT / "tests" / "bench" / "peer_trl"
PATIENCE = 10.0
"""The peer is given up after this many times our own time; its figure is then a lower bound."""
SHORT = {"max_tokens": 32, "max_model_len": 96}


def measure_short(installation: Installation) -> list[Figure]:
    """Short answers: the demo as it is."""
    ours = train(installation, "short answers", demo_spec(installation, steps=60, **TASK))
    return _compare(installation, ours, ROOT / "demo" / "starter-policy", SHORT, LEVEL_SHORT, steps=40, target="≥ 1.5")


def measure_long(installation: Installation) -> list[Figure]:
    """Long-tailed lengths: lognormal with σ about 1, cut at 384 tokens; two steps of overlap beat one there."""
    folder = long_tail.policy(installation)
    spec = demo_spec(
        installation,
        steps=40,
        **TASK,
        policy__base="long-tail",
        rollout__max_tokens=long_tail.LENGTHS["max_tokens"],
        rollout__engine=long_tail.ENGINE,
        rollout__mode={"type": "async", "max_staleness": 2},
    )
    ours = train(installation, "long-tailed lengths", spec)
    return _compare(installation, ours, folder, long_tail.LENGTHS, LEVEL_LONG, steps=25, target="≥ 4; ≥ 10")


def _compare(
    installation: Installation,
    ours: Report,
    policy: Path,
    lengths: dict[str, int],
    level: float,
    steps: int,
    target: str,
) -> list[Figure]:
    subprocess.run([str(PEER / "setup.sh")], check=True)
    own = time_to([m["critic/score/mean"] for m in ours.metrics], ours.seconds, level)
    figures = [
        Figure(f"Dressage: time to mean reward {level}", own, "s"),
        Figure(f"Dressage: steps to mean reward {level}", bisect_left(ours.seconds, own) + 1),
        Figure("Dressage: seconds per step", ours.seconds[-1] / len(ours.seconds), "s"),
    ]
    best = inf
    for generation in ("transformers", "vllm"):
        log = installation.home / f"trl-{generation}.jsonl"
        rows = _peer(log, generation, policy, lengths, steps, PATIENCE * own)
        if not rows:
            continue
        ends = [row["seconds"] for row in rows]
        reached = time_to([row["reward"] for row in rows], ends, level)
        seconds = min(reached, ends[-1])
        best = min(best, seconds)
        note = "" if reached < inf else f"; given up at {rows[-1]['reward']:.2f}"
        figures += [
            Figure(f"TRL 1.16 ({generation}): time to mean reward {level}{note}", seconds, "s"),
            Figure(f"TRL 1.16 ({generation}): steps", bisect_left(ends, seconds) + 1),
        ]
    return [*figures, Figure("best of TRL / Dressage", best / own, "", target)]


def _peer(
    log: Path, generation: str, policy: Path, lengths: dict[str, int], steps: int, max_seconds: float
) -> list[dict[str, float]]:
    """What the peer logged, one entry per step; nothing where it cannot work."""
    arguments = {"policy": policy, "data": ROOT / "demo" / "data" / "gsm8k-add-sub.jsonl", "log": log}
    arguments |= {"generation": generation, "steps": steps, "max_seconds": max_seconds, **lengths}
    flags = [part for key, value in arguments.items() for part in (f"--{key.replace('_', '-')}", str(value))]
    command = [str(ROOT / ".venv-trl" / "bin" / "python"), str(PEER / "train.py"), *flags]
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1"}
    ended = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if ended.returncode:
        # Its vLLM mode reloads weights in a way that vLLM's CPU backend does not support.
        print(f"  TRL ({generation}) failed: {ended.stderr.strip().splitlines()[-1]}", flush=True)
        return []
    return [json.loads(line) for line in log.read_text().splitlines()]
