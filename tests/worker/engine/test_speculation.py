"""An engine that drafts gives what it gives without: tokens of a seed, log-probabilities, ends, and versions."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from transformers import Qwen3ForCausalLM

from tests.worker.engine.conftest import Collect
from tests.worker.engine.drafts import ForcedDrafts, Guess, speculating
from tests.worker.engine.policies import THINK, VOCAB, perturbed, reference_logprobs, state
from worker.engine import Completion, InferenceEngine, Request, Sampling
from worker.engine.speculation.speculator import Speculator
from worker.engine.types import NgramLoop, ProbabilityRun, Prune, SampleGroup

Policy = tuple[Path, Qwen3ForCausalLM]


def guesses(known: dict[str, list[int]], seed: int = 1, errors: float = 0.2, most: int = 7) -> Guess:
    """Drafts of random length, some none, from what the answers are known to become; a share of tokens is wrong."""
    rng = random.Random(seed)

    def guess(request_id: str, after: int) -> list[int]:
        tokens = known[request_id][after : after + rng.randint(0, most)]
        return [rng.randrange(2, VOCAB) if rng.random() < errors else token for token in tokens]

    return guess


def both(engine: InferenceEngine, collect: Collect, requests: list[Request]) -> tuple[ForcedDrafts, list[Completion]]:
    """Completions with drafts, compared with those without."""
    with speculating(engine, None):
        for request in requests:
            engine.submit(request)
        plain = collect()
    drafts = ForcedDrafts(guesses({name: done.token_ids for name, done in plain.items()}))
    engine.drop_kv()
    with speculating(engine, drafts):
        for request in requests:
            engine.submit(request)
        done = collect()
    engine.drop_kv()
    assert drafts.drafted > 0
    for name, expected in plain.items():
        found = done[name]
        assert found.token_ids == expected.token_ids
        assert found.logprobs == pytest.approx(expected.logprobs, abs=2e-5)
        assert (found.finish_reason, found.sampled, found.versions) == (
            expected.finish_reason,
            expected.sampled,
            expected.versions,
        )
        assert (found.thinking_tokens, found.budget_hit) == (expected.thinking_tokens, expected.budget_hit)
    return drafts, list(done.values())


def test_seeds_give_the_same_tokens_across_temperatures_cuts_and_blocks(
    engine: InferenceEngine, collect: Collect, tied_policy: Policy
) -> None:
    kinds = [
        Sampling(1.0, max_tokens=160),  # crosses a KV block of 128 tokens
        Sampling(0.7, top_p=0.9, max_tokens=40),
        Sampling(1.0, top_k=5, max_tokens=33, stop_token_ids=(7, 11)),
        Sampling(0.0, max_tokens=24),
        Sampling(1.3, max_tokens=1),
        Sampling(1.0, max_tokens=300),  # the model's own limit
    ]
    requests = [
        Request(f"r{index}", (3, 4 + index % 5), replace(kinds[index % len(kinds)], seed=index)) for index in range(12)
    ]
    drafts, done = both(engine, collect, requests)
    assert drafts.accepted > 100
    assert {completion.finish_reason for completion in done} == {"stop", "length"}
    for completion in done:
        temperature, sequence = kinds[int(completion.request_id[1:]) % len(kinds)].temperature, completion.token_ids
        sampling = kinds[int(completion.request_id[1:]) % len(kinds)]
        if sampling.top_k == -1 and sampling.top_p == 1.0:
            whole = [*completion.prompt_ids, *sequence]
            expected = reference_logprobs(tied_policy[1], whole, temperature or 1.0)[len(completion.prompt_ids) - 1 :]
            assert completion.logprobs == pytest.approx(expected, abs=2e-4)


def test_ends_of_the_engines_own_are_found_among_drafted_tokens(
    engine: InferenceEngine, collect: Collect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Budgets of thinking, repetitions, and stop strings; what was accepted behind them is no part of the answer."""
    ends: Callable[[list[int]], bool] = lambda tokens: tokens[-2:-1] in ([13], [17])  # noqa: E731
    stops = SimpleNamespace(candidates=[20 <= token < 40 for token in range(VOCAB)], ends=ends)
    monkeypatch.setattr(engine, "_stops", SimpleNamespace(of=lambda _strings: stops))
    thinking = (*THINK.start_ids, 4)
    sampling = Sampling(1.0, max_tokens=90)
    requests = [
        *(Request(f"think{n}", thinking, replace(sampling, thinking_budget=5 + n, seed=n)) for n in range(6)),
        *(
            Request(f"run{n}", (3, 9), replace(sampling, probability_run=ProbabilityRun(2, 0.4), seed=n))
            for n in range(4)
        ),
        Request("loop", (3, 5), Sampling(0.0, max_tokens=90, ngram_loop=NgramLoop(4, 3))),
    ]
    before = engine.stats().budget_violations
    _, done = both(engine, collect, requests)
    reasons = {completion.finish_reason for completion in done}
    assert {"stop", "repetition"} <= reasons
    assert any(completion.budget_hit and not all(completion.sampled) for completion in done)
    assert engine.stats().budget_violations == before


def test_likeliest_tokens_are_told_for_every_token_that_counts(engine: InferenceEngine, collect: Collect) -> None:
    requests = [
        Request("asks", (*THINK.start_ids, 4), Sampling(1.0, max_tokens=40, seed=1, top_logprobs=4, thinking_budget=9)),
        Request("does not", (3, 4), Sampling(1.0, max_tokens=40, seed=2)),
        Request("stops", (3, 5), Sampling(1.0, max_tokens=40, seed=3, top_logprobs=2, stop_token_ids=(8, 9, 10, 12))),
    ]
    with speculating(engine, None):
        for request in requests:
            engine.submit(request)
        plain = collect()
    drafts = ForcedDrafts(guesses({name: done.token_ids for name, done in plain.items()}, errors=0.1))
    with speculating(engine, drafts):
        for request in requests:
            engine.submit(request)
        done = collect()
    assert drafts.accepted > 0
    assert done["does not"].top is None
    for name in ("asks", "stops"):
        expected, found = plain[name].top, done[name].top
        assert expected is not None and found is not None
        np.testing.assert_array_equal(found.token_ids, expected.token_ids)
        np.testing.assert_allclose(found.logprobs, expected.logprobs, atol=2e-5)


def test_samples_are_pruned_by_the_same_first_tokens(engine: InferenceEngine, collect: Collect) -> None:
    sampling = Sampling(1.0, max_tokens=60, prune=Prune(8, 0.5))
    group = SampleGroup("g", 4)
    requests = [Request(f"s{n}", (3, 6), replace(sampling, seed=n), group=group) for n in range(4)]
    kept = []
    known: dict[str, list[int]] = {}
    for speculator in (None, ForcedDrafts(guesses(known, errors=0.0))):
        with speculating(engine, speculator):
            for request in requests:
                engine.submit(request)
            done = collect()
        known |= {name: completion.token_ids for name, completion in done.items()}
        kept.append({name for name, completion in done.items() if completion.finish_reason != "pruned"})
    assert kept[0] == kept[1]
    assert len(kept[0]) == 2


@pytest.mark.parametrize("kv", ["keep", "recompute"])
def test_tokens_bear_the_version_that_they_were_sampled_with(
    engine: InferenceEngine, collect: Collect, tied_policy: Policy, kv: str
) -> None:
    """Also where a draft was made of what the old weights would have said."""
    requests = [Request(f"r{n}", (3, 4 + n), Sampling(1.0, max_tokens=60, seed=n)) for n in range(4)]
    with speculating(engine, None):
        for request in requests:
            engine.submit(request)
        old = {name: completion.token_ids for name, completion in collect().items()}
    new = perturbed(tied_policy[1], 3)
    drafts = ForcedDrafts(guesses(old, errors=0.1))
    with speculating(engine, drafts):
        for request in requests:
            engine.submit(request)
        done = {completion.request_id: completion for _ in range(6) for completion in engine.step()}
        engine.load_weights(1, state(new), kv=kv)  # type: ignore[arg-type]
        done |= collect()
    assert drafts.accepted > 10
    for completion in done.values():
        first = completion.versions.index(1)
        assert completion.versions == [0] * first + [1] * (len(completion.token_ids) - first)
        assert completion.token_ids[:first] == old[completion.request_id][:first]
        whole = [*completion.prompt_ids, *completion.token_ids]
        before = reference_logprobs(tied_policy[1], whole)[1:]
        assert completion.logprobs[:first] == pytest.approx(before[:first], abs=2e-4)
        if kv == "recompute":
            assert completion.logprobs[first:] == pytest.approx(reference_logprobs(new, whole)[1:][first:], abs=2e-4)


def test_a_parked_request_goes_on_where_it_stood(engine: InferenceEngine, collect: Collect) -> None:
    request = Request("r", (3, 4), Sampling(0.0, max_tokens=50))
    with speculating(engine, None):
        engine.submit(request)
        expected = collect()["r"]
    with speculating(engine, ForcedDrafts(guesses({"r": expected.token_ids}))):
        engine.submit(request)
        for _ in range(5):
            engine.step()
        (partial,) = engine.park()
        assert 5 < len(partial.token_ids) < 50
        engine.submit(replace(request, prefix=partial))
        found = collect()["r"]
    assert found.token_ids == expected.token_ids
    assert found.logprobs == pytest.approx(expected.logprobs, abs=2e-5)


def test_a_full_cache_and_waiting_requests_go_without(engine: InferenceEngine, collect: Collect) -> None:
    """More requests than places: those that wait enter between steps with drafts."""
    places = engine.stats().running_limit
    requests = [Request(f"r{n}", (3, 4 + n % 40), Sampling(1.0, max_tokens=12, seed=n)) for n in range(places + 9)]
    both(engine, collect, requests)


class SteadyClock(Speculator):
    """Learns from steps and tries that take as long as they would on a quiet machine."""

    def __init__(self) -> None:
        super().__init__(clock=count(0.0, 2e-5).__next__)

    def observe(self, seconds: float, sampled: dict[str, int] | None) -> None:
        """Implements ``Speculator.observe``."""
        drafts = self._plan.drafts.values() if self._plan is not None else ()
        super().observe(4e-3 + (3e-4 if drafts else 0.0) + 5e-5 * sum(len(draft.tokens) for draft in drafts), sampled)


def test_siblings_and_earlier_answers_are_drafted_from(engine: InferenceEngine, collect: Collect) -> None:
    """Greedy answers to one prompt are alike: the speculator itself finds them, once it knows what steps cost."""
    speculator = SteadyClock()
    sampling = Sampling(0.0, max_tokens=200)
    with speculating(engine, speculator):
        engine.submit(Request("first", (3, 4, 5), sampling))
        first = collect()["first"]
        before = speculator.stats
        engine.submit(Request("second", (3, 4, 5), sampling))
        second = collect()["second"]
        assert engine.stats().speculation == speculator.stats
    after = speculator.stats
    assert second.token_ids == first.token_ids
    assert after.accepted - before.accepted > 0.8 * len(first.token_ids)
    assert after.steps - before.steps < 0.3 * len(first.token_ids)
    assert after.drafted >= after.accepted >= after.drafts
