"""Packed scores and gradients of a hybrid policy are transformers' own, sequence by sequence."""

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import MiniMaxForCausalLM

from tests.support.about import LEARNING
from tests.trainer_core.update.hybrid.hybrids import own_logprobs
from tests.trainer_core.update.making import make_groups, make_spec
from tests.trainer_core.update.test_prefixes import branched
from trainer_core.episodes import Trajectory
from trainer_core.update.hybrid.policy import prepare
from trainer_core.update.learner import Learner
from trainer_core.update.model.policy import load_policy, logits, score
from trainer_core.update.packed import attention, prefixes
from trainer_core.update.packed.attention import UnsupportedPolicy
from trainer_core.update.packed.packing import Packing, pack
from trainer_core.update.packed.runs import build_runs
from trainer_core.update.packed.segment import Segment


def trajectories(seed: int = 3) -> list[Trajectory]:
    return [trajectory for group in make_groups(seed, groups=3, samples=3) for trajectory in group.trajectories]


@pytest.mark.parametrize("share", [True, False])
@pytest.mark.parametrize("budget", [4096, 90])
def test_packed_scores_and_gradients_are_those_of_single_sequences(
    hybrid_dir: Path, share: bool, budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, packed = (
        MiniMaxForCausalLM.from_pretrained(
            hybrid_dir, dtype=torch.float64, attn_implementation=name, experts_implementation="eager"
        ).eval()
        for name in ("eager", attention.register())
    )
    for layer in own.modules():
        if hasattr(layer, "decay_factors"):  # they lie in the file rounded to float32
            layer.query_decay, layer.key_decay, layer.diagonal_decay = layer.decay_factors(layer.slope_rate)
    prepare(packed, hybrid_dir)
    monkeypatch.setattr(prefixes, "LEAST_SHARED", 4)
    given = [*trajectories(), *branched()]
    batches = pack(given, Packing(budget, share))
    # Norms, softmax and routers cast to float32 by name: from here on that name means float64.
    monkeypatch.setattr(torch, "float32", torch.float64)
    monkeypatch.setattr(torch.Tensor, "float", torch.Tensor.double)
    weights = torch.Generator().manual_seed(1)
    for batch in batches:
        scaled = logits(packed, batch) / batch.temperature.unsqueeze(1)
        found = scaled.log_softmax(-1).gather(1, batch.targets.unsqueeze(1))[:, 0]
        weight = torch.randn(len(found), generator=weights, dtype=torch.float64)
        (found * weight).sum().backward()
        for index in batch.sequence.unique().tolist():
            mine = batch.sequence == index
            expected = own_logprobs(own, given[index])
            torch.testing.assert_close(found[mine], expected, rtol=1e-9, atol=1e-9)
            (expected * weight[mine]).sum().backward()
    theirs = dict(own.named_parameters())
    for name, parameter in packed.named_parameters():
        torch.testing.assert_close(parameter.grad, theirs[name].grad, rtol=1e-8, atol=1e-8, msg=lambda m, n=name: n + m)


def test_a_learner_scores_it_with_checkpointed_activations_as_without(hybrid_dir: Path) -> None:
    found = []
    for checkpointing in (False, True):
        spec = make_spec(policy={"base": "hybrid", "gradient_checkpointing": checkpointing})
        learner = Learner(hybrid_dir, spec)
        metrics = learner.update(make_groups(5), spec, 1)
        found.append((metrics["actor/grad_norm"], learner.weights()))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-5)
    for name, weight in found[0][1].items():
        np.testing.assert_allclose(found[1][1][name], weight, rtol=1e-3, atol=2e-5)


def test_batch_invariant_scores_do_not_depend_on_the_batch(hybrid_dir: Path) -> None:
    model, given = load_policy(hybrid_dir), trajectories()
    how = Packing(4096, alone=True)
    together = {int(batch.sequence[0]): score(model, batch)[0] for batch in pack(given, how)}
    for index, trajectory in enumerate(given):
        assert torch.equal(score(model, pack([trajectory], how)[0])[0], together[index])


@pytest.mark.expensive(8, "three learners", about=LEARNING)
@pytest.mark.parametrize("stage", [1, 3])
def test_it_trains_under_zero_and_resumes(hybrid_dir: Path, tmp_path: Path, stage: int) -> None:
    spec = make_spec(parallelism={"zero_stage": stage})
    learner, resumed = Learner(hybrid_dir, spec), Learner(hybrid_dir, spec)
    learner.update(make_groups(1), spec, 1)
    saved = learner.save(tmp_path / "c")
    assert saved is not None
    resumed.load(tmp_path / "c")
    metrics = [each.update(make_groups(2), spec, 2) for each in (learner, resumed)]
    assert metrics[0] == metrics[1] and metrics[0]["actor/grad_norm"] > 0
    # Any loader reads the checkpoint: the decay's constants follow from its configuration.
    theirs = MiniMaxForCausalLM.from_pretrained(tmp_path / "c", attn_implementation="eager").eval()
    ours = load_policy(tmp_path / "c")
    [batch] = pack(trajectories()[:1], 4096)
    torch.testing.assert_close(score(ours, batch)[0], own_logprobs(theirs, trajectories()[0]), rtol=1e-4, atol=1e-4)


def test_a_state_needs_a_run_that_it_goes_on_from() -> None:
    prompt, turn = Segment(0, 4), Segment(4, 6, ((0, 4),))
    assert build_runs([prompt, turn, Segment(6, 9, ((0, 4), (4, 6)))]) is not None
    assert build_runs([prompt, Segment(4, 6, ((0, 3),))]) is None, "the state is that after the whole prompt"
    assert build_runs([prompt, turn, Segment(6, 9, ((0, 4), (4, 5)))]) is None
    assert build_runs([prompt, turn, Segment(6, 9, ((0, 3), (4, 6)))]) is None


def test_other_layers_with_a_state_are_refused(tmp_path: Path) -> None:
    from transformers import Qwen3NextConfig, Qwen3NextForCausalLM

    config = Qwen3NextConfig(
        vocab_size=8, hidden_size=32, num_hidden_layers=2, intermediate_size=16, moe_intermediate_size=8, num_experts=2
    )
    config.layer_types = ["linear_attention", "full_attention"]
    Qwen3NextForCausalLM(config).save_pretrained(tmp_path)
    with pytest.raises(UnsupportedPolicy, match="layers of type linear_attention would mix packed sequences"):
        load_policy(tmp_path)
