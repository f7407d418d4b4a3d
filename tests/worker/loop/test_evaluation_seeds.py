"""Evaluations draw the same each time, whatever else the engines do meanwhile."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.trainer_core.specs import document
from trainer_core.spec import RunSpec
from worker.engine import Request, Sampling
from worker.loop.evaluation import EvaluationSet, evaluated_before, evaluation_batch
from worker.messages.jobs import GroupJob, Submission
from worker.rollout.worker import RolloutWorker

PROMPT = np.array([1, 2], np.int32)


def seeds(mode: str, step: int, seed: int = 3) -> list[int | None]:
    spec = RunSpec.model_validate(document(rollout={"mode": {"type": mode}}))
    held_out = EvaluationSet("held_out", "eval@1", [{"prompt": "1+1="}] * 4, [PROMPT] * 4)
    batch = evaluation_batch([held_out], spec, step, max_tokens=8, success_threshold=0.5, seed=seed)
    return [ticket.sampling.seed for ticket in batch.tickets]


@pytest.mark.parametrize("mode", ["async", "in_flight"])
def test_modes_that_overlap_draw_each_prompt_by_a_seed_of_its_own(mode: str) -> None:
    first = seeds(mode, step=0)
    assert len(set(first)) == 4 and None not in first
    assert seeds(mode, step=6) == first != seeds(mode, step=0, seed=4)


@pytest.mark.parametrize("mode", ["sync", "streamed"])
def test_modes_that_take_turns_draw_by_the_engines_seed(mode: str) -> None:
    assert seeds(mode, step=0) == [None] * 4


@pytest.mark.parametrize(
    ("told", "state", "expected"),
    [
        (False, {"step": 4}, False),
        (False, {"step": 0, "evaluated_at_start": True}, False),
        (False, {}, False),
        (True, {"step": 4}, True),
        (True, {}, True),
        (None, {}, False),
        (None, {"step": 0}, False),
        (None, {"step": 0, "evaluated_at_start": True}, True),
        (None, {"step": 4, "evaluated_at_start": True}, True),
        (None, {"step": 4}, True),
    ],
)
def test_the_platform_says_which_evaluations_were_reported(
    told: bool | None, state: dict[str, Any], expected: bool
) -> None:
    assert evaluated_before(told, state) is expected


def test_the_samples_of_a_seeded_group_differ() -> None:
    def begun(seed: int | None) -> list[int | None]:
        requests: list[Request] = []
        worker: Any = RolloutWorker()
        worker._engine = SimpleNamespace(submit=requests.append)
        worker._begin(Submission((GroupJob("g", PROMPT, 3, Sampling(1.0, seed=seed)),), 0, False, 1))
        return [request.sampling.seed for request in requests]

    assert len(set(begun(7))) == 3 and begun(7) == begun(7)
    assert all(0 <= seed < 2**62 for seed in begun(7) if seed is not None)
    assert begun(None) == [None] * 3
