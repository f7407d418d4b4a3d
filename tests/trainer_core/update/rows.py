"""Made-up rows for the learner's tests, and what a padded model without packing learns from them."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import AutoModelForCausalLM

from tests.trainer_core.update.making import VOCABULARY
from trainer_core.episodes import Group, Trajectory
from trainer_core.spec import RunSpec
from trainer_core.update.learner import Learner
from trainer_core.update.totals import Totals

SMOOTH = {"learning_rate": 1e-3, "epsilon": 1e-3}
"""With Adam's usual epsilon the first updates are signs of gradients, and rounding decides those near zero."""


def rows_spec(objective: dict[str, Any], **parts: Any) -> RunSpec:
    """A valid spec of a run that learns from rows; ``parts`` replace its sections."""
    document: dict[str, Any] = {
        "policy": {"base": "tiny"},
        "data": {"sources": [{"name": "a", "dataset": "a@1"}, {"name": "b", "dataset": "b@1"}]},
        "objective": {"max_tokens": 64, **objective},
        "parallelism": {"max_tokens_per_microbatch": 160},
        "schedule": {"steps": 10, "prompts_per_step": 6},
        "optimizer": SMOOTH,
    }
    return RunSpec.model_validate({**document, **parts})


def made(name: str, prompt: np.ndarray, tokens: np.ndarray, sampled: np.ndarray) -> Trajectory:
    return Trajectory(
        trajectory_id=name,
        prompt_ids=prompt.astype(np.int32),
        token_ids=tokens.astype(np.int32),
        behaviour_logprobs=np.zeros(len(tokens), dtype=np.float32),
        versions=np.zeros(len(tokens), dtype=np.int32),
        sampled=sampled,
        finish_reason="stop",
        temperature=1.0,
    )


def group(name: str, source: str, trajectories: list[Trajectory]) -> Group:
    return Group(name, f"{source}:0", source, f"{source}@1", {}, "", 0, trajectories=trajectories)


def make_examples(seed: int, count: int = 6, longest: int = 40) -> list[Group]:
    """Examples of two sources, some with turns that do not teach; the last two have the same prompt."""
    rng = np.random.default_rng(seed)
    found = []
    prompt = rng.integers(0, VOCABULARY, 5)
    for index in range(count):
        if index < count - 1:
            prompt = rng.integers(0, VOCABULARY, rng.integers(1, 9))
        length = int(rng.integers(3, longest))
        sampled = rng.random(length) < (1.0 if index % 2 else 0.6)
        sampled[-1] = True
        one = made(f"{seed}-{index}-0", prompt, rng.integers(0, VOCABULARY, length), sampled)
        found.append(group(f"{seed}-{index}", "ab"[index % 2], [one]))
    return found


def make_pairs(seed: int, count: int = 6, longest: int = 40, *, common: int = 0) -> list[Group]:
    """Pairs of two sources; the two completions of a pair agree in their first ``common`` tokens."""
    rng = np.random.default_rng(seed)
    found = []
    for index in range(count):
        prompt, start = (rng.integers(0, VOCABULARY, size) for size in (rng.integers(1, 9), common))
        both = []
        for side in range(2):
            tokens = np.concatenate([start, rng.integers(0, VOCABULARY, int(rng.integers(2, longest)))])
            both.append(made(f"{seed}-{index}-{side}", prompt, tokens, np.ones(len(tokens), dtype=np.bool_)))
        found.append(group(f"{seed}-{index}", "ab"[index % 2], both))
    return found


def make_neighbour(policy_dir: Path, folder: Path) -> Path:
    """Another policy of the same vocabulary, not far from the first."""
    model = AutoModelForCausalLM.from_pretrained(policy_dir)
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.02 * torch.randn(weight.shape, generator=generator)
    model.save_pretrained(folder)
    return folder


class Padded:
    """A plain model in float64 that reads sequences padded to one length, without packing."""

    def __init__(self, folder: Path) -> None:
        self.model: Any = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager").double().eval()

    def logprobs(self, trajectories: list[Trajectory]) -> list[Tensor]:
        """Log-probabilities of each one's completion tokens, [T] with gradient."""
        sequences = [np.concatenate([one.prompt_ids, one.token_ids]) for one in trajectories]
        width = max(map(len, sequences))
        ids, seen = torch.zeros(len(sequences), width, dtype=torch.int64), torch.zeros(len(sequences), width)
        for row, sequence in enumerate(sequences):
            ids[row, : len(sequence)] = torch.from_numpy(sequence.astype(np.int64))
            seen[row, : len(sequence)] = 1
        scores = torch.log_softmax(self.model(input_ids=ids, attention_mask=seen).logits, dim=-1)
        ahead = scores[:, :-1].gather(2, ids[:, 1:].unsqueeze(2)).squeeze(2)
        return [
            ahead[row, len(one.prompt_ids) - 1 : len(sequence) - 1]
            for row, (one, sequence) in enumerate(zip(trajectories, sequences, strict=True))
        ]

    def gradients(self, loss: Tensor) -> dict[str, Tensor]:
        self.model.zero_grad()
        loss.backward()
        return {name: one.grad.clone() for name, one in self.model.named_parameters()}


def packed_gradients(learner: Learner, groups: list[Group], spec: RunSpec, step: int = 1) -> dict[str, Tensor]:
    """Gradients that the learner adds up for one minibatch, without its optimizer step."""
    totals = Totals()
    model = learner._parts.model
    model.zero_grad()
    [part] = learner._examples.plan(groups, spec, totals)
    learner._examples.accumulate(spec, step, part, totals)
    found = {name: one.grad.clone() for name, one in model.named_parameters() if one.grad is not None}
    model.zero_grad()
    return found


def furthest(found: dict[str, Tensor], expected: dict[str, Tensor]) -> float:
    """Largest difference of gradients, over the largest of the expected gradient of the same weight."""
    assert found.keys() == expected.keys()
    return max(
        float((found[name].double() - one).abs().max() / one.abs().max().clamp(min=1e-6))
        for name, one in expected.items()
    )
