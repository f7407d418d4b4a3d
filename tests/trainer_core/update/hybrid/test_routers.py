"""Balancing of experts and replay of routes, each against its formula."""

import copy
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import MiniMaxForCausalLM

from tests.trainer_core.update.hybrid.hybrids import CHOSEN, EXPERTS, LAYERS
from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.episodes import Group, Trajectory
from trainer_core.spec import RunSpec
from trainer_core.steering.saved_groups import pack_group, unpack_group
from trainer_core.update.hybrid.balance import balancing_loss
from trainer_core.update.hybrid.policy import biases, prepare, read_biases, take_biases
from trainer_core.update.hybrid.router import BIAS, allow_router_replay, routers
from trainer_core.update.hybrid.routing import RouteWatch
from trainer_core.update.learner import Learner
from trainer_core.update.model.policy import load_policy, score
from trainer_core.update.packed import attention
from trainer_core.update.packed.packing import Packing, pack


def routed(routing: dict[str, object], **parts: object) -> RunSpec:
    return make_spec(policy={"base": "hybrid", "routing": routing}, **parts)


def everybody(groups: list[Group]) -> list[Trajectory]:
    return [trajectory for group in groups for trajectory in group.trajectories]


def with_routes(groups: list[Group], seed: int = 0) -> list[Group]:
    """Random routes, the same for the samples of one prompt as far as the prompt goes."""
    rng = np.random.default_rng(seed)

    def draw(tokens: int) -> np.ndarray:
        return rng.random((tokens, LAYERS, EXPERTS)).argsort(axis=-1)[..., :CHOSEN].astype(np.uint8)

    for group in groups:
        prompt = draw(len(group.trajectories[0].prompt_ids))
        for trajectory in group.trajectories:
            trajectory.routes = np.concatenate([prompt, draw(trajectory.length - 1)])
    return groups


class Forced(torch.nn.Module):
    """A router that sends the tokens of one sequence to given experts, written apart from the product's."""

    def __init__(self, router: torch.nn.Module, routes: torch.Tensor) -> None:
        super().__init__()
        self.weight, self.routes = router.weight, routes

    def forward(self, states: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        logits = states.reshape(-1, states.shape[-1]) @ self.weight.t()
        of_chosen = torch.stack([row[list(chosen)] for row, chosen in zip(logits, self.routes.tolist(), strict=True)])
        # Renormalised softmax over all experts is a softmax over the chosen ones.
        return logits, of_chosen.softmax(-1), self.routes


def forced_logprobs(model: MiniMaxForCausalLM, trajectory: Trajectory) -> torch.Tensor:
    """transformers' forward pass over one trajectory with each router in ``Forced``."""
    counterpart = copy.copy(model)
    assert trajectory.routes is not None
    routes = torch.from_numpy(trajectory.routes.astype(np.int64))
    originals = [layer.mlp.gate for layer in model.model.layers]
    for number, layer in enumerate(model.model.layers):
        layer.mlp.gate = Forced(originals[number], routes[:, number])
    ids = torch.tensor([*trajectory.prompt_ids.tolist(), *trajectory.token_ids.tolist()])
    logits = counterpart(ids[:-1].unsqueeze(0), use_cache=False).logits[0]
    for layer, router in zip(model.model.layers, originals, strict=True):
        layer.mlp.gate = router
    found = logits.log_softmax(-1).gather(1, ids[1:, None])[len(trajectory.prompt_ids) - 1 :, 0]
    return found[torch.from_numpy(trajectory.sampled)]


@pytest.mark.parametrize("share", [True, False])
def test_replayed_scores_and_gradients_are_those_of_forced_routes(hybrid_dir: Path, share: bool) -> None:
    own, packed = (
        MiniMaxForCausalLM.from_pretrained(
            hybrid_dir, dtype=torch.float64, attn_implementation=name, experts_implementation="eager"
        ).eval()
        for name in ("eager", attention.register())
    )
    prepare(packed, hybrid_dir)
    allow_router_replay(packed)
    given = everybody(with_routes(make_groups(3, groups=2, samples=3, longest=14)))
    [batch] = pack(given, Packing(4096, share))
    found, _ = score(packed, batch)
    found.sum().backward()
    for index, trajectory in enumerate(given):
        expected = forced_logprobs(own, trajectory)
        torch.testing.assert_close(found[batch.sequence == index].double(), expected, rtol=1e-5, atol=2e-5)
        expected.sum().backward()
    for ours, theirs in zip(packed.model.layers, own.model.layers, strict=True):
        # Gates are the router's own: gradients reach it.
        torch.testing.assert_close(ours.mlp.gate.weight.grad, theirs.mlp.gate.weight.grad, rtol=1e-3, atol=2e-3)
        assert float(ours.mlp.gate.weight.grad.abs().max()) > 1e-2


def test_replay_removes_the_mismatch_of_a_moved_router(hybrid_dir: Path) -> None:
    engine, learner = load_policy(hybrid_dir), load_policy(hybrid_dir)
    given = everybody(make_groups(4, groups=2, samples=2, longest=20))
    for trajectory in given:
        [batch] = pack([trajectory], Packing(4096, share_prompts=False))
        trajectory.behaviour_logprobs[trajectory.sampled] = score(engine, batch)[0].detach().numpy()
        trajectory.routes = torch.stack([r.chosen for r in routers(engine)], dim=1).numpy().astype(np.uint8)
    # The learner's routers differ by so little that no mixing weight moves much; near ties they choose otherwise.
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for router in routers(learner):
            router.weight += torch.randn(router.weight.shape, generator=generator) * 2e-2

    def mismatch() -> float:
        [batch] = pack(given, 4096)
        return float((score(learner, batch)[0].detach() - batch.behaviour_logprobs).abs().mean())

    without = mismatch()
    allow_router_replay(learner)
    replayed = mismatch()
    assert replayed < 0.5 * without, (replayed, without)


def test_what_routers_prefer_is_kept_beside_what_they_choose_only_under_replay(hybrid_dir: Path) -> None:
    policy = load_policy(hybrid_dir)
    given = everybody(with_routes(make_groups(4, groups=2, samples=2, longest=20)))
    [batch] = pack(given, 4096)
    free, told = RouteWatch(), RouteWatch()
    score(policy, batch, free)
    assert free.preferred is free.experts and len(free.experts) == LAYERS
    allow_router_replay(policy)
    score(policy, batch, told)
    assert batch.routes is not None
    for layer, (chosen, preferred) in enumerate(zip(told.experts, told.preferred, strict=True)):
        assert torch.equal(chosen, batch.routes[batch.rows, layer])
        assert preferred.shape == chosen.shape and not torch.equal(preferred, chosen)
    assert torch.equal(told.preferred[0], free.experts[0]), "nothing was routed otherwise before the first layer"


def test_a_learner_replays_and_tells_how_far_it_agrees(hybrid_dir: Path) -> None:
    spec = routed({"replay": True})
    groups = with_routes(make_groups(6))
    saved = [unpack_group(pack_group(group)) for group in copy.deepcopy(groups)]
    metrics = Learner(hybrid_dir, spec).update(groups, spec, 1)
    assert 0 < metrics["moe/replay_agreement"] < 1 and metrics["actor/grad_norm"] > 0
    assert Learner(hybrid_dir, spec).update(saved, spec, 1) == metrics, "routes come back from a saved group"
    with pytest.raises(ValueError, match="needs trajectories with the engine's routes"):
        Learner(hybrid_dir, spec).update(make_groups(6), spec, 1)


def test_the_balancing_loss_is_one_where_experts_are_used_alike() -> None:
    scores = [torch.full((6, 3), 1 / 3, dtype=torch.float64)] * 2
    chosen = [torch.tensor([[0, 1], [1, 2], [2, 0]] * 2)] * 2
    assert float(balancing_loss(scores, chosen, torch.tensor([4, 4, 4, 9, 9, 9]))) == pytest.approx(1.0)


def test_the_balancing_loss_and_its_gradient_are_those_of_the_formula() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(7, 4))
    sequence, experts = (
        np.array([3, 3, 3, 3, 0, 0, 0]),
        np.array([[0, 2], [2, 0], [0, 3], [2, 0], [1, 3], [3, 0], [1, 3]]),
    )

    def formula(z: np.ndarray) -> float:
        p = np.exp(z) / np.exp(z).sum(1, keepdims=True)
        total = 0.0
        for name in (0, 3):
            mine = sequence == name
            shares = [np.mean(experts[mine] == e) for e in range(4)]
            total += mine.sum() * 4 * sum(f * p[mine, e].mean() for e, f in enumerate(shares))
        return total / len(sequence)

    given = torch.tensor(logits, requires_grad=True)
    loss = balancing_loss([given.softmax(-1)], [torch.from_numpy(experts)], torch.from_numpy(sequence))
    loss.backward()
    assert float(loss) == pytest.approx(formula(logits), rel=1e-12)
    steps = 1e-6 * np.eye(logits.size).reshape(-1, *logits.shape)
    slopes = [(formula(logits + step) - formula(logits - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(given.grad.numpy().ravel(), slopes, atol=1e-8)


def test_no_cut_into_microbatches_changes_the_auxiliary_loss(hybrid_dir: Path) -> None:
    found = []
    for budget in (4096, 128):
        balance = {"balance": {"type": "auxiliary_loss", "coefficient": 0.5}}
        spec = routed(balance, parallelism={"max_tokens_per_microbatch": budget})
        found.append(Learner(hybrid_dir, spec).update(make_groups(7), spec, 1))
    assert found[1]["moe/aux_loss"] == pytest.approx(found[0]["moe/aux_loss"], rel=1e-5)
    assert found[1]["actor/grad_norm"] == pytest.approx(found[0]["actor/grad_norm"], rel=1e-4)


def test_an_auxiliary_loss_reaches_the_routers(hybrid_dir: Path) -> None:
    found = []
    for balance in ({"type": "none"}, {"type": "auxiliary_loss", "coefficient": 0.5}):
        spec = routed({"balance": balance})
        learner = Learner(hybrid_dir, spec)
        metrics = learner.update(make_groups(7), spec, 1)
        found.append((metrics, {n: w for n, w in learner.weights().items() if n.endswith("gate.weight")}))
    assert "moe/aux_loss" not in found[0][0]
    assert 0.5 * 0.9 < found[1][0]["moe/aux_loss"] < 0.5 * EXPERTS
    assert found[0][0]["actor/grad_norm"] != found[1][0]["actor/grad_norm"]
    assert all(np.abs(found[0][1][name] - weight).max() > 0 for name, weight in found[1][1].items())


@pytest.mark.parametrize("budget", [4096, 128])
def test_biases_move_against_the_loads_and_travel(hybrid_dir: Path, tmp_path: Path, budget: int) -> None:
    spec = routed(
        {"balance": {"type": "loss_free", "update_rate": 0.01}}, parallelism={"max_tokens_per_microbatch": budget}
    )
    learner = Learner(hybrid_dir, spec)
    model, groups = load_policy(hybrid_dir), make_groups(8)
    [batch] = pack(everybody(groups), 4096)
    score(model, batch)
    loads = [torch.bincount(r.chosen[batch.rows].flatten(), minlength=EXPERTS) for r in routers(model)]
    metrics = learner.update(groups, spec, 1)
    mean = len(batch.rows) * CHOSEN / EXPERTS
    for name, bias in learner.weights().items():
        if name.endswith(BIAS):
            layer = int(name.split(".")[2])
            np.testing.assert_allclose(bias, 0.01 * np.sign(mean - loads[layer].numpy()), atol=1e-9)
    worst = [float(load.max()) / mean - 1 for load in loads]
    assert metrics["moe/max_violation"] == pytest.approx(sum(worst) / LAYERS)
    assert metrics["moe/bias_spread"] == pytest.approx(0.02) and 0 < metrics["moe/router_entropy"] < np.log(EXPERTS)

    learner.save(tmp_path / "c")
    assert len(read_biases(tmp_path / "c")) == LAYERS
    again = Learner(hybrid_dir, spec)
    again.load(tmp_path / "c")
    assert again.update(make_groups(9), spec, 2) == learner.update(make_groups(9), spec, 2)
    based = load_policy(tmp_path / "c")
    assert set(biases(based)) == {f"model.layers.{n}.mlp.gate.{BIAS}" for n in range(LAYERS)}


def test_a_bias_changes_the_choice_and_never_the_weights(hybrid_dir: Path) -> None:
    model = load_policy(hybrid_dir)
    router = routers(model)[0]
    states = torch.randn(20, router.weight.shape[1], generator=torch.Generator().manual_seed(2))
    scores = router(states)[0].softmax(-1)
    take_biases(model, {f"model.layers.0.mlp.gate.{BIAS}": torch.tensor([5.0, 0.0, 0.0, 0.0])})
    _, weights, experts = router(states)
    assert bool((experts == 0).any(dim=1).all())
    torch.testing.assert_close(weights, scores.gather(1, experts) / scores.gather(1, experts).sum(-1, keepdim=True))


@pytest.mark.parametrize(
    ("routing", "reason"),
    [
        ({"replay": True}, r"policy\.routing\.replay needs a mixture of experts"),
        ({"balance": {"type": "loss_free"}}, r"policy\.routing\.balance needs a mixture of experts"),
    ],
)
def test_a_dense_policy_is_refused_what_it_cannot_do(policy_dir: Path, routing: dict, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Learner(policy_dir, routed(routing))
