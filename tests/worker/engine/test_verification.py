"""Tokens that are sampled at several positions at once follow the policy's law, and cost a seed no draw too many."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from tests.worker.engine.drafts import chi_squared
from worker.engine import InferenceEngine
from worker.engine.speculation.verification import NOTHING, DraftVerifier, verify
from worker.engine.types import EngineError

VOCAB, ROWS, ROUNDS = 6, 400, 60
LEAST_P = 0.01


def metadata(engine: InferenceEngine, temperature: float, top_p: float | None, top_k: int | None) -> Any:
    """Sampling of ``ROWS`` requests that are alike."""
    plain = engine._core.model_executor.driver_worker.worker.model_runner.input_batch.sampling_metadata

    def column(value: float | None, dtype: torch.dtype) -> torch.Tensor | None:
        return None if value is None else torch.full((ROWS,), value, dtype=dtype)

    return replace(
        plain,
        temperature=column(temperature, torch.float32),
        all_greedy=False,
        all_random=True,
        top_p=column(top_p, torch.float32),
        top_k=column(top_k, torch.int32),
        generators={},
        max_num_logprobs=0,
    )


def law(logits: np.ndarray, temperature: float, top_p: float | None, top_k: int | None) -> np.ndarray:
    """Probabilities that tokens are to be sampled with."""
    p = np.exp(logits / temperature)
    p /= p.sum()
    order = np.argsort(-p)
    kept = np.ones(len(p), bool)
    if top_k is not None:
        kept[order[top_k:]] = False
    if top_p is not None:
        q = np.where(kept, p, 0.0)
        q /= q.sum()
        before = np.cumsum(q[order]) - q[order]
        kept[order[before >= top_p]] = False
    p = np.where(kept, p, 0.0)
    return p / p.sum()


@pytest.mark.parametrize(
    ("temperature", "top_p", "top_k"),
    [(1.0, None, None), (0.7, None, None), (1.0, 0.8, None), (0.7, None, 3), (1.0, 0.9, 4)],
)
def test_each_token_follows_the_policy_given_those_before(
    shared_engine: InferenceEngine, temperature: float, top_p: float | None, top_k: int | None
) -> None:
    """Two drafted tokens and the one behind them: 24,000 draws of each law, which differ by position."""
    torch.manual_seed(5)
    sampler = shared_engine._core.model_executor.driver_worker.worker.model_runner.sampler
    positions = np.random.default_rng(3).normal(size=(3, VOCAB)) * 1.2
    laws = [law(row, temperature, top_p, top_k) for row in positions]
    draft = [int(laws[0].argmax()), int((laws[1] > 0).nonzero()[0][-1])]
    asked = metadata(shared_engine, temperature, top_p, top_k)
    seen = np.zeros((3, VOCAB), int)
    for _ in range(ROUNDS):
        logits = torch.tensor(positions, dtype=torch.float32).repeat(ROWS, 1)
        output = verify(sampler, logits, asked, torch.tensor(draft * ROWS), [2] * ROWS)
        tokens = output.sampled_token_ids.numpy()
        told = output.logprobs_tensors.logprobs[:, 0].numpy().reshape(ROWS, 3)
        for position in range(3):
            here = tokens[:, position]
            reached = here != NOTHING
            assert (reached == (tokens[:, :position] == draft[:position]).all(1)).all()
            np.testing.assert_allclose(told[reached, position], np.log(laws[position][here[reached]]), atol=1e-5)
            seen[position] += np.bincount(here[reached], minlength=VOCAB)
    assert seen[0].sum() == ROWS * ROUNDS
    for position, counts in enumerate(seen):
        assert chi_squared(counts, laws[position]) > LEAST_P


def test_a_seed_draws_only_for_tokens_that_are_kept(shared_engine: InferenceEngine) -> None:
    sampler = shared_engine._core.model_executor.driver_worker.worker.model_runner.sampler
    logits = torch.randn(4, VOCAB, generator=torch.Generator().manual_seed(1)) * 0.5

    def sample(generator: torch.Generator, rows: torch.Tensor, draft: list[int]) -> list[int]:
        asked = replace(metadata(shared_engine, 1.0, None, None), generators={0: generator})
        asked = replace(asked, temperature=asked.temperature[:1])
        output = verify(sampler, rows.clone(), asked, torch.tensor(draft), [len(draft)])
        return [token for token in output.sampled_token_ids[0].tolist() if token != NOTHING]

    one_by_one = torch.Generator().manual_seed(9)
    expected = [sample(one_by_one, logits[at : at + 1], [])[0] for at in range(4)]
    for wrong in range(4):
        draft = [token if at < wrong else (token + 1) % VOCAB for at, token in enumerate(expected[:3])]
        generator = torch.Generator().manual_seed(9)
        assert sample(generator, logits, draft) == expected[: wrong + 1]
        rest = [sample(generator, logits[at : at + 1], [])[0] for at in range(wrong + 1, 4)]
        assert rest == expected[wrong + 1 :]


def test_what_depends_on_the_tokens_before_is_refused(shared_engine: InferenceEngine) -> None:
    runner = shared_engine._core.model_executor.driver_worker.worker.model_runner
    asked = replace(metadata(shared_engine, 1.0, None, None), no_penalties=False)
    with pytest.raises(EngineError, match="penalties"):
        verify(runner.sampler, torch.zeros(3, VOCAB), asked, torch.tensor([1, 2]), [2])


def test_processors_of_logits_and_another_speculation_are_refused(
    shared_engine: InferenceEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = shared_engine._core.model_executor.driver_worker.worker.model_runner
    before = runner._sample
    with monkeypatch.context() as patch:
        patch.setattr(runner.vllm_config.model_config, "logits_processors", ["some.Processor"])
        with pytest.raises(EngineError, match="logits processors"):
            DraftVerifier(runner)
    with monkeypatch.context() as patch:
        patch.setattr(runner, "speculative_config", object())
        with pytest.raises(EngineError, match="the engine uses vLLM's own speculation"):
            DraftVerifier(runner)
    assert runner._sample == before
