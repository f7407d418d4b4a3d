"""Frozen-weight rescoring with a real engine and the learner's packed policy: each cause is found where it is."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import PreTrainedModel, Qwen3ForCausalLM

from tests.worker.engine.conftest import Collect
from tests.worker.engine.policies import perturbed, reference_logprobs, state
from trainer_core.diagnosis import Attribution, attribute
from trainer_core.episodes import Trajectory
from trainer_core.update.model.policy import load_policy
from trainer_core.update.rescoring import LearnerSide, learner_side
from worker.engine import InferenceEngine, Request, Sampling
from worker.loop.rescoring import attribution_metrics, combine

PROMPTS = [tuple(range(3 + n, 11 + n)) for n in range(6)]
CPU = torch.device("cpu")


@pytest.fixture
def learner(tied_policy: tuple[Path, Qwen3ForCausalLM]) -> PreTrainedModel:
    return load_policy(tied_policy[0])


def generate(engine: InferenceEngine, collect: Collect, **sampling: float) -> list[Trajectory]:
    for index, prompt in enumerate(PROMPTS):
        engine.submit(Request(f"{index}", prompt, Sampling(temperature=1.0, max_tokens=12, **sampling)))  # type: ignore[arg-type]
    return [
        Trajectory(
            trajectory_id=name,
            prompt_ids=np.array(done.prompt_ids, np.int32),
            token_ids=np.array(done.token_ids, np.int32),
            behaviour_logprobs=np.array(done.logprobs, np.float32),
            versions=np.array(done.versions, np.int32),
            sampled=np.array(done.sampled),
            finish_reason=done.finish_reason,
            temperature=1.0,
        )
        for name, done in sorted(collect().items())
    ]


def learn(model: Qwen3ForCausalLM, trajectories: list[Trajectory], shift: int = 0) -> dict[str, np.ndarray]:
    """What the learner finds, behind prompts whose tokens are ``shift`` further on. Gives these prompts."""
    prompts = {}
    for one in trajectories:
        own = prompts[one.trajectory_id] = one.prompt_ids + shift
        whole = reference_logprobs(model, [*own.tolist(), *one.token_ids.tolist()])
        one.learner_logprobs = np.array(whole[len(own) - 1 :], np.float32)
    return prompts


def rescore(
    engine: InferenceEngine,
    learner: PreTrainedModel,
    trajectories: list[Trajectory],
    version: int,
    own: dict[str, np.ndarray] | None = None,
    top_p: float = 1.0,
) -> Attribution:
    """What is found; checked for what always holds."""
    sides = learner_side(learner, trajectories, own or {}, top_p=top_p, top_k=0, device=CPU)
    scores = engine.score([[*one.prompt_ids.tolist(), *one.token_ids.tolist()] for one in trajectories])
    found = attribute(trajectories, combine(trajectories, scores, sides), version)
    assert found is not None
    parts = (found.numerics, found.staleness, found.truncation, found.template, found.unexplained)
    assert math.isclose(sum(part.mean for part in parts), found.total_mean, abs_tol=1e-9)
    assert found.numerics.mean_abs < 1e-3
    assert found.unexplained.mean_abs < 1e-3
    return found


def test_truncated_sampling_is_told_from_numerics(
    engine: InferenceEngine, collect: Collect, tied_policy: tuple[Path, Qwen3ForCausalLM], learner: PreTrainedModel
) -> None:
    torch.manual_seed(0)
    trajectories = generate(engine, collect, top_p=0.6)
    learn(tied_policy[1], trajectories)
    found = rescore(engine, learner, trajectories, 0, top_p=0.6)
    assert found.tokens == found.fresh_tokens == sum(one.length for one in trajectories)
    assert found.truncation.mean > 0.05
    assert found.truncation.share > 0.95
    assert found.staleness.mean_abs == found.template.mean_abs == 0.0
    assert attribution_metrics(found)["rollout_corr/cause/truncation"] == found.truncation.mean_abs


def test_staleness_is_what_new_weights_have_changed(
    engine: InferenceEngine, collect: Collect, tied_policy: tuple[Path, Qwen3ForCausalLM], learner: PreTrainedModel
) -> None:
    torch.manual_seed(0)
    trajectories = generate(engine, collect)
    newer = perturbed(tied_policy[1])
    engine.load_weights(1, state(newer))
    learner.load_state_dict(newer.state_dict())
    learn(newer, trajectories)
    found = rescore(engine, learner, trajectories, 1)
    assert found.fresh_tokens == 0
    assert found.staleness.mean > 0.01, "on average the old weights find their own tokens likelier"
    assert found.staleness.share > 0.95
    assert found.truncation.mean_abs == found.template.mean_abs == 0.0


def test_another_template_is_found_in_the_prompt(
    engine: InferenceEngine, collect: Collect, tied_policy: tuple[Path, Qwen3ForCausalLM], learner: PreTrainedModel
) -> None:
    torch.manual_seed(0)
    trajectories = generate(engine, collect)
    own = learn(tied_policy[1], trajectories, shift=5)
    found = rescore(engine, learner, trajectories, 0, own)
    assert found.template.mean_abs > 0.01
    assert found.template.share > 0.95


def test_forced_tokens_take_no_place_in_a_replay(learner: PreTrainedModel) -> None:
    sampled = np.array([True, False, True])
    one = Trajectory(
        trajectory_id="t",
        prompt_ids=np.array([4, 5], np.int32),
        token_ids=np.array([6, 7, 8], np.int32),
        behaviour_logprobs=np.zeros(3, np.float32),
        versions=np.zeros(3, np.int32),
        sampled=sampled,
        finish_reason="stop",
        temperature=1.0,
    )
    side: LearnerSide = learner_side(learner, [one], {}, top_p=0.5, top_k=0, device=CPU)["t"]
    for values in (side.logprobs, side.log_kept):
        assert values.shape == (3,)
        assert values[1] == 0.0 and (values[[0, 2]] < 0.0).all()
