"""Online pruning: which samples of a group are given up, when, and what becomes of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.worker.engine.conftest import Collect
from worker.engine import Completion, InferenceEngine, Prune, Request, SampleGroup, Sampling
from worker.engine.request.pruning import GroupPruner

HALF = Prune(after=6, keep=0.5)
FREE = Sampling(0.0, max_tokens=12)
PRUNED = replace(FREE, prune=HALF)


def request(name: str, size: int, keep: float = 0.5) -> Request:
    return Request(name, (3,), Sampling(1.0, prune=Prune(6, keep)), group=SampleGroup("g", size))


def test_least_confident_are_pruned_once_all_can_be_compared() -> None:
    pruner, samples = GroupPruner(), [request(name, 4) for name in "abcd"]
    for sample in samples:
        pruner.enter(sample)
    assert [pruner.look(samples[i], c) for i, c in ((0, -1.0), (1, -0.2), (2, -0.9))] == [[], [], []]
    assert pruner.look(samples[3], -0.5) == ["c", "a"]


@pytest.mark.parametrize(("keep", "pruned"), [(0.5, ["b", "a"]), (0.7, ["a"]), (0.2, ["b", "a"]), (0.9, [])])
def test_samples_that_have_ended_are_kept_first(keep: float, pruned: list[str]) -> None:
    pruner, samples = GroupPruner(), [request(name, 4, keep) for name in "abcd"]
    for sample in samples:
        pruner.enter(sample)
    assert pruner.look(samples[0], -2.0) == []
    assert pruner.leave(samples[2], ended=True) == []
    assert pruner.look(samples[1], -1.0) == []
    assert pruner.leave(samples[3], ended=True) == pruned
    for sample in samples[:2]:
        assert pruner.leave(sample, ended=True) == []
    assert pruner._groups == {}


def test_parked_group_is_pruned_only_if_none_of_it_had_ended() -> None:
    pruner, samples = GroupPruner(), [request(name, 2) for name in "ab"]
    for sample in samples:
        pruner.enter(sample)
    pruner.leave(samples[0], ended=True)
    pruner.leave(samples[1], ended=False)
    assert pruner._groups == {}
    pruner.enter(samples[1])
    assert pruner.look(samples[1], -5.0) == []


def four(engine: InferenceEngine, collect: Collect) -> list[Completion]:
    """Four greedy completions of full length."""
    for index in range(20):
        engine.submit(Request(str(index), (3, 4 + index), FREE))
    return [c for c in collect().values() if c.finish_reason == "length"][:4]


def ranked(completions: list[Completion]) -> list[Completion]:
    return sorted(completions, key=lambda c: sum(c.logprobs[:6]), reverse=True)


def submit(engine: InferenceEngine, completions: list[Completion], group: str = "g") -> None:
    for whole in completions:
        engine.submit(Request(whole.request_id, whole.prompt_ids, PRUNED, group=SampleGroup(group, len(completions))))


def test_engine_finishes_the_better_half(engine: InferenceEngine, collect: Collect) -> None:
    free = four(engine, collect)
    before = engine.stats().aborted
    submit(engine, free)
    done = {c.request_id: c for _ in range(6) for c in engine.step()}
    best, worst = ranked(free)[:2], ranked(free)[2:]
    assert engine.has_unfinished
    done |= collect()
    for whole in best:
        assert done[whole.request_id].token_ids == whole.token_ids
        assert done[whole.request_id].finish_reason == "length"
    for whole in worst:
        assert done[whole.request_id].token_ids == whole.token_ids[:6]
        assert done[whole.request_id].finish_reason == "pruned"
    assert (engine.stats().aborted - before, engine.stats().running, len(done)) == (2, 0, 4)


def test_parked_before_the_look_is_pruned_all_the_same(engine: InferenceEngine, collect: Collect) -> None:
    free = four(engine, collect)
    submit(engine, free)
    for _ in range(4):
        assert engine.step() == []
    for partial in engine.park():
        engine.submit(
            Request(partial.request_id, partial.prompt_ids, PRUNED, prefix=partial, group=SampleGroup("g", 4))
        )
    done = collect()
    assert {name for name, c in done.items() if c.finish_reason == "pruned"} == {c.request_id for c in ranked(free)[2:]}
    assert {len(c.token_ids) for c in done.values()} == {6, 12}


def test_prefixes_beyond_the_look_are_compared_at_once(engine: InferenceEngine, collect: Collect) -> None:
    free = four(engine, collect)
    for whole in free:
        engine.submit(Request(whole.request_id, whole.prompt_ids, FREE))
    for _ in range(8):
        assert engine.step() == []
    for partial in engine.park():
        engine.submit(
            Request(partial.request_id, partial.prompt_ids, PRUNED, prefix=partial, group=SampleGroup("g", 4))
        )
    done = collect()
    assert [len(done[c.request_id].token_ids) for c in ranked(free)] == [12, 12, 8, 8]


def test_pruning_without_a_group_is_refused(engine: InferenceEngine) -> None:
    with pytest.raises(ValueError, match=r"pruning needs Request\.group"):
        engine.submit(Request("r", (3, 4), PRUNED))


@pytest.mark.parametrize(("after", "keep", "name"), [(0, 0.5, "after"), (5, 0.0, "keep"), (5, 1.0, "keep")])
def test_impossible_pruning_is_refused(after: int, keep: float, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Prune(after, keep)
