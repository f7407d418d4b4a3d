"""Weights of samples under distillation (PACED, SCOPE): in float64 against the papers' formulas, and on the learner."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from transformers import Qwen3ForCausalLM

from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.episodes import Group, Verdict
from trainer_core.methods.paced import paced
from trainer_core.methods.scope import scope_values, scope_weights
from trainer_core.spec import RunSpec
from trainer_core.spec.methods.distillation import PacedWeighting, ScopeWeighting
from trainer_core.update.learner import Learner
from trainer_core.update.objective.guidance import guide
from trainer_core.update.objective.returns import KnownTokens
from trainer_core.update.packed.packing import pack

SMOOTH = {"learning_rate": 1e-3, "epsilon": 1e-3}


@pytest.fixture(scope="module")
def teacher_dir(policy_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tests' policy with other weights."""
    folder = tmp_path_factory.mktemp("teacher")
    model = Qwen3ForCausalLM.from_pretrained(policy_dir)
    torch.manual_seed(11)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    model.save_pretrained(folder)
    return folder


def distilled(weighting: dict[str, Any], **parts: Any) -> RunSpec:
    distillation = {"teacher": "t", "weighting": weighting, "alone": True}
    return make_spec(distillation=distillation, filters=[], corrections=[], optimizer=SMOOTH, **parts)


def scored(seed: int, rewards: tuple[float, ...] = (1.0, 0.0, 1.0, 0.0)) -> list[Group]:
    groups = make_groups(seed, groups=2, longest=10)
    for group in groups:
        for trajectory, reward in zip(group.trajectories, rewards, strict=True):
            trajectory.verdict = Verdict(reward)
    groups[1].trajectories[0].verdict = Verdict(0.0)
    return groups


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (2.0, 0.5), (0.0, 0.0)])
def test_paced_is_the_beta_kernel(alpha: float, beta: float) -> None:
    spec = PacedWeighting(alpha=alpha, beta=beta)
    for rate in (0.0, 0.25, 0.5, 1.0):
        assert paced(spec, rate) == pytest.approx(math.pow(rate, alpha) * math.pow(1 - rate, beta))
    assert paced(PacedWeighting(), 0.25) == 0.1875


@pytest.mark.parametrize("temperature", [0.3, 1.0, 5.0])
def test_scope_weighs_by_perplexities(temperature: float) -> None:
    rng = np.random.default_rng(0)
    right = [True, False, True, False, False]
    student, teacher = -rng.random(5) * 3, -rng.random(5) * 3
    found = scope_weights(ScopeWeighting(temperature=temperature), right, list(student), list(teacher))
    own, theirs = np.exp(-student) ** (1 / temperature), np.exp(-teacher) ** (-1 / temperature)
    good = np.array(right)
    expected = np.where(good, own / own[good].sum(), theirs / theirs[~good].sum())
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert scope_weights(ScopeWeighting(), [True], [-2.0], [-1.0]) == [1.0]
    assert scope_weights(ScopeWeighting(), [], [], []) == []
    # A perplexity beyond every number does not overflow.
    assert scope_weights(ScopeWeighting(temperature=0.001), [True, True], [-900.0, -1.0], [0.0, 0.0]) == [1.0, 0.0]


@pytest.mark.parametrize("seed", [0, 1])
def test_scope_values_and_gradients_are_the_papers(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    now, old, teacher = (-torch.rand(9, generator=generator, dtype=torch.float64) * 3 for _ in range(3))
    now.requires_grad_()
    right = torch.rand(9, generator=generator) < 0.5
    values = scope_values(now, old, teacher, right)
    (found,) = torch.autograd.grad(values.sum(), now)
    for t in range(9):
        ratio = math.exp(now[t].item() - old[t].item())
        factor = -1.0 if right[t] else now[t].item() - teacher[t].item()
        assert values[t].item() == pytest.approx(ratio * factor, rel=1e-12)
        assert found[t].item() == pytest.approx(ratio * factor, rel=1e-12)


def told(
    weighting: dict[str, Any], groups: list[Group], budget: int = 1000
) -> dict[tuple[str, int], tuple[float, float]]:
    """Weight and rightness of each token, as the code under test writes them."""
    mine = [t for group in groups for t in group.trajectories]
    batches = pack(mine, budget)
    known = []
    for batch in batches:
        keys = zip(batch.sequence.tolist(), batch.offset.tolist(), strict=True)
        rows = [np.random.default_rng((int(mine[s].trajectory_id[1:]), o)).random(2) for s, o in keys]
        before, teacher = -torch.tensor(np.array(rows)).T
        known.append(KnownTokens(before=before, teacher=teacher))
    guide(distilled(weighting), groups, [(mine, batches, known)])
    result = {}
    for batch, one in zip(batches, known, strict=True):
        assert one.guide is not None and one.right is not None
        keys = zip(batch.sequence.tolist(), batch.offset.tolist(), strict=True)
        for (s, o), weight, right in zip(keys, one.guide.tolist(), one.right.tolist(), strict=True):
            result[mine[s].trajectory_id, o] = (weight, right)
    return result


def means(group: Group) -> list[tuple[float, float]]:
    found = []
    for t in group.trajectories:
        rows = [np.random.default_rng((int(t.trajectory_id[1:]), int(o))).random(2) for o in np.flatnonzero(t.sampled)]
        found.append(tuple(-np.mean(rows, axis=0)))
    return found


@pytest.mark.parametrize("budget", [1000, 30])
def test_every_token_has_the_weight_of_its_sample(budget: int) -> None:
    groups = scored(1)
    groups[0].trajectories[3].excluded = "truncated"
    groups[1].trajectories[2].verdict = Verdict(error="grader: failed")
    found = told({"type": "paced"}, groups, budget)
    # Two of four right, then none of three known.
    assert {weight for (i, _), (weight, _) in found.items() if i == groups[0].trajectories[0].trajectory_id} == {0.25}
    assert {weight for (i, _), (weight, _) in found.items() if i == groups[1].trajectories[0].trajectory_id} == {0.0}
    found = told({"type": "scope", "temperature": 0.5}, groups, budget)
    for group in groups:
        perplexities = [tuple(np.exp(-np.array(one))) for one in means(group)]
        kept = [t.excluded is None and t.reward is not None for t in group.trajectories]
        for right in (True, False):
            chosen = [n for n, t in enumerate(group.trajectories) if kept[n] and (t.reward == 1.0) is right]
            powers = {n: perplexities[n][0] ** 2 if right else perplexities[n][1] ** -2 for n in chosen}
            for n in chosen:
                t = group.trajectories[n]
                own = {value for (i, _), value in found.items() if i == t.trajectory_id}
                [(weight, told_right)] = own
                assert weight == pytest.approx(powers[n] / sum(powers.values()), rel=1e-6)
                assert told_right == float(right)
    failed = groups[1].trajectories[2].trajectory_id
    assert {value for (i, _), value in found.items() if i == failed} == {(0.0, 0.0)}


def moved(learner: Learner, before: dict[str, np.ndarray]) -> float:
    return max(float(np.abs(before[name] - values).max()) for name, values in learner.weights().items())


def test_paced_learns_nothing_from_what_is_always_or_never_right(policy_dir: Path, teacher_dir: Path) -> None:
    spec = distilled({"type": "paced"})
    learner = Learner(policy_dir, spec, teacher=teacher_dir)
    before, groups = learner.weights(), scored(1, (1.0, 1.0, 1.0, 1.0))
    for trajectory in groups[1].trajectories:
        trajectory.verdict = Verdict(0.0)
    assert learner.update(groups, spec, 1)["actor/distill_loss"] == 0.0
    assert moved(learner, before) == 0.0
    assert learner.update(scored(1), spec, 2)["actor/distill_loss"] > 0.0
    assert moved(learner, before) > 1e-6


def test_scope_imitates_right_samples_in_every_pass_over_a_step(policy_dir: Path, teacher_dir: Path) -> None:
    several = {"steps": 10, "prompts_per_step": 2, "updates_per_step": 2, "epochs": 2}
    spec = distilled({"type": "scope"}, schedule=several)
    learner = Learner(policy_dir, spec, teacher=teacher_dir)
    teacher = Learner(teacher_dir, make_spec())

    def look(scorer: Learner, group: Group, number: int) -> float:
        t = group.trajectories[number]
        return sum(scorer.score([[*t.prompt_ids.tolist(), *t.token_ids.tolist()]])[0][len(t.prompt_ids) - 1 :])

    groups = scored(1)
    first = [look(learner, groups[0], n) for n in range(4)]
    assert len({round(look(teacher, groups[0], n), 3) for n in range(4)}) == 4
    for step in (1, 2):
        metrics = learner.update(scored(1), spec, step)
        assert math.isfinite(metrics["actor/distill_loss"])
    assert all(look(learner, groups[0], n) > first[n] for n in (0, 2))


def test_the_whole_loss_is_the_papers_sum(policy_dir: Path, teacher_dir: Path) -> None:
    """On policy: −Σ w over right tokens, Σ w·(log π − log π_T) over wrong ones, averaged over the tokens."""
    spec = distilled({"type": "scope", "temperature": 2.0})
    learner, teacher = Learner(policy_dir, spec, teacher=teacher_dir), Learner(teacher_dir, make_spec())
    groups, same = scored(3), scored(3)
    found = learner.update(groups, spec, 1)["actor/distill_loss"]
    teacher.update(same, make_spec(optimizer={"learning_rate": 1e-12}), 1)
    total, tokens = 0.0, 0
    for group, other in zip(groups, same, strict=True):
        own = [t.learner_logprobs[t.sampled].astype("f8") for t in group.trajectories]  # type: ignore[index]
        theirs = [t.learner_logprobs[t.sampled].astype("f8") for t in other.trajectories]  # type: ignore[index]
        right = [t.reward == 1.0 for t in group.trajectories]
        powers = [
            math.exp(-mine.mean() / 2) if ok else math.exp(his.mean() / 2)
            for ok, mine, his in zip(right, own, theirs, strict=True)
        ]
        for n, ok in enumerate(right):
            weight = powers[n] / sum(p for p, kind in zip(powers, right, strict=True) if kind is ok)
            total += weight * (-len(own[n]) if ok else float((own[n] - theirs[n]).sum()))
            tokens += len(own[n])
    assert found == pytest.approx(total / tokens, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"distillation": {"teacher": "t", "distribution": "full", "weighting": {"type": "scope"}}}, "sampled token"),
        (
            {
                "distillation": {"teacher": "t", "weighting": {"type": "paced"}},
                "advantage": {"type": "reinforce"},
                "rollout": {"group_size": 1, "max_tokens": 60, "engine": {"max_model_len": 128}},
            },
            "0 or 1 for one sample",
        ),
        ({"distillation": {"teacher": "t", "weighting": {"type": "scope", "temperature": 0.0}}}, "greater than 0"),
        ({"distillation": {"teacher": "t", "weighting": {"type": "paced", "alpha": -1.0}}}, "greater than or equal"),
    ],
)
def test_what_cannot_be_is_refused(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        make_spec(**parts)


def test_without_weights_nothing_is_known_of_samples() -> None:
    groups = scored(1)
    mine = [t for group in groups for t in group.trajectories]
    known = [KnownTokens() for _ in pack(mine, 1000)]
    guide(make_spec(distillation={"teacher": "t"}), groups, [(mine, pack(mine, 1000), known)])
    guide(make_spec(), groups, [(mine, pack(mine, 1000), known)])
    assert all(one.guide is None and one.right is None for one in known)
