"""Sampling, log-probabilities, stopping and refusing requests, on a real vLLM engine."""

from __future__ import annotations

from pathlib import Path

import pytest
from transformers import Qwen3ForCausalLM

from tests.support.about import TRAINING
from tests.worker.engine.conftest import Collect
from tests.worker.engine.policies import EOS, reference_logprobs
from worker.engine import InferenceEngine, Request, Sampling

PROMPT = (3, 4, 5, 6)


def requests(count: int, sampling: Sampling) -> list[Request]:
    return [Request(f"r{index}", (*PROMPT, 7 + index), sampling) for index in range(count)]


@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_logprobs_are_those_of_the_sampling_distribution(
    engine: InferenceEngine, collect: Collect, tied_policy: tuple[Path, Qwen3ForCausalLM], temperature: float
) -> None:
    for request in requests(6, Sampling(temperature, max_tokens=24)):
        engine.submit(request)
    for completion in collect().values():
        sequence = [*completion.prompt_ids, *completion.token_ids]
        expected = reference_logprobs(tied_policy[1], sequence, temperature)[len(completion.prompt_ids) - 1 :]
        assert completion.logprobs == pytest.approx(expected, abs=1e-4)
        assert completion.sampled == [True] * len(completion.token_ids)
        assert completion.versions == [0] * len(completion.token_ids)
        assert completion.finished_at >= completion.started_at


def test_truncated_distribution_is_renormalised(engine: InferenceEngine, collect: Collect) -> None:
    engine.submit(Request("only", PROMPT, Sampling(1.0, top_k=1, max_tokens=8)))
    assert collect()["only"].logprobs == pytest.approx([0.0] * 8, abs=1e-6)


@pytest.mark.expensive(2, "builds an engine", about=TRAINING)
def test_short_path_and_general_path_agree(engine: InferenceEngine, collect: Collect) -> None:
    outcomes = []
    for short_path in (True, False):
        scheduler = engine._core.scheduler
        scheduler._short_path = short_path
        for request in requests(8, Sampling(0.0, max_tokens=140)):  # crosses a KV block of 128 tokens
            engine.submit(request)
        outcomes.append({key: (c.token_ids, c.finish_reason) for key, c in collect().items()})
        scheduler._short_path = True
        engine.drop_kv()
    assert outcomes[0] == outcomes[1]


def test_same_seed_repeats_and_another_differs(engine: InferenceEngine, collect: Collect) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        engine.submit(Request(name, PROMPT, Sampling(1.0, max_tokens=32, seed=seed)))
    done = collect()
    assert done["a"].token_ids == done["b"].token_ids != done["c"].token_ids


def test_stops_at_the_given_token_and_at_the_models_own(engine: InferenceEngine, collect: Collect) -> None:
    engine.submit(Request("free", PROMPT, Sampling(0.0, max_tokens=12)))
    free = collect()["free"]
    stop = free.token_ids[5]
    engine.submit(Request("stopped", PROMPT, Sampling(0.0, max_tokens=12, stop_token_ids=(stop,))))
    stopped = collect()["stopped"]
    assert (free.finish_reason, stopped.finish_reason) == ("length", "stop")
    assert stopped.token_ids == free.token_ids[: free.token_ids.index(stop) + 1]

    for request in requests(16, Sampling(2.0, max_tokens=120)):
        engine.submit(request)
    for completion in collect().values():
        ended = completion.finish_reason == "stop"
        assert (completion.token_ids[-1] == EOS) is ended
        assert EOS not in completion.token_ids[:-1]


def test_length_is_bounded_by_the_model_too(engine: InferenceEngine, collect: Collect) -> None:
    engine.submit(Request("long", tuple([3] * 250), Sampling(0.0, max_tokens=100)))
    completion = collect()["long"]
    assert (len(completion.token_ids), completion.finish_reason) == (6, "length")


def test_dropping_the_kv_cache_mid_flight_loses_nothing(engine: InferenceEngine, collect: Collect) -> None:
    for request in requests(4, Sampling(0.0, max_tokens=30)):
        engine.submit(request)
    expected = collect()
    for request in requests(4, Sampling(0.0, max_tokens=30)):
        engine.submit(request)
    done = {c.request_id: c for _ in range(10) for c in engine.step()}
    before = engine.stats()
    assert before.running > 0
    engine.drop_kv()
    done |= collect()
    assert {key: c.token_ids for key, c in done.items()} == {key: c.token_ids for key, c in expected.items()}
    assert engine.stats().preemptions == before.preemptions + before.running


def test_more_requests_than_slots_all_finish(engine: InferenceEngine, collect: Collect) -> None:
    before = engine.stats()
    for request in [Request(f"r{index}", (3, 4 + index % 40), Sampling(1.0, max_tokens=9)) for index in range(80)]:
        engine.submit(request)
    assert engine.stats().waiting == 80
    done = collect()
    after = engine.stats()
    assert len(done) == 80
    assert after.generated_tokens - before.generated_tokens == sum(len(c.token_ids) for c in done.values())
    assert after.prompt_tokens - before.prompt_tokens == 160
    assert (after.running, after.waiting, after.kv_usage) == (0, 0, 0.0)
    assert after.busy_s > before.busy_s


@pytest.mark.parametrize(("apart", "by_places"), [(2, True), (10, False)])
def test_waiting_requests_enter_together_and_soon(engine: InferenceEngine, apart: int, by_places: bool) -> None:
    """Answers end so many steps apart: an eighth of the places becomes free in 16 steps, or does not."""
    from worker.engine.scheduler import ADMITTED_EVERY

    places = engine.stats().running_limit
    for index in range(places + 12):
        ends = 3 + apart * index if index < places else 250
        engine.submit(Request(f"r{index}", (3, 4), Sampling(0.0, max_tokens=min(ends, 250))))
    engine.step()
    before, entered, since = engine.stats(), [], 0
    while before.waiting:
        engine.step()
        now, since = engine.stats(), since + 1
        if now.waiting < before.waiting:
            free = places - before.running
            assert before.waiting - now.waiting == min(free, before.waiting)
            entered.append((free, since))
            since = 0
        before = now
    assert all(free >= places // 8 or since == ADMITTED_EVERY + 1 for free, since in entered)
    assert all(free >= places // 8 for free, _ in entered) == by_places
    assert max(since for _, since in entered) <= ADMITTED_EVERY + 1


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        (Request("x", (), Sampling(1.0)), "1 to 255 tokens"),
        (Request("x", (3,) * 256, Sampling(1.0)), "1 to 255 tokens"),
        (Request("x", (3, 60), Sampling(1.0)), "outside the vocabulary"),
    ],
)
def test_impossible_requests_are_refused(engine: InferenceEngine, request_: Request, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        engine.submit(request_)
    assert not engine.has_unfinished


def test_duplicate_request_id_is_refused(engine: InferenceEngine) -> None:
    engine.submit(Request("twice", PROMPT, Sampling(1.0)))
    with pytest.raises(ValueError, match="already unfinished"):
        engine.submit(Request("twice", PROMPT, Sampling(1.0)))


@pytest.mark.parametrize(
    "change",
    [
        {"temperature": -1.0},
        {"temperature": 2.5},
        {"top_p": 0.0},
        {"top_k": 0},
        {"max_tokens": 0},
        {"thinking_budget": -1},
    ],
)
def test_impossible_sampling_is_refused(change: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(change))):
        Sampling(**{"temperature": 1.0, **change})
