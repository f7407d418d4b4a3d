"""A KV cache far too small for the load: requests are preempted, nothing is lost, and scoring still works."""

from __future__ import annotations

from pathlib import Path

import pytest
from transformers import Qwen3ForCausalLM

from tests.support.about import TRAINING
from tests.worker.engine.policies import reference_logprobs
from worker.engine import InferenceEngine, Request, Sampling

SEQUENCE = list(range(2, 52)) * 3


@pytest.mark.expensive(5, "builds an engine", about=TRAINING)
def test_preempted_requests_finish_with_the_same_tokens(
    untied_engine: InferenceEngine, untied_policy: tuple[Path, Qwen3ForCausalLM]
) -> None:
    prompts = {f"r{index}": (3, 4, 5 + index) for index in range(8)}

    def run(*, together: bool) -> dict[str, list[int]]:
        done: dict[str, list[int]] = {}
        for name, prompt in prompts.items():
            untied_engine.submit(Request(name, prompt, Sampling(0.0, max_tokens=150)))
            while not together and untied_engine.has_unfinished:
                done |= {c.request_id: c.token_ids for c in untied_engine.step()}
        while untied_engine.has_unfinished:
            done |= {c.request_id: c.token_ids for c in untied_engine.step()}
        return done

    before = untied_engine.stats().preemptions
    alone = run(together=False)
    assert untied_engine.stats().preemptions == before
    assert max(len(tokens) for tokens in alone.values()) > 128  # one KV block is not enough
    assert run(together=True) == alone
    assert untied_engine.stats().preemptions > before


def test_scoring_finds_room_in_a_full_cache(
    untied_engine: InferenceEngine, untied_policy: tuple[Path, Qwen3ForCausalLM]
) -> None:
    for index in range(8):
        untied_engine.submit(Request(f"r{index}", (3, 4, 5 + index), Sampling(0.0, max_tokens=40)))
    untied_engine.step()
    assert untied_engine.stats().kv_usage > 0.5
    (score,) = untied_engine.score([SEQUENCE])
    assert len(score) == len(SEQUENCE) - 1
    finished = 0
    while untied_engine.has_unfinished:
        finished += len(untied_engine.step())
    assert finished == 8
    assert untied_engine.score([SEQUENCE]) == [score]
    if untied_engine.version == 0:
        expected = reference_logprobs(untied_policy[1], SEQUENCE)
        assert max(abs(a - b) for a, b in zip(score, expected, strict=True)) < 1e-4
