"""Packing: no padding, shared prompts, and the same numbers as one sequence at a time."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, Qwen3Config, Qwen3ForCausalLM

from tests.trainer_core.update.making import make_groups, make_trajectory
from trainer_core.episodes import Trajectory
from trainer_core.update.model.policy import load_policy, score
from trainer_core.update.packed.packing import Packing, TokenBatch, pack
from trainer_core.update.packed.segments import Segment, build_layout
from trainer_core.update.packed.sharding import packed_tokens, whole_shards


def all_trajectories(seed: int, **sizes: int) -> list[Trajectory]:
    return [trajectory for group in make_groups(seed, **sizes) for trajectory in group.trajectories]


def one_by_one(model: torch.nn.Module, trajectory: Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """Log-probabilities and entropies in float64 from transformers' own forward pass on this sequence alone."""
    ids = torch.from_numpy(np.concatenate([trajectory.prompt_ids, trajectory.token_ids]).astype(np.int64))
    logits = model(input_ids=ids.unsqueeze(0)).logits[0, len(trajectory.prompt_ids) - 1 : -1].double()
    logprobs = torch.log_softmax(logits / trajectory.temperature, dim=-1)
    chosen = logprobs.gather(1, ids[len(trajectory.prompt_ids) :, None])[:, 0]
    return chosen.detach().numpy(), -(logprobs.exp() * logprobs).sum(-1).detach().numpy()


def unpacked(batches: list[TokenBatch], values: list[torch.Tensor], like: list[Trajectory]) -> list[np.ndarray]:
    result = [np.zeros(trajectory.length) for trajectory in like]
    for batch, value in zip(batches, values, strict=True):
        for sequence, offset, number in zip(batch.sequence, batch.offset, value.detach().numpy(), strict=True):
            result[sequence][offset] = number
    return result


@pytest.mark.parametrize("budget", [80, 300, 16_384])
def test_scores_equal_one_by_one(policy_dir: Path, budget: int) -> None:
    trajectories = all_trajectories(0, groups=5, longest=60)
    trajectories[3].temperature = 0.7
    plain = AutoModelForCausalLM.from_pretrained(policy_dir, attn_implementation="eager")
    packed = load_policy(policy_dir)
    batches = pack(trajectories, budget)
    scored = [score(packed, batch) for batch in batches]
    logprobs = unpacked(batches, [first for first, _ in scored], trajectories)
    entropies = unpacked(batches, [second for _, second in scored], trajectories)
    for index, trajectory in enumerate(trajectories):
        expected, entropy = one_by_one(plain, trajectory)
        np.testing.assert_allclose(logprobs[index], np.where(trajectory.sampled, expected, 0), atol=2e-5)
        np.testing.assert_allclose(entropies[index], np.where(trajectory.sampled, entropy, 0), atol=2e-5)


def test_gradients_equal_one_by_one(policy_dir: Path) -> None:
    trajectories = all_trajectories(1, groups=3)
    plain = AutoModelForCausalLM.from_pretrained(policy_dir, attn_implementation="eager")
    packed = load_policy(policy_dir)
    for batch in pack(trajectories, 100):
        (score(packed, batch)[0] * batch.advantages).sum().backward()
    for trajectory in trajectories:
        ids = torch.from_numpy(np.concatenate([trajectory.prompt_ids, trajectory.token_ids]).astype(np.int64))
        start = len(trajectory.prompt_ids)
        logprobs = torch.log_softmax(plain(input_ids=ids[None]).logits[0, start - 1 : -1], dim=-1)
        chosen = logprobs.gather(1, ids[start:, None])[:, 0][torch.from_numpy(trajectory.sampled)]
        (chosen.sum() * trajectory.advantage).backward()
    for (name, mine), theirs in zip(packed.named_parameters(), plain.parameters(), strict=True):
        scale = float(theirs.grad.abs().max())
        torch.testing.assert_close(mine.grad, theirs.grad, rtol=1e-4, atol=2e-5 * scale, msg=lambda m, n=name: n + m)


@pytest.mark.parametrize("plain_keys", [8, 256])
def test_sliding_windows_and_both_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plain_keys: int) -> None:
    config = Qwen3Config(
        vocab_size=64,
        hidden_size=64,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        use_sliding_window=True,
        sliding_window=8,
        max_window_layers=1,
    )
    assert set(config.layer_types) == {"full_attention", "sliding_attention"}
    Qwen3ForCausalLM(config).save_pretrained(tmp_path)
    monkeypatch.setattr("trainer_core.update.packed.attention.MAX_PLAIN_KEYS", plain_keys)
    trajectories = all_trajectories(2, groups=3)
    plain = AutoModelForCausalLM.from_pretrained(tmp_path, attn_implementation="eager")
    packed = load_policy(tmp_path)
    batches = pack(trajectories, 16_384)
    logprobs = unpacked(batches, [score(packed, batch)[0] for batch in batches], trajectories)
    for index, trajectory in enumerate(trajectories):
        expected, _ = one_by_one(plain, trajectory)
        np.testing.assert_allclose(logprobs[index], np.where(trajectory.sampled, expected, 0), atol=2e-5)


def test_a_sequence_is_blind_to_its_neighbours(policy_dir: Path) -> None:
    trajectories = all_trajectories(3, groups=2)
    packed = load_policy(policy_dir)
    (before,) = [unpacked([b], [score(packed, b)[0]], trajectories) for b in pack(trajectories, 16_384)]
    for trajectory in trajectories[1:]:
        trajectory.token_ids[:] = 7
    (after,) = [unpacked([b], [score(packed, b)[0]], trajectories) for b in pack(trajectories, 16_384)]
    np.testing.assert_allclose(after[0], before[0], atol=1e-6)
    assert np.abs(after[1] - before[1]).max() > 1e-2


def test_prompts_are_shared_and_last_tokens_left_out() -> None:
    rng = np.random.default_rng(4)
    prompt = rng.integers(0, 64, 5).astype(np.int32)
    trajectories = [make_trajectory(rng, prompt, length) for length in (4, 1, 6)]
    (batch,) = pack(trajectories, 100)
    assert batch.num_tokens == 5 + 3 + 0 + 5
    assert len(batch.targets) == 4 + 1 + 6
    for sequence, trajectory in enumerate(trajectories):
        own = batch.sequence == sequence
        assert batch.targets[own].tolist() == trajectory.token_ids.tolist()
        assert batch.offset[own].tolist() == list(range(trajectory.length))
        rows = batch.rows[own]
        assert rows[0] == 4
        assert batch.position_ids[rows].tolist() == list(range(4, 4 + trajectory.length))


def test_prompts_stand_before_every_sample_where_they_are_not_shared() -> None:
    rng = np.random.default_rng(4)
    prompt = rng.integers(0, 64, 5).astype(np.int32)
    trajectories = [make_trajectory(rng, prompt, length) for length in (4, 1, 6)]
    (batch,) = pack(trajectories, Packing(100, share_prompts=False))
    assert batch.num_tokens == 3 * 5 + 3 + 0 + 5
    alone = pack(trajectories, Packing(100, alone=True))
    assert [one.num_tokens for one in alone] == [10, 8, 5]
    with pytest.raises(ValueError, match="more than the 9 of a micro-batch"):
        pack(trajectories, Packing(9, alone=True))


def test_micro_batches_respect_the_budget_and_lose_nothing() -> None:
    trajectories = all_trajectories(5, groups=10)
    trajectories[0].excluded = "zero_advantage"
    trajectories[1].sampled[:] = False
    batches = pack(trajectories, 120)
    assert len(batches) > 3
    assert max(batch.num_tokens for batch in batches) <= 120
    predicted = sorted((int(s), int(o)) for batch in batches for s, o in zip(batch.sequence, batch.offset, strict=True))
    expected = [(i, int(o)) for i, t in enumerate(trajectories[2:], 2) for o in np.flatnonzero(t.sampled)]
    assert predicted == expected
    assert not any(
        {int(s) for s in a.sequence} & {int(s) for s in b.sequence} for a in batches for b in batches if a is not b
    )


def test_refusals() -> None:
    rng = np.random.default_rng(6)
    prompt = rng.integers(0, 64, 5).astype(np.int32)
    with pytest.raises(ValueError, match="has 104 tokens, more than the 64 of a micro-batch"):
        pack([make_trajectory(rng, prompt, 100)], 64)
    with pytest.raises(ValueError, match="has no prompt"):
        pack([make_trajectory(rng, prompt[:0], 10)], 64)
    with pytest.raises(ValueError, match="exactly once"):
        build_layout([Segment(0, 3), Segment(2, 4)])
    assert pack([], 64) == []


@pytest.mark.parametrize("how", [{}, {"share_prompts": False}, {"alone": True}, {"exact": True}])
def test_sets_that_must_not_be_split_are_each_in_one_micro_batch(how: dict[str, Any]) -> None:
    trajectories = all_trajectories(3, groups=6, samples=2)
    together = [range(first, first + 2) for first in range(0, 12, 2)]
    batches = pack(trajectories, Packing(120, **how), together)
    assert len(batches) == 6 if "alone" in how else 1 < len(batches) < 6
    homes = [set(batch.sequence.tolist()) for batch in batches]
    assert sorted(index for home in homes for index in home) == list(range(12)), "each is packed once"
    assert all(sum(index in home for index in pair) in (0, 2) for home in homes for pair in together)
    assert all(batch.num_tokens <= 120 for batch in batches)
    shared = sum(len(one.prompt_ids) for one in trajectories[::2])
    whole = sum(len(one.prompt_ids) + one.length - 1 for one in trajectories)
    assert whole - sum(batch.num_tokens for batch in batches) == (
        0 if how.keys() & {"share_prompts", "alone"} else shared
    )


def test_a_set_shares_a_prompt_with_no_other_and_only_an_equal_one() -> None:
    one, other, third = all_trajectories(3, groups=3, samples=1)
    twin = replace(third, prompt_ids=one.prompt_ids)
    apart = pack([one, twin], 1000, [[0], [1]])[0]
    assert apart.num_tokens == sum(len(t.prompt_ids) + t.length - 1 for t in (one, twin))
    mixed = pack([one, other], 1000, [[0, 1]])[0]
    assert mixed.num_tokens == sum(len(t.prompt_ids) + t.length - 1 for t in (one, other))
    with pytest.raises(ValueError, match=f"trajectories {one.trajectory_id}, {twin.trajectory_id} have"):
        pack([one, twin], max(one.length, twin.length) + len(one.prompt_ids), [[0, 1]])


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_whole_groups_are_distributed_evenly(ranks: int) -> None:
    groups = make_groups(4, groups=9, samples=2)
    found = whole_shards(groups, ranks)
    assert sorted(group.group_id for part in found for group in part) == sorted(group.group_id for group in groups)
    loads = [packed_tokens([one for group in part for one in group.trajectories]) for part in found]
    assert max(loads) - min(loads) <= max(packed_tokens(group.trajectories) for group in groups)
