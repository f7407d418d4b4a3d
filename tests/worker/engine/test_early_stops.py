"""Early stops on a real engine: at exactly the token that completes the run or the loop, also across a cut."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.worker.engine.conftest import Collect
from tests.worker.engine.policies import THINK
from worker.engine import Completion, InferenceEngine, NgramLoop, ProbabilityRun, Request, Sampling

CERTAIN = Sampling(1.0, top_k=1, max_tokens=40, probability_run=ProbabilityRun(tokens=6))
LOOP = NgramLoop(size=4, repeats=3)


def uninterrupted_and_cut(engine: InferenceEngine, collect: Collect, request: Request, steps: int) -> list[Completion]:
    engine.submit(request)
    whole = collect()[request.request_id]
    engine.submit(request)
    for _ in range(steps):
        assert engine.step() == []
    (partial,) = engine.park()
    engine.submit(replace(request, prefix=partial))
    return [whole, collect()[request.request_id]]


@pytest.mark.parametrize("steps", [0, 3, 5])
def test_run_of_certain_tokens_ends_the_request(engine: InferenceEngine, collect: Collect, steps: int) -> None:
    before = engine.stats().repetitions
    for completion in uninterrupted_and_cut(engine, collect, Request("r", (3, 4, 5), CERTAIN), steps):
        assert (len(completion.token_ids), completion.finish_reason) == (6, "repetition")
    assert engine.stats().repetitions - before == 2
    assert engine.stats().running == 0


def test_forced_tokens_break_the_run(engine: InferenceEngine, collect: Collect) -> None:
    request = Request("r", (3, 4, *THINK.start_ids), replace(CERTAIN, thinking_budget=4))
    for completion in uninterrupted_and_cut(engine, collect, request, 5):
        assert completion.sampled == [True] * 4 + [False] * 3 + [True] * 6
        assert completion.finish_reason == "repetition"


def test_run_wins_over_the_budget_it_spends_at_the_same_token(engine: InferenceEngine, collect: Collect) -> None:
    engine.submit(Request("r", (3, 4, *THINK.start_ids), replace(CERTAIN, thinking_budget=6)))
    completion = collect()["r"]
    assert (len(completion.token_ids), completion.finish_reason, completion.budget_hit) == (6, "repetition", False)


def test_loops_end_where_they_are_complete_and_nowhere_else(engine: InferenceEngine, collect: Collect) -> None:
    free = Sampling(0.0, max_tokens=100)
    watched = replace(free, ngram_loop=LOOP)
    for index in range(24):
        engine.submit(Request(f"free {index}", (3, 4 + index), free))
        engine.submit(Request(f"watched {index}", (3, 4 + index), watched))
    done = collect()
    stopped = 0
    for index in range(24):
        tokens = done[f"free {index}"].token_ids
        ends = [end for end in range(1, len(tokens) + 1) if _loops(tokens[:end])]
        completion = done[f"watched {index}"]
        if not ends or ends[0] == len(tokens):
            assert (completion.token_ids, completion.finish_reason) == (tokens, done[f"free {index}"].finish_reason)
            continue
        stopped += 1
        assert (completion.token_ids, completion.finish_reason) == (tokens[: ends[0]], "repetition")
    assert stopped > 0


def _loops(tokens: list[int]) -> bool:
    tail = tokens[-12:]
    return len(tail) == 12 and any(tail[p:] == tail[:-p] for p in range(1, 5))
