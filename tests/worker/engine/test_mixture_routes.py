"""Routes of the mixtures that vLLM runs: those of the learner's own routers, which it can replay."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tests.support.about import ENGINES, RANKS
from tests.worker.engine.mixtures import drawn, make_mixture
from tests.worker.engine.test_hybrid_policy import as_trajectory, finish
from tests.worker.engine.test_mixtures import TOLERANCE, start
from trainer_core.update.hybrid.router import allow_router_replay, routers
from trainer_core.update.model.policy import load_policy, score
from trainer_core.update.packed.packing import pack
from worker.engine import EngineConfig, EngineError, InferenceEngine, Request, Sampling
from worker.engine.environment import prepare_environment
from worker.engine.request.routes import RouteSource


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("qwen3_moe", marks=pytest.mark.expensive(2, "starts an engine")),
        *(
            pytest.param(name, marks=pytest.mark.expensive(2, "starts an engine", about=(*ENGINES, *RANKS)))
            for name in ("gpt_oss", "deepseek_v3")
        ),
    ],
)
def test_routes_of_samples_are_those_that_the_learner_takes_and_can_replay(
    name: str, tmp_path: Path, shared_engine: InferenceEngine
) -> None:
    """Prompts of one step and of several, among them the same prompt twice: nothing comes from cached blocks."""
    folders = [tmp_path / "a", tmp_path / "b"]
    for seed, folder in enumerate(folders):
        folder.mkdir()
        make_mixture(name, folder, seed=seed)
    engine = start(folders[0], routes=True)
    prompts = drawn([1, 30, 90, 40])
    for number, prompt in enumerate([*prompts, prompts[3]]):
        engine.submit(Request(str(number), tuple(prompt), Sampling(temperature=1.0, max_tokens=9)))
    for _ in range(3):
        engine.step()
    engine.score(drawn([20]))
    model, other = (load_policy(folder) for folder in folders)
    allow_router_replay(other)
    for completion in finish(engine):
        trajectory = as_trajectory(completion)
        [batch] = pack([trajectory], 4096)
        found = score(model, batch)[0].detach()
        assert float((found - batch.behaviour_logprobs).abs().max()) < TOLERANCE
        own = torch.stack([router.chosen for router in routers(model)], dim=1)
        assert trajectory.routes is not None and trajectory.routes.dtype == np.uint8
        assert batch.routes is not None and batch.routes.shape == own.shape
        torch.testing.assert_close(batch.routes.sort(-1).values, own.sort(-1).values)
        score(other, batch)
        assert all(torch.equal(r.chosen, batch.routes[:, n]) for n, r in enumerate(routers(other)))


def test_latent_attention_on_gpus_need_not_tell_lengths() -> None:
    """What vLLM tells it has no lengths of whole sequences: positions are those of the model runner's batch."""
    from vllm.forward_context import ForwardContext, override_forward_context
    from vllm.model_executor.layers.attention.mla_attention import MLACommonMetadata

    from worker.engine.models.vllm_routes import VllmRoutes

    captures = []
    layers = [SimpleNamespace(router=SimpleNamespace(global_num_experts=8, set_capture_fn=captures.append))] * 2
    batch = SimpleNamespace(num_reqs=2, num_computed_tokens_cpu_tensor=torch.tensor([5, 0, 9]))
    starts = torch.tensor([0, 1, 4, 4])
    source = VllmRoutes(layers, SimpleNamespace(input_batch=batch, query_start_loc=SimpleNamespace(cpu=starts)))
    metadata = MLACommonMetadata(
        num_reqs=2, max_query_len=3, max_seq_len=6, num_actual_tokens=4, query_start_loc=starts[:3],
        slot_mapping=torch.arange(4), num_decodes=1, num_decode_tokens=1, num_prefills=1,
    )  # fmt: skip
    chosen = torch.arange(8).view(4, 2)
    with override_forward_context(ForwardContext({}, {"attention": metadata}, {})):
        captures[0](chosen)
        captures[1](chosen + 8)
    batch.num_computed_tokens_cpu_tensor.fill_(0)
    told = source.routes()
    assert told is not None
    assert told[0].tolist() == torch.stack([chosen, chosen + 8], dim=1).tolist()
    assert [one.tolist() for one in told[1:]] == [[0, 1, 4], [5, 0]]
    assert source.routes() is None


def test_routes_need_the_model_runner_that_shows_its_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_USE_V2_MODEL_RUNNER", "")
    monkeypatch.delenv("VLLM_USE_V2_MODEL_RUNNER")
    prepare_environment(EngineConfig("policy"))
    assert os.environ["VLLM_USE_V2_MODEL_RUNNER"] == "0"
    with pytest.raises(EngineError, match=r"VLLM_USE_V2_MODEL_RUNNER=0, or set policy\.routing\.replay = false"):
        RouteSource(SimpleNamespace(get_model=lambda: SimpleNamespace(routes=None)))
