"""Rows learned by several ranks: they make the update of one, and agree on what held-out rows cost."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.about import RANKS
from tests.trainer_core.update.rows import make_examples, make_neighbour, make_pairs, rows_spec
from trainer_core.spec import RunSpec
from trainer_core.starter.architectures import make_tiny
from trainer_core.update.learner import Learner
from worker.learner.ranks import LearnerGroup
from worker.learner.stage import LearningStage

pytestmark = [
    pytest.mark.live,
    pytest.mark.expensive(6, "learns on ranks in other processes", about=RANKS),
    pytest.mark.usefixtures("kept_ranks"),
]

CUTS: dict[str, dict[str, Any]] = {
    "zero 0": {},
    "zero 2": {"zero_stage": 2},
    "zero 3": {"zero_stage": 3},
    "shared tokens": {"context_parallel_size": 2, "zero_stage": 1, "max_tokens_per_microbatch": 80},
}
MIXTURE: dict[str, Any] = {"base": "tiny", "routing": {"balance": {"type": "auxiliary_loss", "coefficient": 0.1}}}


def specs(objective: dict[str, Any], cut: dict[str, Any], **parts: Any) -> tuple[RunSpec, RunSpec]:
    """For one rank, and for two."""
    shared = {"learner_ranks": 2, "max_tokens_per_microbatch": 160, **cut}
    return rows_spec(objective, **parts), rows_spec(objective, **parts, parallelism=shared)


def assert_alike(folder: Path, whole: RunSpec, shared: RunSpec, make: Any, reference: Path | None = None) -> None:
    """Two steps and held-out rows of two ranks are those of one; the last step cannot feed both ranks."""
    alone = Learner(folder, whole, reference=reference)
    group = LearnerGroup(folder, shared, reference=reference)
    try:
        for step, count in ((1, 9), (2, 1)):
            expected = alone.update(make(step, count), whole, step)
            found = group.update(make(step, count), shared, step)
            assert found == pytest.approx(expected, rel=2e-4, abs=1e-6)
        held_out = group.held_out(make(3, 7), shared)
        assert held_out == pytest.approx(alone.held_out(make(3, 7), whole), rel=1e-4, abs=1e-6)
        assert held_out
        assert group.held_out([], shared) == {}
        bundle = group.publish().open()
        assert bundle.version == group.version == 2
        for name, weight in alone.weights().items():
            np.testing.assert_allclose(bundle.tensors[name], weight, atol=2e-6)
    finally:
        group.close()


@pytest.mark.parametrize("cut", CUTS)
def test_two_ranks_learn_examples_as_one(policy_dir: Path, cut: str) -> None:
    whole, shared = specs({"type": "sft", "noise": 5.0}, CUTS[cut])
    assert_alike(policy_dir, whole, shared, make_examples)


@pytest.mark.parametrize("cut", CUTS)
def test_two_ranks_learn_pairs_as_one(policy_dir: Path, tmp_path: Path, cut: str) -> None:
    objective = {"type": "preference", "loss": {"type": "dpo", "beta": 0.3}, "sft_coefficient": 0.2}
    whole, shared = specs(objective, CUTS[cut])
    assert_alike(policy_dir, whole, shared, make_pairs, make_neighbour(policy_dir, tmp_path))


def test_two_ranks_compare_an_adapter_with_its_base_as_one(policy_dir: Path) -> None:
    objective = {"type": "preference", "loss": {"type": "ipo"}}
    adapted = {"base": "tiny", "adapter": {"type": "lora", "rank": 4}}
    whole, shared = specs(objective, {"zero_stage": 3}, policy=adapted)
    alone, group = Learner(policy_dir, whole), LearnerGroup(policy_dir, shared)
    try:
        for step in (1, 2):
            expected, found = (
                {key: value for key, value in told.items() if step > 1 or key != "preference/accuracy"}
                for told in (alone.update(make_pairs(step), whole, step), group.update(make_pairs(step), shared, step))
            )
            # At first, rounding decides the order of equal rewards.
            assert found == pytest.approx(expected, rel=2e-4, abs=1e-6)
    finally:
        group.close()


def test_two_ranks_balance_experts_as_one(tmp_path: Path) -> None:
    whole, shared = specs({"type": "sft"}, {}, policy=MIXTURE)
    folder = make_tiny("mixtral", tmp_path / "policy")
    metrics = Learner(folder, whole).update(make_examples(1), whole, 1)
    assert metrics["moe/aux_loss"] > 0.0
    assert metrics["actor/loss"] == pytest.approx(metrics["sft/loss"], rel=1e-6)
    assert_alike(folder, whole, shared, make_examples)


def test_the_stage_queues_held_out_rows_behind_the_update(policy_dir: Path) -> None:
    spec, stage = rows_spec({"type": "sft"}), LearningStage()
    alone = Learner(policy_dir, spec)
    try:
        stage.start(policy_dir, spec, {}, None).result()
        before, update, after = (
            stage.held_out(make_examples(2), spec),
            stage.learn(make_examples(1), spec, 1),
            stage.held_out(make_examples(2), spec),
        )
        assert before.result() == pytest.approx(alone.held_out(make_examples(2), spec), rel=1e-5)
        learned = update.result()
        assert learned.metrics == pytest.approx(alone.update(make_examples(1), spec, 1), rel=1e-5)
        assert learned.version == 1 and learned.weights is None, "no engine asks for weights"
        assert after.result() == pytest.approx(alone.held_out(make_examples(2), spec), rel=1e-5)
        assert after.result() != before.result()
        assert stage.learn([], spec, 2).result().version == 1
    finally:
        stage.close()
