"""Engines in 16 bits and simulated FP8 beside real learners: what differs, what a unified flow and corrections do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from transformers import Qwen3ForCausalLM

from tests.support.about import ENGINES, RANKS
from tests.trainer_core.update.making import make_spec
from tests.worker.engine.policies import VOCAB, perturbed, start, state
from tests.worker.engine.test_mixtures import start as start_mixture
from trainer_core.diagnosis import attribute, mismatch_metrics
from trainer_core.episodes import Credit, Group, Trajectory, Verdict
from trainer_core.spec import RunSpec
from trainer_core.starter.architectures import make_tiny
from trainer_core.update.learner import Learner
from worker.engine import EngineError, Fp8Config, InferenceEngine, Request, Sampling
from worker.engine.fp8 import execution, refusal, simulate
from worker.engine.types import EngineConfig
from worker.learner.probe.check import apply_and_probe
from worker.learner.probe.errors import ProbeFailed
from worker.learner.probe.sequences import probe_sequences
from worker.learner.weights import bundle
from worker.loop.rescoring import combine

ABOUT = (*ENGINES, *RANKS)
Policy = tuple[Path, Qwen3ForCausalLM]
PROBES = probe_sequences(VOCAB, 128)
WEIGHTS_ALONE = {"type": "fp8", "activations": False}


def made(precision: str, engine: dict[str, Any], **parts: Any) -> RunSpec:
    return make_spec(
        precision={"type": precision},
        rollout={"group_size": 4, "max_tokens": 60, "engine": {"max_model_len": 128, **engine}},
        **parts,
    )


@pytest.fixture(scope="module", autouse=True)
def local_rank() -> Iterator[None]:
    """vLLM has a process group here already, so that the learner makes none and sets nothing for DeepSpeed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOCAL_RANK", "0")
        yield


@pytest.fixture(scope="module")
def fp8_engine(shared_engine: InferenceEngine, tied_policy: Policy) -> InferenceEngine:
    """Weights alone in FP8. Shares vLLM's process-wide parts with ``shared_engine``, which closes them."""
    return start(tied_policy[0], fp8=Fp8Config("channel", activations=False))


@pytest.fixture(scope="module")
def learners(tied_policy: Policy) -> dict[str, Learner]:
    quantization = {"quantization": {**WEIGHTS_ALONE, "scales": "channel"}}
    return {name: Learner(tied_policy[0], made(name, quantization)) for name in ("float32", "unified")}


@pytest.fixture(scope="module")
def groups(fp8_engine: InferenceEngine) -> Iterator[list[Group]]:
    """Completions of the FP8 engine at version 0, half of each group's right."""
    torch.manual_seed(0)
    for number in range(16):
        fp8_engine.submit(Request(f"{number}", (3, 4, 5 + number // 4), Sampling(1.0, max_tokens=24)))
    done = {}
    while fp8_engine.has_unfinished:
        done |= {one.request_id: one for one in fp8_engine.step()}
    found = [Group(f"g{g}", f"a:{g}", "a", "a@1", {}, "", 0, trajectories=[]) for g in range(4)]
    for number in range(16):
        one = done[f"{number}"]
        found[number // 4].trajectories.append(
            Trajectory(
                trajectory_id=f"t{number}",
                prompt_ids=np.array(one.prompt_ids, np.int32),
                token_ids=np.array(one.token_ids, np.int32),
                behaviour_logprobs=np.array(one.logprobs, np.float32),
                versions=np.array(one.versions, np.int32),
                sampled=np.array(one.sampled),
                finish_reason=one.finish_reason,
                temperature=1.0,
                verdict=Verdict(reward=float(number % 2)),
                credit=Credit(advantage=2.0 * (number % 2) - 1.0),
            )
        )
    yield found


def everybody(groups: list[Group]) -> list[Trajectory]:
    return [trajectory for group in groups for trajectory in group.trajectories]


def scored(learner: Learner, groups: list[Group]) -> list[Trajectory]:
    """The completions with what the learner finds in its own precision."""
    trajectories = everybody(groups)
    sides = learner.rescore(trajectories, {}, 1.0, 0)
    for one in trajectories:
        one.learner_logprobs = np.array(sides[one.trajectory_id].logprobs, np.float32)
    return trajectories


def test_mismatch_rises_with_fp8_and_falls_to_float_noise_under_a_unified_flow(
    fp8_engine: InferenceEngine, learners: dict[str, Learner], groups: list[Group]
) -> None:
    found, causes = {}, {}
    for name, learner in learners.items():
        trajectories = scored(learner, groups)
        found[name] = mismatch_metrics(trajectories, 0)
        scores = fp8_engine.score([[*one.prompt_ids.tolist(), *one.token_ids.tolist()] for one in trajectories])
        causes[name] = attribute(
            trajectories, combine(trajectories, scores, learner.rescore(trajectories, {}, 1.0, 0)), 0
        )
    assert found["float32"]["rollout_corr/k3_kl"] > 1e-2 and found["float32"]["rollout_corr/max_abs_logp_diff"] > 0.3
    assert found["unified"]["rollout_corr/k3_kl"] < 1e-8 and found["unified"]["rollout_corr/max_abs_logp_diff"] < 1e-4
    plain, unified = causes["float32"], causes["unified"]
    assert plain is not None and unified is not None
    assert plain.numerics.mean_abs > 0.1 and unified.numerics.mean_abs < 1e-5
    assert max(plain.staleness.mean_abs, unified.staleness.mean_abs) < 1e-4


@pytest.mark.parametrize(
    "correction", [{"type": "truncated_is", "ratio_max": 1.2}, {"type": "icepop", "ratio_min": 0.8, "ratio_max": 1.2}]
)
def test_corrections_weigh_what_fp8_has_sampled_and_have_nothing_to_do_under_a_unified_flow(
    tied_policy: Policy, groups: list[Group], correction: dict[str, Any]
) -> None:
    quantization = {"quantization": {**WEIGHTS_ALONE, "scales": "channel"}}
    metrics = {}
    for name in ("float32", "unified"):
        spec = made(name, quantization, corrections=[correction])
        metrics[name] = Learner(tied_policy[0], spec).update(groups, spec, 1)
    changed = (
        "rollout_corr/rollout_is_truncated_share"
        if correction["type"] == "truncated_is"
        else "rollout_corr/rollout_is_masked_share"
    )
    assert metrics["unified"][changed] == 0.0 < 0.05 < metrics["float32"][changed]


def test_the_probe_is_sharp_whatever_the_learner_trains_in(
    fp8_engine: InferenceEngine, learners: dict[str, Learner], tied_policy: Policy
) -> None:
    tolerance = made("float32", {"quantization": WEIGHTS_ALONE}).rollout.engine.tolerance
    assert tolerance == 0.05
    for learner in learners.values():
        weights = bundle(learner, PROBES)
        assert apply_and_probe(fp8_engine, weights, tolerance).largest < 1e-4
        for name, tensor in state(perturbed(tied_policy[1], seed=1)).items():
            weights.tensors[name] = tensor
        with pytest.raises(ProbeFailed):
            apply_and_probe(fp8_engine, weights, tolerance)
    assert fp8_engine.stats().fp8_simulated is True
    fp8_engine.load_weights(0, state(tied_policy[1]))


@pytest.mark.expensive(1, "starts an engine and two learners", about=ABOUT)
def test_activations_in_fp8_fall_either_way_but_mostly_alike(
    shared_engine: InferenceEngine, tied_policy: Policy
) -> None:
    engine = start(tied_policy[0], fp8=Fp8Config("block"))
    differences = {}
    for name in ("float32", "unified"):
        learner = Learner(tied_policy[0], made(name, {"quantization": {"type": "fp8"}}))
        sides = learner.rescore([_as_trajectory(sequence) for sequence in PROBES], {}, 1.0, 0)
        pairs = zip(engine.score(PROBES), [sides[str(sequence)].logprobs for sequence in PROBES], strict=True)
        differences[name] = np.concatenate([np.abs(np.array(mine[1:]) - theirs) for mine, theirs in pairs])
    assert differences["unified"].mean() < differences["float32"].mean() / 4
    assert differences["unified"].max() < made("unified", {"quantization": {"type": "fp8"}}).rollout.engine.tolerance


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("qwen3_moe", marks=pytest.mark.expensive(5, "starts an engine and three learners")),
        pytest.param("mixtral", marks=pytest.mark.expensive(5, "starts an engine and three learners", about=ABOUT)),
    ],
)
def test_experts_with_weights_in_fp8_are_those_of_a_unified_learner(
    shared_engine: InferenceEngine, tmp_path: Path, name: str
) -> None:
    """Each expert's matrix is quantised by itself, at the start as in an update; the router is not."""
    make_tiny(name, tmp_path)
    engine = start_mixture(tmp_path, fp8=Fp8Config("block", activations=False))
    learner = Learner(tmp_path, made("unified", {"quantization": WEIGHTS_ALONE}))
    for scale in (1.0, 1.1):
        with torch.no_grad():
            for parameter in learner._parts.model.parameters():
                parameter.mul_(scale)
        weights = bundle(learner, PROBES)
        passed = apply_and_probe(engine, weights, 0.05)
        assert (passed.largest < 1e-4, passed.read_share) == (True, 1.0)
    trajectory = _as_trajectory(PROBES[0])
    unrounded = Learner(tmp_path, made("float32", {"quantization": WEIGHTS_ALONE}))
    mine, theirs = (
        one.rescore([trajectory], {}, 1.0, 0)[str(PROBES[0])].logprobs
        for one in (Learner(tmp_path, made("unified", {"quantization": WEIGHTS_ALONE})), unrounded)
    )
    assert np.abs(mine - theirs).max() > 0.01


def _as_trajectory(sequence: list[int]) -> Trajectory:
    tokens = np.array(sequence[2:], np.int32)
    return Trajectory(
        trajectory_id=str(sequence),
        prompt_ids=np.array(sequence[:2], np.int32),
        token_ids=tokens,
        behaviour_logprobs=np.zeros(len(tokens), np.float32),
        versions=np.zeros(len(tokens), np.int32),
        sampled=np.ones(len(tokens), np.bool_),
        finish_reason="stop",
        temperature=1.0,
        verdict=Verdict(reward=0.0),
        credit=Credit(advantage=0.0),
    )


@pytest.mark.expensive(3, "starts two engines and two learners", about=ABOUT)
def test_float16_is_nearer_to_the_learner_than_bfloat16(shared_engine: InferenceEngine, tied_policy: Policy) -> None:
    other, worst = perturbed(tied_policy[1]), {}
    for dtype in ("float16", "bfloat16"):
        settings = {"dtype": dtype, "lm_head_dtype": "float32"}
        engine = start(tied_policy[0], **settings)
        learner = Learner(tied_policy[0], made("unified", settings))
        weights = bundle(learner, PROBES)
        tolerance = made("unified", settings).rollout.engine.tolerance
        worst[dtype] = apply_and_probe(engine, weights, tolerance).largest
        engine.load_weights(1, state(other))
        engine.submit(Request("r", (3, 4, 5), Sampling(1.0, max_tokens=8)))
        done = [completion for _ in range(8) for completion in engine.step()]
        assert [len(completion.token_ids) for completion in done] == [8]
        assert engine.stats().fp8_simulated is None
    assert worst["float16"] < worst["bfloat16"] / 3


def test_hardware_is_refused_where_there_is_none(tied_policy: Policy) -> None:
    asked = Fp8Config(execution="hardware")
    if refusal(asked, "bfloat16") is None:
        pytest.skip("this machine has FP8 hardware")
    with pytest.raises(EngineError, match=r"refused: FP8 by hardware needs (a CUDA GPU|compute capability 8\.9)"):
        start(tied_policy[0], dtype="bfloat16", fp8=asked)
    for fp8, dtype, lacks in (
        (asked, "float32", "a dtype of 16 bits, not float32"),
        (Fp8Config(activations=False, execution="hardware"), "bfloat16", "activations in FP8, not only weights"),
    ):
        with pytest.raises(EngineError, match=f"refused: FP8 by hardware needs {lacks}"):
            execution(EngineConfig(str(tied_policy[0]), dtype=dtype, fp8=fp8))
    assert execution(EngineConfig(str(tied_policy[0]), fp8=Fp8Config())) == "simulated"
    assert execution(EngineConfig(str(tied_policy[0]))) is None


def test_fused_experts_are_refused_in_a_simulation(shared_engine: InferenceEngine) -> None:
    model = nn.Module()
    model.w13_weight = nn.Parameter(torch.zeros(2, 4, 4))
    with pytest.raises(EngineError, match=r"cannot be simulated in fused experts \(w13_weight\)"):
        simulate(model, Fp8Config())
