"""Frozen-weight replay with a real engine: each cause is found where it is, and nowhere else."""

import math

import numpy as np
import torch
from transformers import Qwen3ForCausalLM

from tests.worker.engine.conftest import Collect
from tests.worker.engine.policies import perturbed, reference_logprobs, state
from trainer_core.diagnosis import Attribution, attribute
from trainer_core.trajectory import Trajectory
from worker.engine import Engine, Request, Sampling
from worker.replay import replay

PROMPTS = [tuple(range(3 + n, 11 + n)) for n in range(6)]


def generate(engine: Engine, collect: Collect, **sampling: float) -> list[Trajectory]:
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


def told(found: Attribution | None) -> Attribution:
    assert found is not None
    parts = (found.numerics, found.staleness, found.truncation, found.template, found.unexplained)
    assert math.isclose(sum(part.mean for part in parts), found.total_mean, abs_tol=1e-9)
    assert found.numerics.mean_abs < 1e-3
    assert found.unexplained.mean_abs < 1e-3
    return found


def test_truncated_sampling_is_told_from_numerics(
    engine: Engine, collect: Collect, tied_policy: tuple[object, Qwen3ForCausalLM]
) -> None:
    torch.manual_seed(0)
    trajectories = generate(engine, collect, top_p=0.6)
    learn(tied_policy[1], trajectories)
    found = told(attribute(trajectories, replay(engine, tied_policy[1], trajectories, top_p=0.6), 0))
    assert found.tokens == found.fresh_tokens == sum(one.length for one in trajectories)
    assert found.truncation.mean > 0.05
    assert found.truncation.share > 0.95
    assert found.staleness.mean_abs == found.template.mean_abs == 0.0


def test_staleness_is_what_new_weights_have_changed(
    engine: Engine, collect: Collect, tied_policy: tuple[object, Qwen3ForCausalLM]
) -> None:
    torch.manual_seed(0)
    trajectories = generate(engine, collect)
    newer = perturbed(tied_policy[1])
    engine.load_weights(1, state(newer))
    learn(newer, trajectories)
    found = told(attribute(trajectories, replay(engine, newer, trajectories), 1))
    assert found.fresh_tokens == 0
    assert found.staleness.mean > 0.01, "on average the old weights find their own tokens likelier"
    assert found.staleness.share > 0.95
    assert found.truncation.mean_abs == found.template.mean_abs == 0.0


def test_another_template_is_found_in_the_prompt(
    engine: Engine, collect: Collect, tied_policy: tuple[object, Qwen3ForCausalLM]
) -> None:
    torch.manual_seed(0)
    trajectories = generate(engine, collect)
    own = learn(tied_policy[1], trajectories, shift=5)
    found = told(attribute(trajectories, replay(engine, tied_policy[1], trajectories, own_prompts=own), 0))
    assert found.template.mean_abs > 0.01
    assert found.template.share > 0.95
