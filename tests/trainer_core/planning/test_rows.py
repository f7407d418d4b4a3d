"""Plans of runs that learn from rows, worked out by hand: 110 tokens a sequence, 440 a second and rank."""

from typing import Any

import pytest

from tests.trainer_core.planning.rates_for_planning import rates
from trainer_core.planning import PlanError, plan
from trainer_core.spec import RunSpec


def spec(objective: dict[str, Any], prompts: int = 4, **parts: Any) -> RunSpec:
    return RunSpec.model_validate(
        {
            "policy": {"base": "any"},
            "data": {"sources": [{"name": "a", "dataset": "rows@1"}]},
            "objective": {"max_tokens": 1000, **objective},
            "schedule": {"steps": 100, "prompts_per_step": prompts},
            **parts,
        }
    )


def preference(loss: str) -> dict[str, Any]:
    return {"type": "preference", "loss": {"type": loss}}


def test_a_step_takes_as_long_as_its_tokens() -> None:
    found = plan(spec({"type": "sft"}), 1, rates(), price=2.0)
    (best,) = found.modes
    assert (best.rollout_gpus, best.rollout_workers, best.learner_ranks, best.generate_seconds) == (0, 0, 1, 0.0)
    assert best.learn_seconds == pytest.approx(1.0 + 0.5)
    assert best.step_seconds == pytest.approx(1.5 + 0.75)
    assert best.total_seconds == pytest.approx(225.0)
    assert best.cost == pytest.approx(2.0 * 225.0 / 3600)
    assert best.tokens_per_s == pytest.approx(400 / 2.25)
    assert found.mean_tokens == pytest.approx(100.0)
    assert found.current == best


@pytest.mark.parametrize(("loss", "passes"), [("dpo", 4 / 3), ("ipo", 4 / 3), ("simpo", 1.0), ("orpo", 1.0)])
def test_pairs_are_two_sequences_and_a_reference_one_more_pass(loss: str, passes: float) -> None:
    (best,) = plan(spec(preference(loss), prompts=2), 1, rates()).modes
    assert best.learn_seconds == pytest.approx(passes * 1.0 + 0.5)


def test_more_gpus_are_more_ranks_up_to_the_examples_of_a_minibatch() -> None:
    (best,) = plan(spec({"type": "sft"}), 16, rates()).modes
    assert (best.learner_ranks, best.unused_gpus, best.learn_seconds) == (4, 12, pytest.approx(0.25 + 0.5))
    assert plan(spec({"type": "sft"}), 16, rates()).current.learner_ranks == 1


def test_examples_are_no_longer_than_the_objective_allows() -> None:
    (best,) = plan(spec({"type": "sft", "max_tokens": 55}), 1, rates()).modes
    assert best.learn_seconds == pytest.approx(0.5 + 0.5)


def test_too_few_gpus_for_the_ranks_that_share_tokens_are_refused() -> None:
    shared = {"learner_ranks": 2, "context_parallel_size": 2}
    with pytest.raises(PlanError, match="the learner needs 2 GPUs, not 1"):
        plan(spec({"type": "sft"}, parallelism=shared), 1, rates())
