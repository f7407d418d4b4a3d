"""One case from its files to its export: engine and learner in this process, three updates, a checkpoint, a resume."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForCausalLM

from tests.architectures.cases import UPDATES, Case
from tests.architectures.seen import Difference, Seen
from tests.support.expert_groups import make_group_of_experts
from trainer_core.episodes import Credit, Group, Trajectory, Verdict
from trainer_core.spec import RunSpec
from trainer_core.starter.architectures import WINDOW
from trainer_core.starter.chats import VOCABULARY
from trainer_core.update.learner import Learner
from worker.engine import Completion, EngineConfig, InferenceEngine, Request, Sampling
from worker.engine.types import Fp8Config

PROMPTS, SAMPLES = 2, 4
LONGEST = 2 * WINDOW + 8
"""Sampled tokens: windows bite."""
SWITCH_AFTER = 12
"""Engine steps before weights change in the midst of rollouts."""

Texts = list[list[int]]
Scores = Sequence[Sequence[float]]


def start_engine(policy: Path, case: Case) -> InferenceEngine:
    """An engine as runs start it, with a small cache."""
    make_group_of_experts()
    _, dtype, fp8 = case.served
    return InferenceEngine(
        EngineConfig(
            str(policy),
            dtype=dtype,
            fp8=Fp8Config("block", True, "simulated") if fp8 else None,
            lm_head_dtype="float32",
            max_model_len=128,
            max_num_seqs=16,
            max_num_batched_tokens=256,
            kv_cache_gib=0.02,
            stop_at_eos=False,
            routes=case.routed,
        )
    )


def make_spec(case: Case) -> RunSpec:
    """The spec of a case."""
    policy: dict[str, Any] = {"base": "tiny", "dtype": case.dtype, "routing": {"replay": case.replays}}
    if case.kind == "lora":
        policy["adapter"] = {"type": "lora", "rank": 4, "alpha": 8}
    _, dtype, fp8 = case.served
    engine: dict[str, Any] = {"max_model_len": 128, "dtype": dtype, "lm_head_dtype": "float32"}
    if fp8:
        engine["quantization"] = {"type": "fp8", "execution": "simulated"}
    return RunSpec.model_validate(
        {
            "policy": policy,
            "data": {"sources": [{"name": "a", "dataset": "a@1"}]},
            "reward": {"definition": "r@1"},
            "rollout": {"group_size": SAMPLES, "max_tokens": LONGEST, "engine": engine},
            "schedule": {"steps": 10, "prompts_per_step": PROMPTS},
            "optimizer": {"learning_rate": 1e-2 if case.kind == "lora" else 3e-3},
            "precision": {"type": "unified" if fp8 else "float32"},
            "parallelism": {"zero_stage": 2 if case.kind == "bfloat16" else 0},
        }
    )


def run_case(case: Case, engine: InferenceEngine, policy: Path, folder: Path, updates: int = UPDATES) -> Seen:
    """Send a policy through a whole loop; an error ends it and is told in ``failure``.

    Args:
        case: says how.
        engine: serves ``policy``, whatever weights it holds.
        policy: the base policy's folder.
        folder: empty; checkpoints go there.
        updates: how many, each with its probe.
    """
    seen, started = Seen(case), time.perf_counter()
    try:
        _Loop(case, engine, policy).run(seen, folder, updates)
    except Exception as error:
        seen.failure = f"{type(error).__name__}: {error}"
    finally:
        engine.park()
        seen.seconds = time.perf_counter() - started
    return seen


class _Loop:
    def __init__(self, case: Case, engine: InferenceEngine, policy: Path) -> None:
        torch.manual_seed(0)
        self._case, self._engine, self._policy = case, engine, policy
        self._spec, self._learner = make_spec(case), Learner(policy, make_spec(case))
        self._rng = np.random.default_rng(0)
        self._texts = draw_texts(self._rng)
        self._running = 0
        self._gaps: list[np.ndarray] = []

    def run(self, seen: Seen, folder: Path, updates: int) -> None:
        engine, learner = self._engine, self._learner
        engine.load_weights(0, learner.weights())
        before = learner.score(self._texts)
        seen.start = difference(engine.score(self._texts), before)
        groups = self._finish(self._begin())
        for step in range(1, updates + 1):
            coming = self._begin() if self._case.mode == "in_flight" else None
            for _ in range(SWITCH_AFTER if coming else 0):
                engine.step()
            self._learn(learner, groups, step)
            engine.load_weights(step, learner.weights(), kv="recompute")
            after = learner.score(self._texts)
            seen.probes.append(difference(engine.score(self._texts), after))
            seen.moved.append(difference(before, after).mean)
            before = after
            groups = self._finish(coming or self._begin())
        gaps = np.concatenate(self._gaps)
        seen.sampled = Difference(float(np.abs(gaps).max()), float(np.abs(gaps).mean()))
        seen.k3_kl = float(np.mean(np.expm1(gaps) - gaps))
        self._keep(seen, folder / "checkpoint", groups)

    def _keep(self, seen: Seen, checkpoint: Path, groups: list[Group]) -> None:
        """Save, let transformers read it, and go on from it beside the learner that was never interrupted."""
        learner, expected = self._learner, self._learner.score(self._texts)
        learner.save(checkpoint)
        if self._case.kind != "fp8":
            read = read_export(checkpoint, self._case.dtype)
            seen.export = difference(score_export(read, self._texts), expected)
        if self._case.kind == "lora":
            from peft import PeftModel

            adapted = PeftModel.from_pretrained(read_export(self._policy, self._case.dtype), checkpoint / "adapter")
            seen.adapter = difference(score_export(adapted, self._texts), expected)
        resumed = Learner(self._policy, self._spec)
        resumed.load(checkpoint)
        step = learner.version + 1
        for one in (learner, resumed):
            one.update(groups, self._spec, step)
        theirs = resumed.weights()
        seen.resumed = max(float(np.abs(mine - theirs[name]).max()) for name, mine in learner.weights().items())

    def _learn(self, learner: Learner, groups: list[Group], step: int) -> None:
        version = learner.version
        learner.update(groups, self._spec, step)
        for trajectory in (one for group in groups for one in group.trajectories):
            if trajectory.learner_logprobs is not None:
                gap = trajectory.learner_logprobs.astype(np.float64) - trajectory.behaviour_logprobs
                # Tokens of weights that have changed since differ for another reason.
                self._gaps.append(gap[trajectory.versions == version])

    def _begin(self) -> list[str]:
        """Submit a step's prompts; returns the ids of the requests."""
        ids = []
        for _ in range(PROMPTS):
            prompt = tuple(_drawn(self._rng, int(self._rng.integers(4, 10))))
            for _ in range(SAMPLES):
                ids.append(str(self._running))
                self._engine.submit(Request(ids[-1], prompt, Sampling(temperature=1.0, max_tokens=LONGEST)))
                self._running += 1
        return ids

    def _finish(self, ids: list[str]) -> list[Group]:
        done: dict[str, Completion] = {}
        while self._engine.has_unfinished:
            done |= {completion.request_id: completion for completion in self._engine.step()}
        cut = [ids[start : start + SAMPLES] for start in range(0, len(ids), SAMPLES)]
        return [self._group([done[one] for one in members]) for members in cut]

    def _group(self, completions: list[Completion]) -> Group:
        """Samples of one prompt, with the share of low token ids as their reward."""
        rewards = np.array([np.mean(np.array(one.token_ids) < VOCABULARY // 2) for one in completions])
        advantages = (rewards - rewards.mean()) / (rewards.std() + 1e-6)
        pairs = zip(completions, rewards, advantages, strict=True)
        name = completions[0].request_id
        trajectories = [_trajectory(one, float(reward), float(advantage)) for one, reward, advantage in pairs]
        return Group(name, f"a:{name}", "a", "a@1", {}, "", 0, trajectories=trajectories)


def draw_texts(rng: np.random.Generator) -> Texts:
    """Texts to score: some longer than a window, some shorter."""
    return [_drawn(rng, size) for size in (2 * WINDOW + 20, 3, WINDOW + 5, WINDOW - 2)]


def _drawn(rng: np.random.Generator, size: int) -> list[int]:
    drawn: list[int] = rng.integers(0, VOCABULARY, size).tolist()
    return drawn


def difference(mine: Scores, theirs: Scores) -> Difference:
    """Between two scorings of the same texts."""
    gaps = np.abs(np.concatenate([np.array(a) - np.array(b) for a, b in zip(mine, theirs, strict=True)]))
    return Difference(float(gaps.max()), float(gaps.mean()))


def _trajectory(completion: Completion, reward: float, advantage: float) -> Trajectory:
    return Trajectory(
        trajectory_id=completion.request_id,
        prompt_ids=np.array(completion.prompt_ids, np.int32),
        token_ids=np.array(completion.token_ids, np.int32),
        behaviour_logprobs=np.array(completion.logprobs, np.float32),
        versions=np.array(completion.versions, np.int32),
        sampled=np.array(completion.sampled, np.bool_),
        finish_reason="length",
        temperature=1.0,
        routes=completion.routes,
        verdict=Verdict(reward=reward),
        credit=Credit(advantage=advantage),
    )


def read_export(folder: Path, dtype: str) -> Any:
    """The policy as anybody reads it. Eager attention, because transformers' fused one leaves score capping out."""
    return AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, attn_implementation="eager").eval()


@torch.no_grad()
def score_export(model: Any, texts: Texts) -> Scores:
    """Log-probabilities of each text's tokens but the first, in nats."""
    found = []
    for text in texts:
        logits = model(torch.tensor([text])).logits[0, :-1].float()
        found.append(torch.log_softmax(logits, -1).gather(1, torch.tensor(text[1:])[:, None])[:, 0].tolist())
    return found
