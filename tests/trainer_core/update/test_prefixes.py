"""Prefix trees of packed sequences: what is shared, in what order, and that nothing else changes."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoModelForCausalLM

from tests.trainer_core.update.making import make_trajectory
from tests.trainer_core.update.test_packing import one_by_one, unpacked
from trainer_core.episodes import Trajectory
from trainer_core.update.model.policy import load_policy, score
from trainer_core.update.packed import prefixes
from trainer_core.update.packed.packing import Packing, pack

PROMPT = np.arange(5, dtype=np.int32)


def sequence(tokens: Sequence[int], prompt: np.ndarray = PROMPT, seed: int = 0) -> Trajectory:
    made = make_trajectory(np.random.default_rng([seed, *tokens]), prompt, len(tokens))
    made.token_ids = np.array(tokens, np.int32)
    return made


def branched(seed: int = 0) -> list[Trajectory]:
    """Seven sequences of two prompts: two trees of three branches with forced tokens, and one sequence alone."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(2):
        prompt = rng.integers(0, 64, 6).astype(np.int32)
        root = make_trajectory(rng, prompt, 40, forced=6)
        for parts_at, length in ((40, 40), (25, 60), (34, 37)):
            branch = make_trajectory(rng, prompt, length, forced=length // 4)
            kept = min(parts_at, length)
            branch.token_ids[:kept] = root.token_ids[:kept]
            found.append(branch)
    return [*found, make_trajectory(rng, prompt, 30)]


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prefixes of four tokens are shared."""
    monkeypatch.setattr(prefixes, "LEAST_SHARED", 4)


@pytest.mark.usefixtures("short")
def test_a_shared_prefix_is_packed_once() -> None:
    first = [*range(10, 22)]
    second = [*first[:8], *range(30, 36)]
    third = [*second[:12], 40, 41, 42]
    (batch,) = pack([sequence(tokens) for tokens in (first, second, third)], 100)
    # The prompt, the eight tokens of all, what is left of the first, the next four of two, and the rest of each.
    assert batch.num_tokens == 5 + 8 + 3 + 4 + 1 + 2
    for index, tokens in enumerate((first, second, third)):
        own = batch.sequence == index
        assert batch.targets[own].tolist() == tokens
        assert batch.offset[own].tolist() == list(range(len(tokens)))
        rows = batch.rows[own]
        assert batch.input_ids[rows].tolist() == [4, *tokens[:-1]]
        assert batch.position_ids[rows].tolist() == list(range(4, 4 + len(tokens)))


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("tokens", [[10, 11, 12], [10, 11, 12, 13], [10, 11, 12, 20, 21, 22, 23]])
def test_short_prefixes_are_not_shared(tokens: list[int]) -> None:
    (batch,) = pack([sequence([*range(10, 22)]), sequence(tokens)], 100)
    assert batch.num_tokens == 5 + 11 + len(tokens) - 1


@pytest.mark.usefixtures("short")
def test_exact_batches_share_prompts_alone() -> None:
    pair = [sequence([*range(10, 22)]), sequence([*range(10, 18), *range(30, 34)])]
    (batch,) = pack(pair, Packing(100, exact=True))
    assert batch.num_tokens == 5 + 11 + 11


@pytest.mark.usefixtures("short")
def test_equal_sequences_are_one_with_two_losses() -> None:
    one, other = sequence([*range(10, 22)]), sequence([*range(10, 22)])
    other.sampled[3:] = False
    (batch,) = pack([one, other], 100)
    assert (batch.num_tokens, len(batch.targets)) == (5 + 11, 12 + 3)


@pytest.mark.usefixtures("short")
def test_tokens_that_other_experts_read_have_another_state() -> None:
    pair = [sequence([*range(10, 22)]), sequence([*range(10, 18), *range(30, 34)])]
    for one in pair:
        one.routes = np.zeros((16, 2, 1), np.uint8)
    (batch,) = pack(pair, 100)
    assert batch.num_tokens == 5 + 8 + 3 + 3
    assert pair[1].routes is not None
    pair[1].routes[5 + 6] = 1
    (batch,) = pack(pair, 100)
    assert batch.num_tokens == 5 + 6 + 5 + 5
    assert batch.routes is not None and batch.routes.sum() == 2
    pair[1].routes[5 + 2] = 1
    (batch,) = pack(pair, 100)
    assert batch.num_tokens == 5 + 11 + 11


@given(st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=9), min_size=1, max_size=9), st.integers(13, 60))
def test_as_many_tokens_as_there_are_prefixes(completions: list[list[int]], budget: int) -> None:
    """With every prefix shared, a micro-batch has one token for each distinct beginning of its sequences."""
    trajectories = [sequence(tokens) for tokens in completions]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prefixes, "LEAST_SHARED", 1)
        batches = pack(trajectories, budget)
    seen: list[int] = []
    for batch in batches:
        members = batch.sequence.unique().tolist()
        read = [completions[index][:-1] for index in members]
        beginnings = {tuple(tokens[:length]) for tokens in read for length in range(1, len(tokens) + 1)}
        assert batch.num_tokens == len(PROMPT) + len(beginnings) <= budget
        seen += members
    assert sorted(seen) == list(range(len(completions)))


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("budget", [70, 110, 16_384])
def test_scores_and_gradients_are_those_of_single_sequences(policy_dir: Path, budget: int) -> None:
    trajectories = branched()
    plain = AutoModelForCausalLM.from_pretrained(policy_dir, attn_implementation="eager")
    packed = load_policy(policy_dir)
    batches = pack(trajectories, budget)
    scored = [score(packed, batch)[0] for batch in batches]
    logprobs = unpacked(batches, scored, trajectories)
    for index, trajectory in enumerate(trajectories):
        expected, _ = one_by_one(plain, trajectory)
        np.testing.assert_allclose(logprobs[index], np.where(trajectory.sampled, expected, 0), atol=2e-5)
    torch.stack([(one * batch.advantages).sum() for one, batch in zip(scored, batches, strict=True)]).sum().backward()
    separate = load_policy(policy_dir)
    for batch in pack(trajectories, Packing(16_384, alone=True)):
        (score(separate, batch)[0] * batch.advantages).sum().backward()
    for mine, theirs in zip(packed.parameters(), separate.parameters(), strict=True):
        scale = float(theirs.grad.abs().max())
        torch.testing.assert_close(mine.grad, theirs.grad, rtol=1e-4, atol=2e-5 * scale)
    assert sum(batch.num_tokens for batch in batches) < sum(
        batch.num_tokens for batch in pack(trajectories, Packing(budget, share_prompts=False))
    )
