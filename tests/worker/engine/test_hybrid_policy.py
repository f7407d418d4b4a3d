"""A hybrid policy in the engine: states per request, whatever else runs, is parked, or gets new weights."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import MiniMaxForCausalLM

from tests.trainer_core.update.hybrid.hybrids import CHOSEN, EXPERTS, LAYERS, make_hybrid
from trainer_core.episodes import Trajectory
from trainer_core.update.hybrid.policy import take_biases
from trainer_core.update.hybrid.router import BIAS, add_biases, allow_router_replay, routers
from trainer_core.update.model.naming import as_in_files
from trainer_core.update.model.policy import load_policy, score
from trainer_core.update.packed.packing import pack
from trainer_core.update.recording import as_trajectory as plain
from worker.engine import Completion, EngineConfig, EngineError, InferenceEngine, Request, Sampling, WeightsRefusedError
from worker.learner.probe.check import apply_and_probe
from worker.learner.probe.sequences import probe_sequences
from worker.learner.weights import WeightBundle

TOLERANCE = 1e-3


@pytest.fixture(scope="module")
def hybrid(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, MiniMaxForCausalLM]:
    folder = tmp_path_factory.mktemp("hybrid-engine")
    return folder, make_hybrid(folder, seed=5)


@pytest.fixture(scope="module")
def running(shared_engine: InferenceEngine, hybrid: tuple[Path, MiniMaxForCausalLM]) -> Iterator[InferenceEngine]:
    """Prompts longer than a step's tokens are computed in chunks. Leaves vLLM's process-wide parts to the other."""
    yield InferenceEngine(
        EngineConfig(
            str(hybrid[0]),
            max_model_len=192,
            max_num_seqs=16,
            max_num_batched_tokens=32,
            kv_cache_gib=0.05,
            stop_at_eos=False,
            routes=True,
        )
    )


@pytest.fixture
def engine(running: InferenceEngine, hybrid: tuple[Path, MiniMaxForCausalLM]) -> Iterator[InferenceEngine]:
    yield running
    running.park()
    if running.version:
        running.load_weights(0, files(load_policy(hybrid[0])))


def files(model: MiniMaxForCausalLM) -> dict[str, np.ndarray]:
    weights = as_in_files(model, {name: p.detach() for name, p in model.named_parameters()})
    return {name: tensor.numpy() for name, tensor in weights.items()}


def moved(folder: Path, seed: int) -> MiniMaxForCausalLM:
    """The learner's policy a few updates on, with biases in its routers."""
    model, generator = load_policy(folder), torch.Generator().manual_seed(seed)
    add_biases(model)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.02)
        names = [f"model.layers.{n}.mlp.gate.{BIAS}" for n in range(LAYERS)]
        take_biases(model, {name: torch.randn(EXPERTS, generator=generator) * 0.05 for name in names})
    return model


def as_trajectory(completion: Completion) -> Trajectory:
    return Trajectory(
        trajectory_id=completion.request_id,
        prompt_ids=np.array(completion.prompt_ids, np.int32),
        token_ids=np.array(completion.token_ids, np.int32),
        behaviour_logprobs=np.array(completion.logprobs, np.float32),
        versions=np.array(completion.versions, np.int32),
        sampled=np.array(completion.sampled, np.bool_),
        finish_reason="length",
        temperature=1.0,
        routes=completion.routes,
    )


def drawn(sizes: list[int]) -> list[tuple[int, ...]]:
    rng = np.random.default_rng(1)
    return [tuple(rng.integers(2, 60, size).tolist()) for size in sizes]


def submit(engine: InferenceEngine, prompts: list[tuple[int, ...]], tokens: int) -> None:
    for number, prompt in enumerate(prompts):
        engine.submit(Request(str(number), prompt, Sampling(temperature=1.0, max_tokens=tokens)))


def finish(engine: InferenceEngine) -> list[Completion]:
    done: list[Completion] = []
    while engine.has_unfinished:
        done += engine.step()
    return done


def difference(model: MiniMaxForCausalLM, completion: Completion, tokens: slice = slice(None)) -> float:
    [batch] = pack([as_trajectory(completion)], 4096)
    found = score(model, batch)[0].detach().numpy()
    return float(np.abs(found - completion.logprobs)[tokens].max())


def test_samples_are_drawn_from_the_learners_policy(
    engine: InferenceEngine, hybrid: tuple[Path, MiniMaxForCausalLM]
) -> None:
    """Prompts of one token, of one chunk and of several; requests come and go at different times."""
    model = load_policy(hybrid[0])
    submit(engine, drawn([1, 5, 30, 70, 1, 33]), 12)
    first = [engine.step() for _ in range(6)]
    for number, prompt in enumerate(drawn([40, 1, 9])):
        engine.submit(Request(f"late {number}", prompt, Sampling(temperature=1.0, max_tokens=5)))
    done = [completion for step in first for completion in step] + finish(engine)
    assert len(done) == 9
    for completion in done:
        assert difference(model, completion) < TOLERANCE


def test_new_weights_pass_the_probe_while_requests_run(
    engine: InferenceEngine, hybrid: tuple[Path, MiniMaxForCausalLM]
) -> None:
    after = moved(hybrid[0], 3)
    submit(engine, drawn([4, 20, 45]), 20)
    for _ in range(8):
        engine.step()
    probes = probe_sequences(60, 192)
    [batch] = pack([plain(ids) for ids in probes], 4096)
    scores = score(after, batch)[0].detach()
    expected = [scores[batch.sequence == index].tolist() for index in range(len(probes))]
    assert apply_and_probe(engine, WeightBundle(1, files(after), probes, expected), TOLERANCE).largest < TOLERANCE
    done = finish(engine)
    assert len(done) == 3
    for completion in done:
        switch = completion.versions.index(1)
        assert 0 < switch < 20
        # Keys, values and states that the old weights left behind have been computed anew by the new ones.
        assert difference(after, completion, slice(switch, None)) < TOLERANCE
        assert difference(after, completion, slice(switch)) > 10 * TOLERANCE


def test_a_parked_request_goes_on_where_it_stood(
    engine: InferenceEngine, hybrid: tuple[Path, MiniMaxForCausalLM]
) -> None:
    model = load_policy(hybrid[0])
    submit(engine, drawn([6, 50]), 16)
    for _ in range(7):
        engine.step()
    parked = engine.park()
    submit(engine, drawn([40, 3, 3]), 4)
    finish(engine)
    for partial in parked:
        engine.submit(Request(partial.request_id, partial.prompt_ids, Sampling(1.0, max_tokens=16), prefix=partial))
    done = finish(engine)
    assert len(done) == 2
    for completion in done:
        assert difference(model, completion) < TOLERANCE
        assert completion.routes is not None
        assert completion.routes.shape == (len(completion.prompt_ids) + 15, LAYERS, CHOSEN)


def test_routes_are_those_that_the_learner_takes_and_can_replay(
    engine: InferenceEngine, hybrid: tuple[Path, MiniMaxForCausalLM]
) -> None:
    model = load_policy(hybrid[0])
    submit(engine, drawn([1, 8, 60]), 10)
    for completion in finish(engine):
        trajectory = as_trajectory(completion)
        [batch] = pack([trajectory], 4096)
        score(model, batch)
        own = torch.stack([router.chosen for router in routers(model)], dim=1)
        assert trajectory.routes is not None and trajectory.routes.dtype == np.uint8
        assert batch.routes is not None and batch.routes.shape == own.shape
        torch.testing.assert_close(batch.routes.sort(-1).values, own.sort(-1).values)

    # Another policy's routers would choose otherwise; replayed, its log-probabilities follow the engine's routes.
    other = moved(hybrid[0], 8)
    allow_router_replay(other)
    score(other, batch)
    assert all(torch.equal(r.chosen, batch.routes[:, n]) for n, r in enumerate(routers(other)))


def test_an_update_may_bring_biases_and_nothing_unknown(
    engine: InferenceEngine, hybrid: tuple[Path, MiniMaxForCausalLM]
) -> None:
    tensors = files(load_policy(hybrid[0]))
    assert tensors.keys() == engine.weight_shapes.keys(), "constants of the decay are no weights"
    with pytest.raises(WeightsRefusedError, match="unknown"):
        engine.load_weights(1, {**tensors, f"model.layers.9.block_sparse_moe.gate.{BIAS}": np.zeros(EXPERTS)})
    with pytest.raises(WeightsRefusedError, match="has shape"):
        engine.load_weights(1, {**tensors, f"model.layers.0.block_sparse_moe.gate.{BIAS}": np.zeros(3, np.float32)})


def test_a_dense_policy_tells_no_routes(tied_policy: tuple[Path, object], shared_engine: InferenceEngine) -> None:
    with pytest.raises(EngineError, match=r"cannot return the routes of Qwen3ForCausalLM.*router_shift instead"):
        InferenceEngine(EngineConfig(str(tied_policy[0]), max_model_len=64, kv_cache_gib=0.01, routes=True))
