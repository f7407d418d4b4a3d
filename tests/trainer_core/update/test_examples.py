"""Supervised training in the learner: packed examples teach what padded ones do, and no token more."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.support.about import LEARNING
from tests.trainer_core.update.making import make_groups, make_spec
from tests.trainer_core.update.rows import Padded, furthest, group, made, make_examples, packed_gradients, rows_spec
from trainer_core.episodes import Group, Trajectory
from trainer_core.metrics import find
from trainer_core.spec import RunSpec
from trainer_core.update.examples import ExampleShare
from trainer_core.update.learner import Learner, NonFiniteUpdate, TornLearner
from trainer_core.update.streaming import CannotStream
from trainer_core.update.totals import Totals

SFT = {"type": "sft"}


@pytest.fixture(scope="module")
def learner(policy_dir: Path) -> Learner:
    """A learner that keeps its weights."""
    return Learner(policy_dir, rows_spec(SFT))


def flat(groups: list[Group]) -> list[Trajectory]:
    return [one for group in groups for one in group.trajectories]


def mean_loss(padded: Padded, examples: list[Trajectory]) -> torch.Tensor:
    found = padded.logprobs(examples)
    taught = [-values[torch.from_numpy(one.sampled)] for values, one in zip(found, examples, strict=True)]
    return torch.cat(taught).mean()


@pytest.mark.parametrize("tokens", [64, 160, 16_384])
def test_gradients_are_those_of_padded_examples(policy_dir: Path, tokens: int) -> None:
    spec = rows_spec(SFT, parallelism={"max_tokens_per_microbatch": tokens})
    padded, groups = Padded(policy_dir), make_examples(1)
    expected = padded.gradients(mean_loss(padded, flat(groups)))
    assert furthest(packed_gradients(Learner(policy_dir, spec), groups, spec), expected) < 1e-5


def test_metrics_are_means_over_the_tokens_that_teach(policy_dir: Path) -> None:
    padded, groups, spec = Padded(policy_dir), make_examples(2), rows_spec(SFT)
    learner = Learner(policy_dir, spec)
    metrics = learner.update(groups, spec, 1)
    with torch.no_grad():
        expected = {
            "sft/loss": mean_loss(padded, flat(groups)),
            "sft/loss/a": mean_loss(padded, flat(groups[::2])),
            "sft/loss/b": mean_loss(padded, flat(groups[1::2])),
        }
    for name, value in expected.items():
        assert metrics[name] == pytest.approx(float(value), rel=1e-5)
    whole = sum(len(one.prompt_ids) + one.length for one in flat(groups))
    assert metrics["actor/loss"] == pytest.approx(metrics["sft/loss"], rel=1e-6)
    assert metrics["examples/tokens"] == whole
    assert metrics["examples/taught_share"] == pytest.approx(sum(one.sampled.sum() for one in flat(groups)) / whole)
    assert metrics["actor/lr"] == 1e-3 and metrics["actor/grad_norm"] > 0.0
    assert learner.version == 1
    assert all(one.learner_logprobs is None and one.entropy is None for one in flat(groups))
    assert all(find(name) is not None for name in metrics | learner.held_out(groups, spec))
    assert not any(name.startswith(("critic/", "mismatch/", "actor/pg", "actor/entropy")) for name in metrics)


def test_the_update_is_adamw_on_that_gradient_and_lowers_the_loss(policy_dir: Path) -> None:
    spec, groups = rows_spec(SFT), make_examples(3)
    learner = Learner(policy_dir, spec)
    losses = [learner.update(groups, spec, step)["sft/loss"] for step in range(1, 5)]
    assert losses == sorted(losses, reverse=True)
    assert learner.held_out(groups, spec)["eval/a/loss"] < losses[0]
    assert learner.version == 4


def test_minibatches_split_the_step_in_order(policy_dir: Path) -> None:
    spec = rows_spec(SFT, schedule={"steps": 10, "prompts_per_step": 6, "updates_per_step": 3})
    whole, parts = Learner(policy_dir, spec), Learner(policy_dir, rows_spec(SFT))
    groups = make_examples(4)
    metrics = whole.update(groups, spec, 1)
    for first in range(0, 6, 2):
        parts.update(groups[first : first + 2], rows_spec(SFT), 1)
    for name, weight in parts.weights().items():
        np.testing.assert_array_equal(whole.weights()[name], weight)
    assert whole.version == 1 and parts.version == 3
    assert metrics["examples/tokens"] == sum(len(one.prompt_ids) + one.length for one in flat(groups))


def changed(example: Trajectory, place: int) -> Trajectory:
    tokens = example.token_ids.copy()
    tokens[place] = (tokens[place] + 1) % 64
    return replace(example, token_ids=tokens)


def test_no_token_sees_another_example(learner: Learner) -> None:
    """Changing one example changes no loss of the others, whose gradient keeps its bits in the same places."""
    spec, groups = rows_spec(SFT), make_examples(5)
    before = learner.held_out([replace(one, source=f"s{n}") for n, one in enumerate(groups)], spec)
    touched = [replace(one, source=f"s{n}") for n, one in enumerate(groups)]
    touched[2] = replace(touched[2], trajectories=[changed(groups[2].trajectories[0], 0)])
    after = learner.held_out(touched, spec)
    moved = {name for name, value in after.items() if value != before[name]}
    assert moved and all(name.startswith("eval/s2/") for name in moved)


def test_tokens_that_do_not_teach_have_no_gradient(policy_dir: Path, learner: Learner) -> None:
    """What is predicted after the last token that teaches is the same to the last bit; earlier targets do not count."""
    spec = rows_spec(SFT)
    [only] = make_examples(6, 1)[0].trajectories
    sampled = np.zeros(only.length, dtype=np.bool_)
    sampled[: only.length // 2] = True
    first = replace(only, sampled=sampled)
    other = changed(first, only.length - 1)
    assert not np.array_equal(first.token_ids, other.token_ids)
    found = [packed_gradients(learner, [group("g", "a", [one])], spec) for one in (first, other)]
    assert all(torch.equal(one, found[1][name]) for name, one in found[0].items())
    padded = Padded(policy_dir)
    logprobs = padded.logprobs([first])[0]
    expected = padded.gradients(-logprobs[: only.length // 2].mean())
    assert furthest(found[0], expected) < 1e-5


def test_whole_texts_teach_from_their_second_token(policy_dir: Path) -> None:
    """With ``learn: all`` the prompt is one token, which examples have in common."""
    rng, spec = np.random.default_rng(7), rows_spec({"type": "sft", "learn": "all"})
    texts = [rng.integers(1, 64, size) for size in (2, 30, 17, 9)]
    groups = [
        group(f"{n}", "a", [made(f"{n}", np.array([0]), text, np.ones(len(text), dtype=np.bool_))])
        for n, text in enumerate(texts)
    ]
    padded = Padded(policy_dir)
    expected = padded.gradients(mean_loss(padded, flat(groups)))
    found = packed_gradients(Learner(policy_dir, spec), groups, spec)
    assert furthest(found, expected) < 1e-5


def test_nothing_that_teaches_is_no_update(policy_dir: Path) -> None:
    spec, groups = rows_spec(SFT), make_examples(8)
    learner = Learner(policy_dir, spec)
    silent = [
        replace(g, trajectories=[replace(t, sampled=np.zeros_like(t.sampled)) for t in g.trajectories]) for g in groups
    ]
    before = learner.weights()
    assert learner.update(silent, spec, 1) == {"actor/lr": 1e-3}
    assert learner.update([], spec, 1) == {"actor/lr": 1e-3}
    assert learner.held_out(silent, spec) == {}
    assert learner.version == 0
    assert all(np.array_equal(weight, learner.weights()[name]) for name, weight in before.items())
    some = learner.update([*silent, *groups], spec, 1)
    fresh = Learner(policy_dir, spec)
    assert fresh.update(groups, spec, 1) == pytest.approx(some, rel=1e-5)


def test_a_loss_that_is_not_finite_changes_nothing(policy_dir: Path) -> None:
    spec = rows_spec(SFT)
    learner = Learner(policy_dir, spec)
    before = learner.weights()
    with torch.no_grad():
        kept = learner._parts.model.model.norm.weight.clone()
        learner._parts.model.model.norm.weight.fill_(math.inf)
    with pytest.raises(NonFiniteUpdate, match="step 1, update 1 of 1"):
        learner.update(make_examples(9), spec, 1)
    with torch.no_grad():
        learner._parts.model.model.norm.weight.copy_(kept)
    assert learner.version == 0
    assert all(np.array_equal(weight, learner.weights()[name]) for name, weight in before.items())
    learner.update(make_examples(9), spec, 1)


def test_a_later_update_that_is_not_finite_tears_the_learner(policy_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = rows_spec(SFT, schedule={"steps": 10, "prompts_per_step": 6, "updates_per_step": 2})
    learner = Learner(policy_dir, spec)
    accumulate, turns = learner._examples.accumulate, iter(range(2))

    def broken(spec: RunSpec, step: int, part: ExampleShare, totals: Totals) -> None:
        if next(turns):
            with torch.no_grad():
                learner._parts.model.model.norm.weight.fill_(math.nan)
        accumulate(spec, step, part, totals)

    monkeypatch.setattr(learner._examples, "accumulate", broken)
    with pytest.raises(NonFiniteUpdate, match="step 1, update 2 of 2"):
        learner.update(make_examples(9), spec, 1)
    for call in (learner.update, lambda groups, spec, _: learner.held_out(groups, spec)):
        with pytest.raises(TornLearner, match="the update of step 1 failed half-way"):
            call(make_examples(9), spec, 1)


@pytest.mark.parametrize("taught", [[0], [11], [0, 11], [5, 6]])
def test_odd_examples(policy_dir: Path, learner: Learner, taught: list[int]) -> None:
    """Only some tokens teach, of completions as short as one token, one of which has an equal twin."""
    rng, spec = np.random.default_rng(14), rows_spec(SFT)
    sampled = np.isin(np.arange(12), taught)
    twin = made("one", rng.integers(0, 64, 3), rng.integers(0, 64, 12), sampled)
    short = made("short", rng.integers(0, 64, 1), rng.integers(0, 64, 1), np.ones(1, dtype=np.bool_))
    groups = [group(str(n), "a", [one]) for n, one in enumerate([twin, short, replace(twin, trajectory_id="two")])]
    padded = Padded(policy_dir)
    expected = padded.gradients(mean_loss(padded, flat(groups)))
    assert furthest(packed_gradients(learner, groups, spec), expected) < 1e-5


def test_an_example_that_does_not_fit_is_named(learner: Learner) -> None:
    rng = np.random.default_rng(0)
    long = made("row-17", rng.integers(0, 64, 3), rng.integers(0, 64, 200), np.ones(200, dtype=np.bool_))
    with pytest.raises(ValueError, match="row-17 has 202 tokens, more than the 160 of a micro-batch"):
        learner.update([group("g", "a", [long])], rows_spec(SFT), 1)
    learner.held_out(make_examples(1), rows_spec(SFT))  # it is not torn


def test_held_out_loss_by_source_and_quarter(policy_dir: Path, learner: Learner) -> None:
    groups, spec = make_examples(10), rows_spec(SFT)
    before = learner.weights()
    found = learner.held_out(groups, spec)
    expected: dict[str, list[float]] = {}
    with torch.no_grad():
        logprobs = Padded(policy_dir).logprobs(flat(groups))
    for one, values in zip(groups, logprobs, strict=True):
        taught = (-values[torch.from_numpy(one.trajectories[0].sampled)]).tolist()
        for place, value in enumerate(taught):
            quarter = ("first", "second", "third", "last")[4 * place // len(taught)]
            expected.setdefault(f"eval/{one.source}/loss", []).append(value)
            expected.setdefault(f"eval/{one.source}/loss/{quarter}", []).append(value)
    assert found == pytest.approx({name: sum(values) / len(values) for name, values in expected.items()}, rel=1e-5)
    assert len(found) == 10
    assert all(np.array_equal(weight, learner.weights()[name]) for name, weight in before.items())
    assert learner.held_out(groups[::-1], spec) == pytest.approx(found, rel=1e-6)
    with pytest.raises(ValueError, match="the objective rl learns from rewards"):
        learner.held_out(groups, make_spec())


def test_rows_are_not_streamed(learner: Learner) -> None:
    with pytest.raises(CannotStream, match="the objective sft cannot be streamed"):
        learner.begin(rows_spec(SFT), 1)


# ── noise ──


def test_noise_depends_on_the_example_not_on_its_company(policy_dir: Path) -> None:
    spec, groups = rows_spec({**SFT, "noise": 5.0}), make_examples(11)
    learner = Learner(policy_dir, spec)
    alone = rows_spec({**SFT, "noise": 5.0}, parallelism={"max_tokens_per_microbatch": 64})
    found = packed_gradients(learner, groups, spec)
    assert furthest(packed_gradients(Learner(policy_dir, alone), groups[::-1], alone), found) < 1e-5
    again = packed_gradients(learner, groups, spec)
    assert all(torch.equal(one, again[name]) for name, one in found.items())
    seeded = rows_spec({**SFT, "noise": 5.0}, schedule={"steps": 10, "prompts_per_step": 6, "seed": 1})
    assert furthest(packed_gradients(learner, groups, spec, step=2), found) > 1e-3
    assert furthest(packed_gradients(learner, groups, seeded), found) > 1e-3


def test_noise_has_its_strength_and_ends_with_the_forward_pass(policy_dir: Path) -> None:
    spec, groups = rows_spec({**SFT, "noise": 5.0}), make_examples(12, 2)
    learner = Learner(policy_dir, spec)
    embeddings = learner._parts.model.get_input_embeddings()
    seen: list[torch.Tensor] = []
    weight = embeddings.weight.detach().clone()
    layer = learner._parts.model.model.layers[0]
    handle = layer.register_forward_pre_hook(lambda _, given: seen.append(given[0].detach()))
    quiet = learner.held_out(groups, spec)
    packed_gradients(learner, groups, spec)
    handle.remove()
    plain, noisy = seen
    noise = noisy - plain
    sizes = [len(one.prompt_ids) + one.length for one in flat(groups)]
    order = sorted(range(2), key=lambda n: -sizes[n])
    done = 0
    for size in (sizes[n] for n in order):
        part = noise[0, done : done + size - 1]
        bound = 5.0 / math.sqrt(size * weight.shape[1])
        assert float(part.abs().max()) == pytest.approx(bound, rel=0.01)
        assert float(part.abs().max()) <= bound * (1 + 1e-5)
        assert float(part.mean()) == pytest.approx(0.0, abs=bound / 10)
        assert float(part.std()) == pytest.approx(bound / math.sqrt(3), rel=0.05)
        done += size - 1
    assert done == noise.shape[1]
    assert learner.held_out(groups, spec) == quiet


def test_no_noise_is_the_same_bits(learner: Learner) -> None:
    groups = make_examples(13)
    without, none = (packed_gradients(learner, groups, rows_spec({**SFT, **more})) for more in ({}, {"noise": 0.0}))
    assert all(torch.equal(one, none[name]) for name, one in without.items())


# ── formats of the learner ──


@pytest.mark.parametrize(
    "parts",
    [
        {"policy": {"base": "tiny", "gradient_checkpointing": True}},
        {"parallelism": {"max_tokens_per_microbatch": 160, "share_prompts": False}},
        {"parallelism": {"max_tokens_per_microbatch": 160, "batch_invariant": True}},
    ],
    ids=["checkpointing", "unshared", "invariant"],
)
def test_formats_make_the_same_update(policy_dir: Path, parts: dict[str, object]) -> None:
    results = []
    for spec in (rows_spec({**SFT, "noise": 5.0}), rows_spec({**SFT, "noise": 5.0}, **parts)):
        learner = Learner(policy_dir, spec)
        results.append((learner.update(make_examples(1), spec, 1), learner.weights()))
    (metrics, weights), (others, found) = results
    assert metrics == pytest.approx(others, rel=1e-4)
    assert max(float(np.abs(weights[name] - one).max()) for name, one in found.items()) < 1e-6


@pytest.mark.expensive(4, "loads peft, and builds a learner with an adapter", about=LEARNING)
def test_an_adapter_alone_learns(policy_dir: Path) -> None:
    spec = rows_spec(SFT, policy={"base": "tiny", "adapter": {"type": "lora", "rank": 4}})
    learner = Learner(policy_dir, spec)
    found = packed_gradients(learner, make_examples(1), spec)
    assert found and all("lora" in name for name in found)
    losses = [learner.update(make_examples(1), spec, step)["sft/loss"] for step in (1, 2, 3)]
    assert losses == sorted(losses, reverse=True)


def test_narrow_weights_learn(policy_dir: Path) -> None:
    spec = rows_spec(SFT, policy={"base": "tiny", "dtype": "bfloat16"})
    learner, wide = Learner(policy_dir, spec), Learner(policy_dir, rows_spec(SFT))
    for step in (1, 2):
        found, expected = (
            learner.update(make_examples(1), spec, step),
            wide.update(make_examples(1), rows_spec(SFT), step),
        )
        assert found["sft/loss"] == pytest.approx(expected["sft/loss"], rel=1e-2)
    assert learner.version == 2


def test_reinforcement_learning_still_learns_from_rewards(policy_dir: Path) -> None:
    metrics = Learner(policy_dir, make_spec()).update(make_groups(1), make_spec(), 1)
    assert "actor/pg_loss" in metrics and not any(name.startswith(("sft/", "examples/")) for name in metrics)
