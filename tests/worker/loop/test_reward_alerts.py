"""What a person hears of rewards that fail: each kind of error once, and a stop where a part asks for one."""

from typing import Any

import numpy as np

from trainer_core.episodes import Group, Trajectory, Verdict
from trainer_core.spec import RunSpec
from worker.loop.dispatch import sampling
from worker.loop.reporting.alerts import RewardAlerts, reward_trouble
from worker.messages.ticket import Batch, Ticket


def sample(error: str | None = None, **more: Any) -> Trajectory:
    return Trajectory(
        trajectory_id="t",
        prompt_ids=np.zeros(1, np.int32),
        token_ids=np.zeros(1, np.int32),
        behaviour_logprobs=np.zeros(1, np.float32),
        versions=np.zeros(1, np.int32),
        sampled=np.ones(1, np.bool_),
        finish_reason="stop",
        temperature=1.0,
        verdict=Verdict(reward=None if error else 1.0, error=error, **more),
    )


def batch(spec: Any, *samples: Trajectory) -> Batch:
    document = RunSpec.model_validate(spec())
    group = Group("1-0", "add:0", "add", "add@1", {}, "", 0, list(samples))
    return Batch(1, [Ticket(group, np.zeros(1, np.int32), document, len(samples), sampling(document))])


def test_each_kind_of_error_is_told_once(spec: Any) -> None:
    alerts = RewardAlerts()
    first = alerts.check(batch(spec, sample("code: took 3 s"), sample("code: took 9 s"), sample()))
    assert [alert.message for alert in first] == ["2 of this step, excluded from the loss: code: took 3 s"]
    again = batch(spec, sample("code: took 4 s"), sample(forgiven=("style: no verdict",)))
    assert [alert.message for alert in alerts.check(again)] == ["1 of this step, counted as 0: style: no verdict"]
    assert alerts.check(again) == []


def test_one_failed_part_stops_the_run_where_its_component_says_so(spec: Any) -> None:
    calm = [sample() for _ in range(9)]
    assert reward_trouble(batch(spec, *calm, sample("code: no jail"))) is None
    asked = reward_trouble(batch(spec, *calm, sample("code: no jail", stops=True)))
    assert asked == "1 rewards of step 1 (10%) could not be computed; the first: code: no jail"
