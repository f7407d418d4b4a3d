"""Preference training in the learner: packed pairs teach what padded ones do, in any cut."""

import copy
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import AutoModelForCausalLM

from tests.support.about import LEARNING
from tests.trainer_core.update.rows import (
    Padded,
    furthest,
    made,
    make_neighbour,
    make_pairs,
    packed_gradients,
    rows_spec,
)
from trainer_core.episodes import Group
from trainer_core.metrics import find
from trainer_core.spec import RunSpec
from trainer_core.starter.architectures import make_tiny
from trainer_core.update.learner import Learner
from trainer_core.update.totals import Totals

LOSSES: dict[str, dict[str, Any]] = {
    "dpo": {"type": "dpo", "beta": 0.3, "label_smoothing": 0.1},
    "ipo": {"type": "ipo", "beta": 0.2},
    "simpo": {"type": "simpo"},
    "orpo": {"type": "orpo", "weight": 0.5},
}
every_loss = pytest.mark.parametrize("name", LOSSES)


def preferring(name: str, sft: float = 0.0, **parts: Any) -> RunSpec:
    return rows_spec({"type": "preference", "loss": LOSSES[name], "sft_coefficient": sft}, **parts)


@pytest.fixture(scope="module")
def reference_dir(policy_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_neighbour(policy_dir, tmp_path_factory.mktemp("reference"))


@pytest.fixture(scope="module")
def policy(policy_dir: Path) -> Padded:
    return Padded(policy_dir)


@pytest.fixture(scope="module")
def reference(reference_dir: Path) -> Padded:
    return Padded(reference_dir)


def written_out(
    spec: RunSpec, groups: list[Group], policy: Padded, reference: Padded, *, alone: bool = False
) -> dict[str, Tensor]:
    """Loss, accuracy and margin of padded pairs, with sigmoids and odds as the papers write them.

    ``alone``: each completion is read without padding.
    """
    objective: Any = spec.objective
    own = objective.loss
    totals, losses, margins = [], [], []
    for pair in groups:
        read = [[one] for one in pair.trajectories] if alone else [pair.trajectories]
        better, worse = (values for part in read for values in policy.logprobs(part))
        with torch.no_grad():
            was_better, was_worse = (values for part in read for values in reference.logprobs(part))
        if own.type == "dpo":
            margin = own.beta * (better.sum() - was_better.sum() - worse.sum() + was_worse.sum())
            right = torch.sigmoid(margin)
            loss = -(1 - own.label_smoothing) * right.log() - own.label_smoothing * (1 - right).log()
        elif own.type == "ipo":
            ratio = (better - was_better).mean() - (worse - was_worse).mean()
            loss, margin = (ratio - 0.5 / own.beta) ** 2, own.beta * ratio
        elif own.type == "simpo":
            margin = own.beta * (better.mean() - worse.mean())
            loss = -torch.sigmoid(margin - own.margin).log()
        else:
            chances = better.mean().exp(), worse.mean().exp()
            odds = [chance / (1 - chance) for chance in chances]
            margin = own.weight * (odds[0] / odds[1]).log()
            loss = -better.mean() - own.weight * (odds[0] / (odds[0] + odds[1])).log()
        losses.append(loss)
        margins.append(margin)
        totals.append(loss - objective.sft_coefficient * better.mean())
    found = torch.stack(margins)
    return {
        "actor/loss": torch.stack(totals).mean(),
        "preference/loss": torch.stack(losses).mean(),
        "preference/margin": found.mean(),
        "preference/accuracy": (found > 0).double().mean(),
    }


@pytest.mark.parametrize(("name", "sft"), [(name, 0.0) for name in LOSSES] + [("dpo", 0.8), ("orpo", 0.8)])
def test_gradients_and_metrics_are_those_of_padded_pairs(
    policy_dir: Path, reference_dir: Path, policy: Padded, reference: Padded, name: str, sft: float
) -> None:
    spec, groups = preferring(name, sft), make_pairs(1)
    expected = written_out(spec, groups, policy, reference)
    gradients = policy.gradients(expected["actor/loss"])
    learner = Learner(policy_dir, spec, reference=reference_dir)
    assert furthest(packed_gradients(learner, groups, spec), gradients) < 1e-5
    metrics = learner.update(groups, spec, 1)
    for key, value in expected.items():
        assert metrics[key] == pytest.approx(value.item(), rel=1e-4)
    assert 0.0 < metrics["preference/accuracy"] < 1.0
    with torch.no_grad():
        for side, key in enumerate(("chosen", "rejected")):
            values = torch.cat(policy.logprobs([pair.trajectories[side] for pair in groups]))
            assert metrics[f"preference/{key}_logprob"] == pytest.approx(float(values.mean()), rel=1e-5)
    whole = sum(len(one.prompt_ids) + one.length for pair in groups for one in pair.trajectories)
    taught = sum(one.length for pair in groups for one in pair.trajectories)
    assert metrics["examples/tokens"] == whole and metrics["examples/taught_share"] == pytest.approx(taught / whole)
    assert all(find(name) is not None for name in metrics | learner.held_out(groups, spec))
    assert learner.version == 1


@every_loss
@pytest.mark.parametrize(
    "cut",
    [{"max_tokens_per_microbatch": 1024}, {"share_prompts": False}, {"batch_invariant": True}],
    ids=["one", "unshared", "invariant"],
)
def test_the_cut_into_micro_batches_does_not_matter(
    policy_dir: Path, reference_dir: Path, name: str, cut: dict[str, Any]
) -> None:
    groups = make_pairs(2, longest=20)
    spec, other = preferring(name), preferring(name, parallelism={"max_tokens_per_microbatch": 160, **cut})
    expected = packed_gradients(Learner(policy_dir, spec, reference=reference_dir), groups, spec)
    found = packed_gradients(Learner(policy_dir, other, reference=reference_dir), groups[::-1], other)
    assert furthest(found, expected) < 1e-5


@pytest.mark.parametrize("common", [3, 90])
def test_tokens_that_a_pair_has_in_common_count_on_both_sides(
    policy_dir: Path, policy: Padded, reference: Padded, common: int
) -> None:
    """Long common beginnings are computed once."""
    cut = {"max_tokens_per_microbatch": 400}
    spec = preferring("orpo", parallelism=cut)
    groups = make_pairs(3, 3, 12, common=common)
    learner = Learner(policy_dir, spec)
    totals = Totals()
    [part] = learner._examples.plan(groups, spec, totals)
    packed = sum(batch.num_tokens for batch in part.batches)
    whole = totals.values()["examples/tokens"]
    assert (packed < whole - common) if common > 64 else packed < whole
    expected = written_out(spec, groups, policy, reference)
    assert furthest(packed_gradients(learner, groups, spec), policy.gradients(expected["actor/loss"])) < 1e-5


@pytest.mark.parametrize("family", ["mistral", "gemma2", "gpt_oss", "mixtral", "deepseek_v3"])
def test_every_kind_of_attention_and_experts(tmp_path: Path, family: str) -> None:
    """Windows, capped scores, sinks and latent attention; references read one sequence at a time."""
    folder = make_tiny(family, tmp_path / family)
    spec, groups, plain = preferring("orpo", 0.5), make_pairs(1, 4), Padded(folder)
    if family in ("gpt_oss", "mixtral", "deepseek_v3"):
        plain.model.float()  # experts do not take float64
    expected = plain.gradients(written_out(spec, groups, plain, plain, alone=True)["actor/loss"])
    assert furthest(packed_gradients(Learner(folder, spec), groups, spec), expected) < 2e-5


def test_odd_pairs(policy_dir: Path, policy: Padded, reference: Padded, reference_dir: Path) -> None:
    """Completions of one token, equal ones, one that begins the other, and one with forced tokens."""
    rng, cut = np.random.default_rng(12), {"max_tokens_per_microbatch": 400}
    spec = preferring("dpo", 0.3, parallelism=cut)
    long = rng.integers(0, 64, 100)
    forced = np.arange(100) % 3 == 0
    sides = [(long[:1], long[1:2]), (long, long), (long[:80], long), (long, long[:70]), (long[:5], long[:5])]
    groups = make_pairs(12, len(sides))
    for pair, both in zip(groups, sides, strict=True):
        pair.trajectories = [
            made(one.trajectory_id, one.prompt_ids, tokens, forced[: len(tokens)])
            for one, tokens in zip(pair.trajectories, both, strict=True)
        ]
    objective: Any = spec.objective
    losses = []
    for pair in groups:
        own, was = policy.logprobs(pair.trajectories), reference.logprobs(pair.trajectories)
        taught = [torch.from_numpy(one.sampled) for one in pair.trajectories]
        better, worse = ((o - w.detach())[kept].sum() for o, w, kept in zip(own, was, taught, strict=True))
        right = torch.sigmoid(objective.loss.beta * (better - worse))
        smoothing = objective.loss.label_smoothing
        losses.append(-(1 - smoothing) * right.log() - smoothing * (1 - right).log() - 0.3 * own[0][taught[0]].mean())
    expected = policy.gradients(torch.stack(losses).mean())
    learner = Learner(policy_dir, spec, reference=reference_dir)
    assert furthest(packed_gradients(learner, groups, spec), expected) < 1e-5


@pytest.mark.parametrize(
    "parts",
    [{"policy": {"base": "tiny", "dtype": "bfloat16"}}, {"precision": {"type": "half", "dtype": "bfloat16"}}],
    ids=["narrow", "half"],
)
def test_policy_and_reference_round_alike(policy_dir: Path, parts: dict[str, Any]) -> None:
    spec = preferring("dpo", **parts)
    learner = Learner(policy_dir, spec)
    assert learner.update(make_pairs(4), spec, 1)["preference/margin"] == pytest.approx(0.0, abs=1e-6)
    assert learner.update(make_pairs(4), spec, 2)["preference/margin"] > 0.01


def test_a_resumed_run_keeps_its_reference(policy_dir: Path, tmp_path: Path) -> None:
    spec = preferring("dpo")
    learner = Learner(policy_dir, spec)
    learner.update(make_pairs(1), spec, 1)
    learner.save(tmp_path / "saved")
    expected = learner.update(make_pairs(2), spec, 2)
    again = Learner(policy_dir, spec)
    again.load(tmp_path / "saved")
    assert again.update(make_pairs(2), spec, 2) == expected
    assert again.version == learner.version == 2
    for key, weight in learner.weights().items():
        np.testing.assert_array_equal(again.weights()[key], weight)


@pytest.mark.parametrize("name", ["dpo", "ipo"])
def test_the_reference_is_the_policy_that_the_run_starts_from(policy_dir: Path, name: str) -> None:
    spec, groups = preferring(name), make_pairs(4)
    learner = Learner(policy_dir, spec)
    first = learner.update(groups, spec, 1)
    assert first["preference/margin"] == pytest.approx(0.0, abs=1e-6)
    own: Any = spec.examples
    start = math.log(2.0) if name == "dpo" else 1.0 / (4.0 * own.loss.beta**2)
    assert first["preference/loss"] == pytest.approx(start, rel=1e-5)
    later = [learner.update(groups, spec, step) for step in (2, 3, 4)]
    assert all(one["preference/margin"] > 0.0 and one["preference/loss"] < start for one in later)
    assert later[-1]["preference/accuracy"] == 1.0


@pytest.mark.expensive(4, "loads peft, and builds two learners with adapters", about=LEARNING)
def test_an_adapter_is_measured_from_the_policy_without_it(policy_dir: Path) -> None:
    """Switched off it is the policy that the run starts from; a copy of that makes the same update."""
    adapted = {"base": "tiny", "adapter": {"type": "lora", "rank": 4}}
    spec, results = preferring("dpo", policy=adapted), []
    for reference in (None, policy_dir):
        learner = Learner(policy_dir, spec, reference=reference)
        metrics = [learner.update(make_pairs(5), spec, step) for step in (1, 2)]
        results.append((metrics, learner.weights()))
    (ours, weights), (theirs, others) = results
    for one, other in zip(ours, theirs, strict=True):
        assert one == pytest.approx(other, rel=1e-4, abs=1e-6)
    assert all(np.allclose(weight, others[key], atol=1e-6) for key, weight in weights.items())


@pytest.mark.parametrize("name", ["simpo", "orpo"])
def test_losses_without_a_reference_load_none(policy_dir: Path, name: str) -> None:
    assert Learner(policy_dir, preferring(name))._parts.reference is None


def test_a_loss_that_gains_a_reference_in_mid_run_is_refused(policy_dir: Path) -> None:
    learner = Learner(policy_dir, preferring("simpo"))
    with pytest.raises(ValueError, match="the preference loss needs a reference policy but the learner was started"):
        learner.update(make_pairs(1), preferring("dpo"), 1)


def test_a_reference_with_another_vocabulary_is_refused(policy_dir: Path, tmp_path: Path) -> None:
    model: Any = AutoModelForCausalLM.from_pretrained(policy_dir)
    model.resize_token_embeddings(80)
    model.save_pretrained(tmp_path / "other")
    with pytest.raises(ValueError, match="the reference policy 'other' has 80 tokens, the policy 64"):
        Learner(policy_dir, preferring("dpo"), reference=tmp_path / "other")


def test_minibatches_split_pairs_in_order(policy_dir: Path) -> None:
    schedule = {"steps": 10, "prompts_per_step": 6, "updates_per_step": 2}
    spec, one = preferring("dpo", schedule=schedule), preferring("dpo")
    whole, parts, groups = Learner(policy_dir, spec), Learner(policy_dir, one), make_pairs(6)
    whole.update(groups, spec, 1)
    parts.update(groups[:3], one, 1)
    parts.update(groups[3:], one, 1)
    for key, weight in parts.weights().items():
        np.testing.assert_array_equal(whole.weights()[key], weight)


def test_no_pair_sees_another(policy_dir: Path) -> None:
    spec = preferring("simpo")
    learner = Learner(policy_dir, spec)
    groups = [replace(one, source=f"s{n}") for n, one in enumerate(make_pairs(7))]
    before = learner.held_out(groups, spec)
    touched = copy.deepcopy(groups)
    tokens = touched[2].trajectories[1].token_ids
    tokens[0] = (tokens[0] + 1) % 64
    after = learner.held_out(touched, spec)
    assert {key for key, value in after.items() if value != before[key]} == {"eval/s2/preference_margin"}


def test_held_out_pairs_by_source(policy_dir: Path, reference_dir: Path, policy: Padded, reference: Padded) -> None:
    spec, groups = preferring("dpo"), make_pairs(8)
    learner = Learner(policy_dir, spec, reference=reference_dir)
    weights, found = learner.weights(), learner.held_out(groups, spec)
    expected: dict[str, float] = {}
    with torch.no_grad():
        for source, own in (("a", groups[::2]), ("b", groups[1::2])):
            told = written_out(spec, own, policy, reference)
            expected[f"eval/{source}/preference_accuracy"] = float(told["preference/accuracy"])
            expected[f"eval/{source}/preference_margin"] = float(told["preference/margin"])
            chosen = torch.cat(policy.logprobs([pair.trajectories[0] for pair in own]))
            expected[f"eval/{source}/loss"] = float(-chosen.mean())
    assert found == pytest.approx(expected, rel=1e-4)
    assert all(np.array_equal(weight, learner.weights()[key]) for key, weight in weights.items())
    assert learner.version == 0 and learner.held_out([], spec) == {}


def test_a_pair_of_which_one_side_teaches_nothing_is_left_out(policy_dir: Path) -> None:
    spec, groups = preferring("dpo"), make_pairs(9)
    silent = copy.deepcopy(groups[0])
    silent.trajectories[1].sampled[:] = False
    learner, fresh = Learner(policy_dir, spec), Learner(policy_dir, spec)
    assert learner.update([silent], spec, 1) == {"actor/lr": 1e-3} and learner.version == 0
    assert learner.update([silent, *groups[1:]], spec, 1) == pytest.approx(fresh.update(groups[1:], spec, 1), rel=1e-6)


def test_groups_that_are_no_pairs_and_pairs_that_do_not_fit_are_refused(policy_dir: Path) -> None:
    spec, groups = preferring("simpo"), make_pairs(10)
    learner = Learner(policy_dir, spec)
    for count in (0, 1, 3):
        broken = replace(groups[0], trajectories=(groups[0].trajectories * 2)[:count])
        with pytest.raises(ValueError, match=f"the pair 10-0 has {count} completions: it needs two"):
            learner.update([broken], spec, 1)
    rng = np.random.default_rng(0)
    long = [
        made(f"row-{n}", rng.integers(0, 64, 8), rng.integers(0, 64, 90), np.ones(90, dtype=np.bool_)) for n in "wl"
    ]
    with pytest.raises(ValueError, match=r"row-w, row-l have 1[0-9]+ tokens together, more than the 160"):
        learner.update([replace(groups[0], trajectories=long)], spec, 1)
    learner.update(groups, spec, 1)


def test_a_step_size_of_the_objective_is_read_from_the_current_spec(
    policy_dir: Path, reference_dir: Path, policy: Padded, reference: Padded
) -> None:
    """β, ε, γ, λ and the supervised weight may be steered."""
    groups = make_pairs(11)
    start = preferring("dpo")
    now = rows_spec({"type": "preference", "loss": {"type": "dpo", "beta": 2.0}, "sft_coefficient": 0.5})
    learner = Learner(policy_dir, start, reference=reference_dir)
    expected = written_out(now, groups, policy, reference)
    metrics = learner.update(groups, now, 1)
    assert metrics["actor/loss"] == pytest.approx(expected["actor/loss"].item(), rel=1e-4)
