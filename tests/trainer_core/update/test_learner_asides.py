"""What losses ask of a forward pass beside log-probabilities: routing of experts, probabilities of the likeliest."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import Qwen3ForCausalLM, Qwen3MoeConfig, Qwen3MoeForCausalLM

from tests.trainer_core.update.making import VOCABULARY, make_groups, make_spec
from trainer_core.episodes import Group, Trajectory
from trainer_core.spec import RunSpec
from trainer_core.steering.saved_groups import pack_group, unpack_group
from trainer_core.update.learner import Learner

EXPERTS, CHOSEN, LAYERS = 8, 2, 3


@pytest.fixture(scope="module")
def mixture_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Qwen3 mixture of experts with random weights."""
    folder = tmp_path_factory.mktemp("mixture")
    torch.manual_seed(3)
    config = Qwen3MoeConfig(
        vocab_size=VOCABULARY,
        hidden_size=64,
        intermediate_size=128,
        moe_intermediate_size=48,
        num_experts=EXPERTS,
        num_experts_per_tok=CHOSEN,
        num_hidden_layers=LAYERS,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=256,
        tie_word_embeddings=True,
    )
    Qwen3MoeForCausalLM(config).save_pretrained(folder)
    return folder


def shifting(**parts: Any) -> RunSpec:
    schedule = {"steps": 10, "prompts_per_step": 2, "updates_per_step": 2}
    document = {"schedule": schedule, "corrections": [{"type": "router_shift", "floor": 0.0}], **parts}
    return make_spec(**{"optimizer": {"learning_rate": 1e-2}, **document})


def routes(folder: Path, weights: dict[str, torch.Tensor], trajectory: Trajectory) -> list[torch.Tensor]:
    """Log-probabilities of all experts in each layer, where the sampled tokens are predicted, in float64."""
    model = Qwen3MoeForCausalLM.from_pretrained(
        folder, dtype=torch.float64, attn_implementation="eager", experts_implementation="eager"
    )
    model.load_state_dict({name: tensor.double() for name, tensor in weights.items()}, strict=False)
    ids = torch.tensor([*trajectory.prompt_ids.tolist(), *trajectory.token_ids.tolist()])
    with torch.no_grad():
        found = model(ids.unsqueeze(0), output_router_logits=True).router_logits
    places = len(trajectory.prompt_ids) - 1 + np.flatnonzero(trajectory.sampled)
    return [layer.view(-1, EXPERTS)[places].log_softmax(-1) for layer in found]


def test_the_weight_is_that_of_the_routers_before_the_step_and_now(mixture_dir: Path) -> None:
    spec = shifting()
    learner = Learner(mixture_dir, spec)
    seen: list[dict[str, torch.Tensor]] = []
    step = learner._engine.step

    def spy(*arguments: Any, **options: Any) -> Any:
        seen.append({n: p.detach().clone() for n, p in learner._parts.model.named_parameters()})
        return step(*arguments, **options)

    learner._engine.step = spy  # type: ignore[method-assign]
    groups = make_groups(5, groups=2, samples=2, longest=12)
    metrics = learner.update(groups, spec, 1)

    weights = []
    for number, group in enumerate(groups):  # one group for each of the two updates
        for trajectory in group.trajectories:
            before, now = (routes(mixture_dir, seen[when], trajectory) for when in (0, number))
            distance = torch.zeros(int(trajectory.sampled.sum()), dtype=torch.float64)
            for old, new in zip(before, now, strict=True):
                experts = old.topk(CHOSEN, dim=-1).indices
                distance += (new.gather(1, experts) - old.gather(1, experts)).abs().sum(1)
            weights.append((-distance / (LAYERS * CHOSEN)).exp())
    expected = torch.cat(weights).mean().item()
    assert metrics["actor/router_shift"] == pytest.approx(expected, rel=1e-5)
    assert expected < 1 - 1e-4


@pytest.mark.parametrize("stage", [0, 2])
def test_a_mixture_trains_with_it_and_resumes(mixture_dir: Path, tmp_path: Path, stage: int) -> None:
    spec = shifting(parallelism={"zero_stage": stage}, loss={"type": "gspo"}, aggregation={"type": "sequence_mean"})
    learner, resumed = Learner(mixture_dir, spec), Learner(mixture_dir, spec)
    learner.update(make_groups(1), spec, 1)
    learner.save(tmp_path / "c")
    resumed.load(tmp_path / "c")
    found = [each.update(make_groups(2), spec, 2) for each in (learner, resumed)]
    assert found[0] == found[1]
    assert 0 < found[0]["actor/router_shift"] < 1
    # What engines are sent has the names of the files.
    assert set(learner.weights()) == set(load_file(tmp_path / "c" / "model.safetensors"))
    for name, weight in learner.weights().items():
        np.testing.assert_array_equal(resumed.weights()[name], weight)


def test_a_dense_policy_is_refused(policy_dir: Path) -> None:
    with pytest.raises(ValueError, match=r"router_shift weights by the routing of experts: the policy .* has none"):
        Learner(policy_dir, shifting())


# ── the likeliest tokens ──


def told(policy: Path, groups: list[Group], k: int) -> list[Group]:
    """Groups as an engine with somewhat other weights would have sampled them, its likeliest tokens told."""
    model = Qwen3ForCausalLM.from_pretrained(policy, dtype=torch.float64)
    torch.manual_seed(11)
    for parameter in model.parameters():
        parameter.data += 0.02 * torch.randn_like(parameter)
    for trajectory in (t for group in groups for t in group.trajectories):
        logprobs = distribution(model, trajectory).detach()
        chosen = torch.from_numpy(trajectory.token_ids).long().unsqueeze(1)
        trajectory.behaviour_logprobs = logprobs.gather(1, chosen)[:, 0].numpy().astype(np.float32)
        top = logprobs.topk(k, dim=-1)
        trajectory.top_ids = top.indices.numpy().astype(np.int32)
        trajectory.top_logprobs = top.values.numpy().astype(np.float32)
    return groups


def distribution(model: Any, trajectory: Trajectory) -> torch.Tensor:
    ids = torch.tensor([*trajectory.prompt_ids.tolist(), *trajectory.token_ids.tolist()])
    logits = model(ids.unsqueeze(0)).logits[0, len(trajectory.prompt_ids) - 1 : -1]
    return torch.log_softmax(logits / trajectory.temperature, dim=-1)


@pytest.mark.parametrize("divergence", ["tv", "kl"])
def test_dppo_masks_by_the_divergence_over_the_likeliest(policy_dir: Path, divergence: str) -> None:
    k, radius = 5, {"tv": 0.09, "kl": 0.02}[divergence]
    loss = {"type": "dppo", "approximation": "top_k", "k": k, "divergence": divergence, "divergence_max": radius}
    spec = make_spec(loss=loss, corrections=[])
    groups = told(policy_dir, make_groups(4, longest=16), k)
    groups[0].trajectories[0].temperature = 1.0
    expected, masked, count = [], 0, 0
    model = Qwen3ForCausalLM.from_pretrained(policy_dir, dtype=torch.float64)
    for trajectory in (t for group in groups for t in group.trajectories):
        now = distribution(model, trajectory).detach()
        for place in np.flatnonzero(trajectory.sampled):
            token = int(trajectory.token_ids[place])
            kept = list(dict.fromkeys([token, *trajectory.top_ids[place].tolist()]))
            p = {
                int(v): float(x) for v, x in zip(trajectory.top_ids[place], trajectory.top_logprobs[place], strict=True)
            }
            p[token] = float(trajectory.behaviour_logprobs[place])
            then = torch.tensor([p[v] for v in kept], dtype=torch.float64).exp()
            here = now[place][kept].exp()
            then, here = (torch.cat([part, 1 - part.sum(0, keepdim=True)]) for part in (then, here))
            tv, kl = (then - here).abs().sum() / 2, (then * (then / here).log()).sum()
            rises = now[place][token] > p[token]
            away = rises if trajectory.advantage > 0 else ~rises
            out = bool((tv if divergence == "tv" else kl) > radius) and bool(away)
            ratio = float((now[place][token] - p[token]).exp())
            expected.append(0.0 if out else -ratio * trajectory.advantage * float(now[place][token]))
            masked, count = masked + out, count + 1
    metrics = Learner(policy_dir, spec).update(groups, spec, 1)
    assert 0 < masked < count
    assert metrics["actor/pg_clipfrac"] == pytest.approx(masked / count)
    assert metrics["actor/pg_loss"] == pytest.approx(float(np.mean(expected)), rel=1e-4)


def test_without_the_likeliest_it_is_an_error_and_replay_keeps_them(policy_dir: Path) -> None:
    spec = make_spec(loss={"type": "dppo", "approximation": "top_k"}, corrections=[])
    with pytest.raises(ValueError, match="needs trajectories with the engine's probabilities"):
        Learner(policy_dir, spec).update(make_groups(1), spec, 1)
    group = told(policy_dir, make_groups(1, groups=1), 4)[0]
    kept = unpack_group(pack_group(group)).trajectories[0]
    np.testing.assert_array_equal(kept.top_ids, group.trajectories[0].top_ids)
    np.testing.assert_array_equal(kept.top_logprobs, group.trajectories[0].top_logprobs)
