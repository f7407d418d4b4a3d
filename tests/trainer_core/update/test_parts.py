"""The learner's small parts against float64 references and by hand."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from tests.trainer_core.update.making import make_groups, make_spec, make_trajectory
from trainer_core.update.model import logprobs as logprobs_module
from trainer_core.update.model.logprobs import token_logprobs
from trainer_core.update.model.norms import use_lean_norms
from trainer_core.update.optimization.optimizer import ClippedAdamW, learning_rate
from trainer_core.update.packed.sharding import minibatches, packed_tokens, shards
from trainer_core.update.totals import Totals


@pytest.mark.parametrize("chunk", [1, 40, 1 << 24])
def test_token_logprobs_and_gradient(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(logprobs_module, "CHUNK_ELEMENTS", chunk)
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(7, 11, generator=generator).mul(4).requires_grad_()
    targets = torch.randint(0, 11, (7,), generator=generator)
    temperature = torch.tensor([1.0, 0.5, 2.0, 1.0, 1.3, 0.7, 1.0])
    slopes = torch.randn(7, generator=generator)
    logprobs, entropies = token_logprobs(logits, targets, temperature)
    (logprobs * slopes).sum().backward()
    exact = logits.detach().double().requires_grad_()
    reference = torch.log_softmax(exact / temperature.double()[:, None], dim=-1)
    chosen = reference.gather(1, targets[:, None])[:, 0]
    (chosen * slopes.double()).sum().backward()
    torch.testing.assert_close(logprobs.double(), chosen, atol=2e-6, rtol=0)
    torch.testing.assert_close(entropies.double(), -(reference.exp() * reference).sum(-1), atol=2e-6, rtol=0)
    torch.testing.assert_close(logits.grad.double(), exact.grad, atol=1e-6, rtol=0)
    assert not entropies.requires_grad


class TinyRMSNorm(nn.Module):
    """The usual formula, as policies write it."""

    def __init__(self, *, shift: float = 0.0) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.linspace(0.5, 2.0, 16))
        self.variance_epsilon = 1e-5
        self.shift = shift

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.variance_epsilon)
        return (self.weight + self.shift) * x * scale


def test_lean_norms_are_the_same_function() -> None:
    plain, lean = TinyRMSNorm().double(), TinyRMSNorm()
    assert use_lean_norms(nn.Sequential(lean)) == 1
    x = torch.randn(3, 5, 16, generator=torch.Generator().manual_seed(1))
    mine, theirs = x.clone().requires_grad_(), x.double().requires_grad_()
    (lean(mine) ** 3).sum().backward()
    (plain(theirs) ** 3).sum().backward()
    torch.testing.assert_close(lean(x).double(), plain(x.double()), atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(mine.grad.double(), theirs.grad, atol=1e-4, rtol=1e-5)
    torch.testing.assert_close(lean.weight.grad.double(), plain.weight.grad, atol=1e-4, rtol=1e-5)


def test_norms_of_another_formula_are_left_alone() -> None:
    other = TinyRMSNorm(shift=1.0)
    assert use_lean_norms(nn.Sequential(other)) == 0
    assert "forward" not in vars(other)


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("constant", {1: 0.5, 2: 1.0, 3: 1.0, 10: 1.0, 11: 1.0}),
        ("linear", {1: 0.5, 2: 1.0, 3: 1.0, 7: 0.5, 10: 0.125, 11: 0.0, 99: 0.0}),
        ("cosine", {1: 0.5, 2: 1.0, 3: 1.0, 7: 0.5, 10: 0.5 * (1 + math.cos(math.pi * 7 / 8)), 11: 0.0}),
    ],
)
def test_learning_rate(schedule: str, expected: dict[int, float]) -> None:
    optimizer = {"learning_rate": 1.0, "warmup_steps": 2, "schedule": schedule}
    spec = make_spec(optimizer=optimizer, schedule={"steps": 10, "prompts_per_step": 4})
    assert {step: learning_rate(spec, step) for step in expected} == pytest.approx(expected, abs=1e-12)


def test_clipped_adamw_is_torchs_on_clipped_gradients() -> None:
    spec = make_spec(optimizer={"learning_rate": 0.1, "weight_decay": 0.5}).optimizer
    mine, theirs = nn.Linear(3, 2), nn.Linear(3, 2)
    theirs.load_state_dict(mine.state_dict())
    optimizer = ClippedAdamW(mine, spec)
    optimizer.max_grad_norm = 1.0
    reference = torch.optim.AdamW(
        [{"params": [theirs.weight], "weight_decay": 0.5}, {"params": [theirs.bias], "weight_decay": 0.0}],
        lr=0.1,
        betas=(0.9, 0.95),
    )
    for scale in (10.0, 0.01):
        x = torch.full((1, 3), scale)
        for model in (mine, theirs):
            model.zero_grad()
            model(x).sum().backward()
        norm = torch.nn.utils.clip_grad_norm_(theirs.parameters(), 1.0)
        optimizer.step()
        reference.step()
        assert optimizer.grad_norm == pytest.approx(float(norm))
        torch.testing.assert_close(mine.weight, theirs.weight)
        torch.testing.assert_close(mine.bias, theirs.bias)


def test_minibatches_cut_groups_in_order_and_drop_what_does_not_train() -> None:
    groups = make_groups(0, groups=4, samples=2)
    for trajectory in groups[1].trajectories:
        trajectory.excluded = "zero_advantage"
    groups[2].trajectories[0].excluded = "truncated"
    first, second = minibatches(groups, 2)
    assert [t.trajectory_id for t in first] == [t.trajectory_id for t in groups[0].trajectories]
    kept = [groups[2].trajectories[1], *groups[3].trajectories]
    assert [t.trajectory_id for t in second] == [t.trajectory_id for t in kept]
    assert len(minibatches(groups[:2], 2)) == 1
    assert minibatches([], 3) == []


def test_shards_balance_tokens_and_keep_most_prompts_together() -> None:
    trajectories = [t for group in make_groups(1, groups=16) for t in group.trajectories]
    parts = shards(trajectories, 3)
    assert sorted(t.trajectory_id for part in parts for t in part) == sorted(t.trajectory_id for t in trajectories)
    prompts = [{t.prompt_ids.tobytes() for t in part} for part in parts]
    # Sixteen prompts: but for the few samples that level the load, each is on one rank.
    assert sum(len(part) for part in prompts) <= 16 + 2
    loads = [sum(t.length for t in part) for part in parts]
    assert max(loads) < 1.25 * min(loads)
    rng = np.random.default_rng(0)
    one_prompt = [make_trajectory(rng, np.arange(3, dtype=np.int32), 10) for _ in range(4)]
    assert [len(part) for part in shards(one_prompt, 2)] == [2, 2]


@pytest.mark.parametrize("ranks", [2, 3, 5])
@pytest.mark.parametrize("seed", range(8))
def test_no_two_ranks_differ_by_more_than_the_longest_sequence(seed: int, ranks: int) -> None:
    rng = np.random.default_rng(seed)
    lengths = np.clip(rng.lognormal(3, 1.2, (4 * ranks + seed, 6)), 1, 400).astype(int)
    # One prompt whose samples are all long: kept together, they would be a load of their own.
    lengths[0] = 400
    prompts = [rng.integers(0, 64, rng.integers(3, 30)).astype(np.int32) for _ in lengths]
    given = [make_trajectory(rng, prompt, int(n)) for prompt, row in zip(prompts, lengths, strict=True) for n in row]
    parts = shards(given, ranks)
    assert sorted(map(id, given)) == sorted(id(t) for part in parts for t in part)
    loads = [packed_tokens(part) for part in parts]
    assert max(loads) - min(loads) <= max(len(t.prompt_ids) + t.length for t in given)
    assert [[id(t) for t in part] for part in shards(given, ranks)] == [[id(t) for t in part] for part in parts]


def test_totals() -> None:
    totals = Totals()
    totals.add_metrics({"a": 1.0, "b/max": 3.0}, 1)
    totals.add_metrics({"a": torch.tensor(4.0), "b/max": -1.0}, 2)
    totals.add_metrics({"a": math.nan, "b/max": 9.0}, 0)
    totals.add_share("loss", 0.25)
    totals.add_share("loss", torch.tensor(0.5))
    assert totals.values() == {"a": 3.0, "b/max": 3.0, "loss": 0.75}
