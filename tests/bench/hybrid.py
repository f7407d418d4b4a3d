"""``python -m tests.bench.hybrid --policy DIR``: the hybrid policy's learning curve on the demo's task, with CISPO.

Trains ``demo/minimax-m1-hybrid.yaml`` with the product's engine, rewards, learner and probe of the weights, one after
the other in one process: tests/worker/loop/test_run_hybrid.py has the loop around them. Prints a line for every step.
DIR comes from ``python -m trainer_core.starter --hybrid --out DIR``.
"""

import argparse
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml

from tests.support.installation import ROOT
from tests.support.warm_loop import REWARDS
from trainer_core.episodes import Group, Trajectory, Verdict
from trainer_core.rewards import RewardDefinition, split_thinking
from trainer_core.rewards.sample import Sample
from trainer_core.rewards.score import score
from trainer_core.rollout_metrics import step_metrics
from trainer_core.spec import RunSpec
from trainer_core.update.learner import Learner
from worker.engine import Completion, EngineConfig, InferenceEngine, Request, Sampling
from worker.engine.startup import eos_token_ids
from worker.engine.tokenizer import PolicyTokenizer
from worker.learner.probe.check import apply_and_probe
from worker.learner.probe.sequences import probe_sequences
from worker.learner.weights import bundle
from worker.loop.advantages import assign_advantages
from worker.messages.chunk import pack, unpack

DOCUMENT = ROOT / "demo" / "minimax-m1-hybrid.yaml"
EVERY = 10
"""Steps between two evaluations."""
SHOWN = {
    "reward": "critic/score/mean",
    "thinks": "thinking/share_thinking",
    "tokens": "response_length/mean",
    "k3": "rollout_corr/k3_kl",
    "probe": "probe/max_abs_diff",
    "grad": "actor/grad_norm",
    "imbalance": "moe/max_violation",
    "entropy": "moe/router_entropy",
    "agreement": "moe/replay_agreement",
    "seconds": "timing_s/step",
}


class Loop:
    """A policy in an engine and in a learner."""

    def __init__(self, folder: Path, spec: RunSpec) -> None:
        self.spec = spec
        self._tokenizer = PolicyTokenizer(folder)
        engine = spec.rollout.engine
        self._engine = InferenceEngine(
            EngineConfig(
                str(folder),
                max_model_len=engine.max_model_len,
                max_num_seqs=engine.max_num_seqs,
                kv_cache_gib=engine.kv_cache_gib,
                think=self._tokenizer.think_tokens(spec.thinking),
                routes=spec.policy.routing.replay,
            )
        )
        self._eos = eos_token_ids(str(folder))
        self._learner = Learner(folder, spec)
        self._probes = probe_sequences(self._learner.vocab_size, engine.max_model_len)
        self._definition = RewardDefinition.model_validate(REWARDS["calculation"])

    def sample(self, rows: Sequence[dict[str, Any]], samples: int, name: str) -> list[Group]:
        """Groups of scored samples."""
        prompts, rollout = self._tokenizer.encode_rows(rows), self.spec.rollout
        sampling = Sampling(rollout.temperature, max_tokens=rollout.max_tokens)
        for number, prompt in enumerate(prompts):
            for sample in range(samples):
                self._engine.submit(Request(f"{number}/{sample}", tuple(prompt.tolist()), sampling))
        done: dict[str, Completion] = {}
        while self._engine.has_unfinished:
            done |= {completion.request_id: completion for completion in self._engine.step()}
        finished = [(n, [done[f"{n}/{sample}"] for sample in range(samples)]) for n in range(len(rows))]
        groups = [Group(f"{name}-{n}", f"a:{n}", "a", "a@1", row, "", 0) for n, row in enumerate(rows)]
        unpack(pack(finished), groups, [[prompt] * samples for prompt in prompts], [rollout.temperature] * len(rows))
        for group in groups:
            for trajectory in group.trajectories:
                self._grade(trajectory, group.item)
        return groups

    def learn(self, groups: list[Group], step: int) -> dict[str, float]:
        """One step, with the weights brought to the engine and proved there."""
        assign_advantages(groups, self.spec)
        metrics = self._learner.update(groups, self.spec, step)
        metrics |= step_metrics(groups, self.spec, version=step - 1)
        weights = bundle(self._learner, self._probes)
        found = apply_and_probe(self._engine, weights, self.spec.rollout.engine.tolerance)
        metrics["probe/max_abs_diff"] = found.largest
        return metrics

    def _grade(self, trajectory: Trajectory, item: dict[str, Any]) -> None:
        [text] = self._tokenizer.decode([trajectory.token_ids], self._eos)
        thinking, answer = split_thinking(text, "<think>", "</think>")
        sample = Sample(text, thinking, answer, trajectory.length, trajectory.finish_reason)
        trajectory.output_text, graded = text, score(self._definition, sample, item)
        trajectory.verdict = Verdict(graded.reward, error=graded.error)
        trajectory.thinking_tokens = int(thinking is not None)


def main() -> None:
    """Train and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policy", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=60)
    given = parser.parse_args()
    torch.set_num_threads(1)
    # The engine has made this process's group by then, and DeepSpeed asks no further where it stands.
    os.environ.setdefault("LOCAL_RANK", "0")
    spec = RunSpec.model_validate(yaml.safe_load(DOCUMENT.read_text())["spec"])
    loop, rng = Loop(given.policy.resolve(), spec), np.random.default_rng(0)
    torch.manual_seed(0)
    rows = {name: _rows(name) for name in (spec.data.sources[0].dataset, spec.evaluation.sources[0].dataset)}
    train, held_out = rows.values()
    print("step  " + "  ".join(f"{name:>9}" for name in SHOWN), flush=True)
    for step in range(1, given.steps + 1):
        if step % EVERY == 1:
            _evaluate(loop, held_out, step - 1)
        began = time.monotonic()
        chosen = [train[i] for i in rng.choice(len(train), spec.schedule.prompts_per_step, replace=False)]
        metrics = loop.learn(loop.sample(chosen, spec.rollout.group_size, str(step)), step)
        metrics["timing_s/step"] = time.monotonic() - began
        figures = (metrics.get(name) for name in SHOWN.values())
        print(f"{step:>4}  " + "  ".join(f"{'-' if f is None else format(f, '.4g'):>9}" for f in figures), flush=True)
    _evaluate(loop, held_out, given.steps)


def _evaluate(loop: Loop, rows: list[dict[str, Any]], step: int) -> None:
    count = loop.spec.evaluation.max_prompts or len(rows)
    rewards = [group.trajectories[0].reward for group in loop.sample(rows[: 4 * count], 1, "held out")]
    print(f"held out, after {step} steps: {np.mean([r or 0.0 for r in rewards]):.3f} of {len(rewards)}", flush=True)


def _rows(dataset: str) -> list[dict[str, Any]]:
    path = ROOT / "demo" / "data" / f"{dataset.partition('@')[0]}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


if __name__ == "__main__":
    main()
