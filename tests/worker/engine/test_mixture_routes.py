"""Routes of the mixtures that vLLM runs: those of the learner's own routers, which it can replay."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.worker.engine.mixtures import drawn, make_mixture
from tests.worker.engine.test_hybrid_policy import as_trajectory, finish
from tests.worker.engine.test_mixtures import TOLERANCE, start
from trainer_core.update.hybrid.router import allow_router_replay, routers
from trainer_core.update.model.policy import load_policy, score
from trainer_core.update.packed.packing import pack
from worker.engine import InferenceEngine, Request, Sampling


@pytest.mark.parametrize("name", ["qwen3_moe", "gpt_oss", "deepseek_v3"])
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
