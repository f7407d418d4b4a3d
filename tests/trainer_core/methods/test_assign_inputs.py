"""What assign hands to the methods beside the rewards, and the samples that it leaves out."""

import pytest

from tests.trainer_core.batches import group, rewarded, trajectory
from tests.trainer_core.specs import document
from trainer_core.methods.advantages.assign import _minibatch, assign
from trainer_core.spec import RunSpec
from trainer_core.spec.methods.advantage import MagistralAdvantage, MCGRPOAdvantage, OPOAdvantage, VCPOAdvantage
from trainer_core.update.packed.sharding import minibatches


def test_lengths_are_sampled_tokens() -> None:
    forced = trajectory(0.0, length=6)
    forced.sampled[1:4] = False
    batch = [group([trajectory(1.0, length=1), forced])]
    assign(OPOAdvantage(), batch)
    assert [t.advantage for t in batch[0].trajectories] == [0.75, -0.25]


def test_importance_is_numbered_through_all_groups_and_missing_ones_are_unknown() -> None:
    batch = [rewarded(1.0, 0.0), rewarded(1.0, 0.0, 1.0)]
    assign(VCPOAdvantage(), batch, importance={0: 1.0, 1: 2.0, 2: 1.0, 3: 1.0})
    assert [t.advantage for t in batch[0].trajectories] == pytest.approx([0.8, -0.2])
    assert [t.advantage for t in batch[1].trajectories] == [0.5, -0.5, 0.5]
    assign(VCPOAdvantage(), batch)
    assert [t.advantage for t in batch[0].trajectories] == [0.5, -0.5]


def test_pivots_are_left_out_of_the_loss_unless_they_are_already() -> None:
    batch = [rewarded(1.0, 0.0, 0.0), rewarded(1.0, 1.0, 1.0)]
    batch[0].trajectories[1].excluded = "truncated"
    assign(MCGRPOAdvantage(), batch)
    assert [[t.excluded for t in group.trajectories] for group in batch] == [[None, "truncated", None], [None] * 3]
    batch = [rewarded(1.0, 0.0, 0.0)]
    assign(MCGRPOAdvantage(), batch)
    assert [t.excluded for t in batch[0].trajectories] == [None, "pivot", None]


@pytest.mark.parametrize(("groups", "count"), [(4, 1), (4, 2), (7, 3), (5, 4)])
def test_minibatches_are_the_learners(groups: int, count: int) -> None:
    batch = [rewarded(1.0, 0.0, index=index) for index in range(groups)]
    cut = [{id(t) for t in part} for part in minibatches(batch, count)]
    numbers = _minibatch(groups, count).tolist()
    for index, group_ in enumerate(batch):
        assert id(group_.trajectories[0]) in cut[numbers[index]]


def test_magistral_uses_them() -> None:
    batch = [rewarded(1.0, 0.0), rewarded(8.0, 0.0)]
    assign(MagistralAdvantage(epsilon=0.0), batch, minibatches=2)
    assert [[t.advantage for t in group.trajectories] for group in batch] == [[1.0, -1.0], [1.0, -1.0]]


@pytest.mark.parametrize(
    ("advantage", "size", "message"),
    [
        ({"type": "mc_grpo"}, 8, "8 is not odd"),
        ({"type": "pass_k", "k": 9}, 8, "no sets of 9 samples"),
        ({"type": "gdpo"}, 1, "compares the samples of a group"),
        ({"type": "reinforce_pp_baseline"}, 1, "compares the samples of a group"),
    ],
)
def test_group_sizes_that_a_method_cannot_use_are_refused(advantage: dict, size: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RunSpec.model_validate(document(advantage=advantage, rollout={"group_size": size}))


@pytest.mark.parametrize("kind", ["reinforce", "reinforce_pp"])
def test_methods_that_compare_with_the_batch_need_no_groups(kind: str) -> None:
    spec = RunSpec.model_validate(document(advantage={"type": kind}, rollout={"group_size": 1}))
    assert spec.advantage.compares == "batch"


def test_weights_that_the_learner_would_overwrite_are_refused() -> None:
    reward = {"definition": "calculation@1", "length": {"type": "decoupled"}}
    with pytest.raises(ValueError, match="the learner recomputes under vcpo"):
        RunSpec.model_validate(document(advantage={"type": "vcpo"}, reward=reward))
