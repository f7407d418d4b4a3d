"""Requests that are parked and go on later: the same tokens as without the interruption, none dropped or doubled."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from transformers import Qwen3ForCausalLM

from tests.worker.engine.conftest import Collect
from tests.worker.engine.policies import THINK, perturbed, reference_logprobs, state
from worker.engine import Completion, InferenceEngine, PartialCompletion, Request, Sampling

OPEN = (3, 4, *THINK.start_ids)
FORCED = list(THINK.forced_end_ids)
Policy = tuple[Path, Qwen3ForCausalLM]


def outcome(completion: Completion) -> tuple[object, ...]:
    c = completion
    return (c.prompt_ids, c.token_ids, c.sampled, c.versions, c.finish_reason, c.thinking_tokens, c.budget_hit)


def with_cuts(engine: InferenceEngine, collect: Collect, request: Request, cuts: list[int]) -> Completion:
    """Run `request`, parked after every step count in `cuts` and carried on from what the engine handed back."""
    engine.submit(request)
    for steps in cuts:
        for _ in range(steps):
            assert engine.step() == []
        (partial,) = engine.park()
        assert not engine.has_unfinished
        engine.submit(replace(request, prefix=pickle.loads(pickle.dumps(partial))))
    return collect()[request.request_id]


@pytest.mark.parametrize("cuts", [[0], [1], [7], [3, 0, 9], [1, 1, 1, 1]])
@pytest.mark.parametrize(
    ("prompt", "budget"),
    [((3, 4, 5), None), (OPEN, None), (OPEN, 5), (OPEN, 8), (OPEN, 0)],
    ids=["plain", "thinking", "forced after 5", "forced after 8", "forced at once"],
)
def test_parked_and_continued_equals_uninterrupted(
    engine: InferenceEngine, collect: Collect, prompt: tuple[int, ...], budget: int | None, cuts: list[int]
) -> None:
    request = Request("r", prompt, Sampling(0.0, max_tokens=40, thinking_budget=budget))
    engine.submit(request)
    whole = collect()["r"]
    assert whole.budget_hit is (budget is not None)
    continued = with_cuts(engine, collect, request, cuts)
    assert outcome(continued) == outcome(whole)
    assert continued.logprobs == pytest.approx(whole.logprobs, abs=1e-4)
    assert engine.stats().budget_violations == 0


def test_forced_end_crosses_the_cut(engine: InferenceEngine, collect: Collect) -> None:
    """One half of the thinking before the cut, the other half and the forced end after it."""
    request = Request("r", OPEN, Sampling(0.0, max_tokens=20, thinking_budget=6))
    engine.submit(request)
    for _ in range(3):
        engine.step()
    (partial,) = engine.park(["r"])
    assert (len(partial.token_ids), partial.sampled) == (3, [True] * 3)
    assert partial.thinking is not None
    assert (partial.thinking.open, partial.thinking.spent, partial.thinking.budget_hit) == (True, 3, False)
    engine.submit(replace(request, prefix=partial))
    completion = collect()["r"]
    assert completion.token_ids[6:9] == FORCED
    assert completion.sampled == [True] * 6 + [False] * 3 + [True] * (len(completion.token_ids) - 9)
    assert (completion.thinking_tokens, completion.budget_hit) == (6, True)


def test_parked_in_the_answer_after_a_forced_end(engine: InferenceEngine, collect: Collect) -> None:
    request = Request("r", OPEN, Sampling(0.0, max_tokens=20, thinking_budget=4))
    engine.submit(request)
    for _ in range(6):
        engine.step()
    (partial,) = engine.park()
    assert partial.token_ids[4:7] == FORCED
    assert partial.sampled == [True] * 4 + [False] * 3 + [True] * 2
    engine.submit(replace(request, prefix=partial))
    completion = collect()["r"]
    assert completion.token_ids[:9] == partial.token_ids
    assert completion.sampled.count(False) == 3


def test_park_takes_the_named_ones_and_waiting_ones_with_an_empty_prefix(
    engine: InferenceEngine, collect: Collect
) -> None:
    sampling = Sampling(0.0, max_tokens=12)
    requests = [Request(f"r{index}", (3, 4 + index), sampling) for index in range(36)]
    for request in requests:
        engine.submit(request)
    expected = {name: c.token_ids for name, c in collect().items()}
    engine.drop_kv()
    for request in requests:
        engine.submit(request)
    finished = {c.request_id: c.token_ids for _ in range(2) for c in engine.step()}  # 32 slots: the last ones wait
    parked = engine.park(["r1", "r35"])
    assert [(p.request_id, p.token_ids) for p in parked] == [("r1", expected["r1"][:2]), ("r35", [])]
    rest = engine.park()
    assert [p.request_id for p in rest] == [
        r.request_id for r in requests if r.request_id not in {"r1", "r35", *finished}
    ]
    assert (engine.stats().running, engine.stats().waiting, engine.has_unfinished) == (0, 0, False)
    for partial in (*rest, *parked):
        engine.submit(Request(partial.request_id, partial.prompt_ids, sampling, prefix=partial))
    assert finished | {name: c.token_ids for name, c in collect().items()} == expected


def test_unknown_ids_park_nothing(engine: InferenceEngine) -> None:
    engine.submit(Request("r", (3, 4), Sampling(0.0)))
    with pytest.raises(KeyError):
        engine.park(["r", "other"])
    assert [p.request_id for p in engine.park(["r", "r"])] == ["r"]


def test_continued_under_new_weights_carries_both_versions(
    engine: InferenceEngine, collect: Collect, tied_policy: Policy
) -> None:
    """Each token's log-probability is that of the weights whose version it carries."""
    other = perturbed(tied_policy[1])
    request = Request("r", (3, 4, 5), Sampling(1.0, max_tokens=24, stop_token_ids=()))
    engine.submit(request)
    for _ in range(6):
        assert engine.step() == []
    (partial,) = engine.park()
    engine.load_weights(4, state(other))
    engine.submit(replace(request, prefix=partial))
    completion = collect()["r"]
    assert completion.token_ids[:6] == partial.token_ids
    assert completion.versions == [0] * 6 + [4] * (len(completion.token_ids) - 6)
    sequence = [*completion.prompt_ids, *completion.token_ids]
    old, new = (reference_logprobs(model, sequence)[2:] for model in (tied_policy[1], other))
    assert completion.logprobs == pytest.approx(old[:6] + new[6:], abs=1e-4)


def test_seeded_request_does_not_repeat_its_first_draws(engine: InferenceEngine, collect: Collect) -> None:
    sampling = Sampling(2.0, max_tokens=16, seed=3)
    engine.submit(Request("whole", (3, 4), sampling))
    first = collect()["whole"].token_ids
    engine.submit(Request("r", (3, 4), sampling))
    for _ in range(4):
        engine.step()
    (partial,) = engine.park()
    assert partial.token_ids == first[:4]
    engine.submit(Request("r", (3, 4), sampling, prefix=partial))
    continued = collect()["r"].token_ids
    assert continued[:4] == first[:4]
    assert continued[4:8] != first[:4]


@pytest.mark.parametrize(("max_tokens", "budget", "forced"), [(5, None, 0), (4, None, 0), (5, 3, 0)])
def test_prefix_without_room_completes_as_it_is(
    engine: InferenceEngine, collect: Collect, max_tokens: int, budget: int | None, forced: int
) -> None:
    """A limit that was steered below what has been generated drops nothing."""
    engine.submit(Request("r", OPEN, Sampling(0.0, max_tokens=20)))
    for _ in range(5):
        engine.step()
    (partial,) = engine.park()
    engine.submit(Request("r", OPEN, Sampling(0.0, max_tokens=max_tokens, thinking_budget=budget), prefix=partial))
    completion = collect()["r"]
    assert (completion.token_ids, completion.finish_reason) == (partial.token_ids, "length")


def test_thinking_beyond_a_lowered_budget_ends_at_once_and_is_counted(
    engine: InferenceEngine, collect: Collect
) -> None:
    engine.submit(Request("r", OPEN, Sampling(0.0, max_tokens=30)))
    for _ in range(9):
        engine.step()
    (partial,) = engine.park()
    before = engine.stats().budget_violations
    engine.submit(Request("r", OPEN, Sampling(0.0, max_tokens=30, thinking_budget=4), prefix=partial))
    completion = collect()["r"]
    assert completion.token_ids[9:12] == FORCED
    assert (completion.thinking_tokens, completion.budget_hit) == (9, True)
    assert engine.stats().budget_violations - before == 1


def broken(**change: object) -> PartialCompletion:
    whole = PartialCompletion("r", (3, 4), [5, 6], [-1.0, -1.0], [0, 0], [True, True], None, 1, 0.0, 0.0)
    return replace(whole, **change)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("prefix", "sentence"),
    [
        (broken(prompt_ids=(3, 5)), "continues another prompt"),
        (broken(versions=[0]), "columns of different lengths"),
        (broken(token_ids=[5, 60]), "outside the vocabulary of 60"),
    ],
)
def test_prefix_of_something_else_is_refused(engine: InferenceEngine, prefix: PartialCompletion, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        engine.submit(Request("r", (3, 4), Sampling(0.0), prefix=prefix))
    assert not engine.has_unfinished
