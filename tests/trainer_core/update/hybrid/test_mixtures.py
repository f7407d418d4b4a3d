"""Mixtures of experts in the learner: scored as transformers scores them, balanced, replayed, saved and adapted."""

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM

from tests.trainer_core.update.hybrid.hybrids import own_logprobs
from tests.trainer_core.update.making import make_groups, make_spec
from tests.worker.engine.mixtures import drawn, files, largest_difference, make_mixture
from tests.worker.engine.mixtures import own_logprobs as plain_logprobs
from trainer_core.planning.policy_size import PolicySize
from trainer_core.update.hybrid.router import BIAS, routers
from trainer_core.update.learner import Learner
from trainer_core.update.model.policy import load_policy, score
from trainer_core.update.packed.attention import UnsupportedPolicy
from trainer_core.update.packed.packing import pack

GROUPS = {"n_group": 4, "topk_group": 1}
MIXTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "qwen3_moe": ("qwen3_moe", {"norm_topk_prob": False}),
    "mixtral": ("mixtral", {}),
    "gpt_oss": ("gpt_oss", {"tie_word_embeddings": True}),
    "deepseek_v2": ("deepseek_v2", {**GROUPS, "topk_method": "group_limited_greedy"}),
    "deepseek_v3": ("deepseek_v3", {"n_group": 4, "topk_group": 2}),
}
SENT = {"qwen3_moe": 3, "mixtral": 3, "gpt_oss": 4, "deepseek_v2": 2, "deepseek_v3": 2}
"""Layers with routers."""
KEY = {
    "qwen3_moe": "q_proj",
    "mixtral": "q_proj",
    "gpt_oss": "q_proj",
    "deepseek_v2": "q_proj",
    "deepseek_v3": "q_b_proj",
}


@pytest.fixture(scope="module", params=MIXTURES)
def mixture(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path, Any]:
    name, settings = MIXTURES[request.param]
    folder = tmp_path_factory.mktemp(name)
    return name, folder, make_mixture(name, folder, seed=3, **settings)


def test_packed_scores_and_gradients_are_those_of_single_sequences(mixture: tuple[str, Path, Any]) -> None:
    name, folder, own = mixture
    own.zero_grad()
    model = load_policy(folder)
    assert len(routers(model)) == SENT[name]
    given = [one for group in make_groups(3) for one in group.trajectories]
    for batch in pack(given, 4096):
        found, _ = score(model, batch)
        weight = torch.randn(len(found), generator=torch.Generator().manual_seed(1))
        (found * weight).sum().backward()
        for index in batch.sequence.unique().tolist():
            mine = batch.sequence == index
            expected = own_logprobs(own, given[index])
            torch.testing.assert_close(found[mine], expected, rtol=1e-3, atol=1e-3)
            (expected * weight[mine]).sum().backward()
    theirs = dict(own.named_parameters())
    for parameter_name, parameter in model.named_parameters():
        expected_gradient = theirs[parameter_name].grad
        scale = float(expected_gradient.abs().max())
        assert float((parameter.grad - expected_gradient).abs().max()) <= 1e-3 * scale + 1e-6, parameter_name


def test_a_checkpoint_scores_in_transformers_as_in_the_learner(mixture: tuple[str, Path, Any], tmp_path: Path) -> None:
    """Balanced and with the bias of its routers, under the names of its files; and it goes on from there."""
    name, folder, _ = mixture
    balance = "loss_free" if name == "deepseek_v3" else "auxiliary_loss"
    spec = make_spec(policy={"base": name, "routing": {"balance": {"type": balance}}})
    learner, resumed = Learner(folder, spec), Learner(folder, spec)
    metrics = learner.update(make_groups(1), spec, 1)
    assert metrics["moe/router_entropy"] > 0
    learner.save(tmp_path / "c")
    theirs = AutoModelForCausalLM.from_pretrained(tmp_path / "c").eval()
    if name == "deepseek_v3":
        assert metrics["moe/bias_spread"] > 0
        before = {n: b for n, b in AutoModelForCausalLM.from_pretrained(folder).named_buffers() if n.endswith(BIAS)}
        after = {n: b for n, b in theirs.named_buffers() if n.endswith(BIAS)}
        assert before and all(not torch.equal(before[n], after[n]) for n in before)
    [sequence] = drawn([60])
    [scored] = learner.score([sequence])
    assert largest_difference([scored], [plain_logprobs(theirs, sequence)]) < 1e-3
    resumed.load(tmp_path / "c")
    assert resumed.update(make_groups(2), spec, 2) == learner.update(make_groups(2), spec, 2)


def test_adapters_stand_beside_attention_and_joint_experts_rest(mixture: tuple[str, Path, Any]) -> None:
    name, folder, _ = mixture
    spec = make_spec(policy={"base": name, "adapter": {"type": "lora", "rank": 4}})
    learner = Learner(folder, spec)
    before = learner.weights()
    assert before.keys() == files(folder).keys()
    added = sum(rows * columns for rows, columns in learner._engine.shapes().values())
    assert PolicySize.of(folder).adapter_parameters(spec.policy.adapter) == added
    learner.update(make_groups(1), spec, 1)
    moved = {key for key, value in learner.weights().items() if (value != before[key]).any()}
    assert any(key.endswith(f"{KEY[name]}.weight") for key in moved)
    assert not any(".experts." in key for key in moved)
    wanted = make_spec(policy={"base": name, "adapter": {"type": "lora", "target_modules": ["up_proj"]}})
    with pytest.raises(UnsupportedPolicy, match=r"no linear layer 'up_proj' to adapt; it has .*o_proj"):
        Learner(folder, wanted)


def test_a_bias_that_no_engine_reads_is_refused(tmp_path: Path) -> None:
    make_mixture("qwen3_moe", tmp_path, seed=0)
    spec = make_spec(policy={"base": "mixture", "routing": {"balance": {"type": "loss_free"}}})
    with pytest.raises(ValueError, match=r"auxiliary_loss fits every mixture of experts"):
        Learner(tmp_path, spec)
