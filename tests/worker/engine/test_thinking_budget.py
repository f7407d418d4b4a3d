"""The thinking budget end to end: exact per request, invisible to requests that do not think."""

from __future__ import annotations

from pathlib import Path

import pytest
from transformers import Qwen3ForCausalLM

from tests.worker.engine.conftest import Collect
from tests.worker.engine.policies import THINK, reference_logprobs
from worker.engine import Completion, InferenceEngine, Request, Sampling
from worker.engine.request.thinking import ThinkingTracker

OPEN = (3, 4, *THINK.start_ids)
FORCED = list(THINK.forced_end_ids)


def spent_by_definition(completion: Completion) -> int:
    tracker = ThinkingTracker(THINK, completion.prompt_ids, None)
    for count in range(len(completion.token_ids)):
        tracker.feed(completion.token_ids[: count + 1])
    return tracker.spent


def test_budgets_are_exact_and_per_request(engine: InferenceEngine, collect: Collect) -> None:
    for budget in range(12):
        sampling = Sampling(1.0, max_tokens=40, thinking_budget=budget)
        engine.submit(Request(f"b{budget}", (*OPEN, 5 + budget), sampling))
    done = collect()
    assert any(completion.budget_hit for completion in done.values())
    for budget in range(12):
        completion = done[f"b{budget}"]
        assert len(completion.token_ids) <= 40
        if not completion.budget_hit:
            assert completion.thinking_tokens <= budget
            assert all(completion.sampled)
            continue
        assert completion.thinking_tokens == budget
        assert completion.token_ids[budget : budget + 3] == FORCED
        assert completion.sampled == [True] * budget + [False] * 3 + [True] * (len(completion.token_ids) - budget - 3)
        assert completion.logprobs[budget : budget + 3] == [0.0] * 3


def test_answer_after_a_forced_end_is_the_policys_own(
    engine: InferenceEngine, collect: Collect, tied_policy: tuple[Path, Qwen3ForCausalLM]
) -> None:
    engine.submit(Request("r", OPEN, Sampling(1.0, max_tokens=30, thinking_budget=5)))
    completion = collect()["r"]
    assert completion.budget_hit
    sequence = [*completion.prompt_ids, *completion.token_ids]
    expected = reference_logprobs(tied_policy[1], sequence)[len(completion.prompt_ids) - 1 :]
    kept = [index for index, sampled in enumerate(completion.sampled) if sampled]
    assert [completion.logprobs[i] for i in kept] == pytest.approx([expected[i] for i in kept], abs=1e-4)


def test_budget_of_zero_closes_thinking_before_the_first_token(engine: InferenceEngine, collect: Collect) -> None:
    engine.submit(Request("r", OPEN, Sampling(1.0, max_tokens=10, thinking_budget=0)))
    completion = collect()["r"]
    assert (completion.token_ids[:3], completion.sampled[:3]) == (FORCED, [False] * 3)
    assert (completion.thinking_tokens, completion.budget_hit) == (0, True)
    assert len(completion.token_ids) > 3


@pytest.mark.parametrize(("max_tokens", "budget", "tokens"), [(2, 0, 2), (6, 4, 6), (4, 4, 4)])
def test_max_tokens_bounds_sampled_and_forced_tokens(
    engine: InferenceEngine, collect: Collect, max_tokens: int, budget: int, tokens: int
) -> None:
    engine.submit(Request("r", OPEN, Sampling(0.0, max_tokens=max_tokens, thinking_budget=budget)))
    completion = collect()["r"]
    assert (len(completion.token_ids), completion.finish_reason) == (tokens, "length")
    assert completion.sampled == [True] * budget + [False] * (tokens - budget)


def test_budget_does_not_apply_where_nobody_thinks(engine: InferenceEngine, collect: Collect) -> None:
    for index in range(8):
        engine.submit(Request(f"r{index}", (3, 5 + index), Sampling(1.0, max_tokens=20, thinking_budget=2)))
    for completion in collect().values():
        assert completion.thinking_tokens == spent_by_definition(completion)
        if THINK.start_ids[1] not in completion.token_ids:
            assert (completion.thinking_tokens, completion.budget_hit) == (0, False)


def test_unlimited_thinking_is_counted(engine: InferenceEngine, collect: Collect) -> None:
    engine.submit(Request("r", OPEN, Sampling(1.0, max_tokens=20)))
    completion = collect()["r"]
    assert completion.thinking_tokens == spent_by_definition(completion)
    assert not completion.budget_hit


def test_parking_in_the_answer_keeps_the_thinking(engine: InferenceEngine) -> None:
    engine.submit(Request("r", OPEN, Sampling(0.0, max_tokens=30, thinking_budget=4)))
    for _ in range(6):
        engine.step()
    (partial,) = engine.park()
    assert partial.token_ids[4:7] == FORCED
    assert len(partial.token_ids) == 9
    assert not engine.has_unfinished


def test_forced_tokens_do_not_count_as_generated(engine: InferenceEngine, collect: Collect) -> None:
    before = engine.stats().generated_tokens
    engine.submit(Request("r", OPEN, Sampling(0.0, max_tokens=16, thinking_budget=4)))
    completion = collect()["r"]
    assert engine.stats().generated_tokens - before == sum(completion.sampled)


def test_budget_without_markers_is_refused(engine: InferenceEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    monkeypatch.setattr(engine, "_config", replace(engine._config, think=None))
    with pytest.raises(ValueError, match=r"EngineConfig\.think"):
        engine.submit(Request("r", OPEN, Sampling(1.0, thinking_budget=4)))
