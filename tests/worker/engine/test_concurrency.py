"""The concurrency limit: what the controller decides, and what it does to an engine whose cache is too small."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from transformers import Qwen3ForCausalLM

from tests.support.about import TRAINING
from tests.worker.engine.policies import start
from worker.engine import ConcurrencyConfig, InferenceEngine, Request, Sampling
from worker.engine.concurrency import CacheLoad, ConcurrencyController

OPTIONS = ConcurrencyConfig(kv_target=0.8, increase=2, decrease=0.5)


def controller(limit: int, *, most: int = 64) -> ConcurrencyController:
    made = ConcurrencyController(OPTIONS, most=most)
    made.limit = limit
    return made


def test_starts_at_the_most() -> None:
    assert ConcurrencyController(OPTIONS, most=64).limit == 64


def busy(**change: float) -> CacheLoad:
    """Eight run, others wait, a round of eight is over."""
    return replace(CacheLoad(running=8, waiting=5, finished=8, kv_usage=0.5, preemptions=0), **change)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("load", "limit"),
    [
        (busy(), 10),
        (busy(finished=7), 8),  # the round is not over
        (busy(waiting=0), 8),  # nobody would come in
        (busy(running=7), 8),  # the limit is not what holds them back
        (busy(kv_usage=0.8), 8),  # full enough
        (busy(preemptions=1), 4),
        (busy(running=5, preemptions=9), 2),  # half of those that ran, not of the limit
        (busy(running=1, preemptions=1), 1),
    ],
)
def test_limit_moves_by_load(load: CacheLoad, limit: int) -> None:
    assert controller(8).update(load) == limit


def test_round_counts_as_quiet_only_if_it_was_so_throughout() -> None:
    made = controller(8)
    assert made.update(busy(finished=4, kv_usage=0.85)) == 8
    assert made.update(busy(finished=8)) == 8
    assert made.update(busy(finished=16)) == 10


def test_one_congestion_is_answered_once() -> None:
    made = controller(8)
    assert made.update(busy(preemptions=3)) == 4
    assert made.update(busy(running=7, preemptions=4)) == 4  # above the limit still
    assert made.update(busy(running=4, preemptions=4)) == 4  # nobody was thrown out since
    assert made.update(busy(running=4, preemptions=5)) == 2


def test_limit_stays_within_its_bounds() -> None:
    made = controller(63)
    assert made.update(busy(running=63, finished=63)) == 64
    assert made.update(busy(running=64, finished=999)) == 64


@pytest.mark.parametrize("change", [{"kv_target": 0.0}, {"increase": 0}, {"decrease": 1.0}])
def test_impossible_options_are_refused(change: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(change))):
        ConcurrencyConfig(**change)  # type: ignore[arg-type]


@pytest.mark.expensive(13, "builds an engine", about=TRAINING)
def test_adaptive_limit_settles_where_few_are_preempted(
    shared_engine: InferenceEngine, tied_policy: tuple[Path, Qwen3ForCausalLM]
) -> None:
    """Room for sixteen KV blocks and sequences that come to need two each: eight fit, thirty-two want in."""
    preemptions = {}
    for name, concurrency in (("fixed", None), ("adaptive", ConcurrencyConfig())):
        engine = start(tied_policy[0], kv_cache_gib=0.004, stop_at_eos=False, concurrency=concurrency)
        for index in range(64):
            engine.submit(Request(f"r{index}", (3, 4, 5 + index % 50), Sampling(1.0, max_tokens=150)))
        lengths = []
        while engine.has_unfinished:
            lengths += [len(completion.token_ids) for completion in engine.step()]
        assert lengths == [150] * 64
        preemptions[name] = engine.stats().preemptions
        assert engine.stats().running_limit <= (32 if concurrency is None else 8)
    assert 0 < preemptions["adaptive"] < preemptions["fixed"] / 2
