"""An engine of two devices: the same policy, the same probe and updates as an engine of one, in two processes."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import Qwen3ForCausalLM

from tests.support.about import ENGINES
from tests.worker.engine.policies import perturbed, reference_logprobs, start, state
from worker.engine import EngineDevices, EngineError, InferenceEngine, Request, Sampling, WeightsRefusedError

pytestmark = [
    pytest.mark.live,
    pytest.mark.expensive(4, "runs an engine of two processes", about=ENGINES),
]
SEQUENCES = [[3, 9, 27, 41, 4, 12, 36, 50, 33, 2], [5, 6], list(range(2, 58)) * 3]
Policy = tuple[Path, Qwen3ForCausalLM]


@pytest.fixture(scope="module")
def pair(tied_policy: Policy, shared_engine: InferenceEngine) -> Iterator[InferenceEngine]:
    """Started where an engine of one device runs already: vLLM keeps its settings in the process."""
    engine = start(tied_policy[0], devices=EngineDevices(tensor=2))
    yield engine
    engine.close()


def distance(engine: InferenceEngine, model: Qwen3ForCausalLM) -> float:
    """Largest difference between engine and plain forward over the probe sequences."""
    pairs = zip(engine.score(SEQUENCES), SEQUENCES, strict=True)
    return max(float(np.abs(np.subtract(ours, reference_logprobs(model, sequence))).max()) for ours, sequence in pairs)


def finish(engine: InferenceEngine) -> dict[str, tuple[int, ...]]:
    done = {}
    while engine.has_unfinished:
        done |= {one.request_id: tuple(one.token_ids) for one in engine.step()}
    return done


def test_two_devices_serve_score_and_take_new_weights(pair: InferenceEngine, tied_policy: Policy) -> None:
    model = tied_policy[1]
    assert pair.weight_shapes["model.layers.0.self_attn.k_proj.weight"] == (64, 128)
    assert distance(pair, model) < 1e-4

    greedy = Sampling(temperature=0.0, max_tokens=12)
    pair.submit(Request("a", (3, 9, 27), greedy))
    first = finish(pair)["a"]
    prompt = [3, 9, 27]
    for token in first:
        assert token == int(model(torch.tensor([prompt])).logits[0, -1].argmax())
        prompt.append(token)

    other = perturbed(model)
    wrong = {**state(other), "model.norm.weight": np.full(128, np.nan, np.float32)}
    with pytest.raises(WeightsRefusedError, match=r"model\.norm\.weight contains values that are not finite"):
        pair.load_weights(1, wrong)
    assert pair.version == 0
    pair.submit(Request("b", (3, 9, 27), greedy))
    pair.step()
    pair.load_weights(1, state(other))
    assert pair.version == 1
    assert distance(pair, other) < 1e-4
    assert set(finish(pair)) == {"b"}

    reason = pair.load_changes(2, [{}], {})
    assert reason == "the weights of an engine of several devices are loaded as a whole"
    assert pair.version == 1


def test_what_each_device_holds_whole_is_read_back(pair: InferenceEngine, tied_policy: Policy) -> None:
    pair.load_weights(3, state(perturbed(tied_policy[1], seed=3)))
    columns = {128: np.array([0, 5, 17])}
    read = [one for one in pair.read_weights(columns) if one.name == "model.norm.weight"]
    assert [one.place.rpartition(" of ")[2] for one in read] == ["rank 0", "rank 1"]
    expected = perturbed(tied_policy[1], seed=3).model.norm.weight.detach().numpy()
    assert all(np.array_equal(one.values, expected) for one in read)
    assert 0.0 < pair.read_share < 1.0


@pytest.mark.parametrize(
    ("asked", "field"),
    [({"routes": True}, "policy.routing.replay"), ({"speculation": "tail"}, "rollout.engine.speculation")],
)
def test_what_several_devices_cannot_do_is_refused(tied_policy: Policy, asked: dict[str, object], field: str) -> None:
    with pytest.raises(EngineError, match=f"{field} needs an engine of one device, and this one has 2"):
        start(tied_policy[0], devices=EngineDevices(tensor=2), **asked)


def test_an_engine_whose_process_dies_says_so(pair: InferenceEngine, engine: InferenceEngine) -> None:
    """The last of this module's tests: the engine is of no use afterwards, and one beside it goes on."""
    workers = pair._core.model_executor.workers
    assert len(workers) == 2
    os.kill(workers[-1].proc.pid, signal.SIGKILL)
    pair.submit(Request("c", (3, 9), Sampling(temperature=1.0, max_tokens=4)))
    with pytest.raises(Exception, match=r"[Ff]ailed|cancelled|shut"):
        finish(pair)

    pair.close()
    engine.submit(Request("d", (3, 9), Sampling(temperature=1.0, max_tokens=4)))
    assert set(finish(engine)) == {"d"}
