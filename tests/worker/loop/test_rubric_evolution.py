"""Rubric items proposed beside the loop by a judge behind HTTP: contrasts, strict reading, no repeats, no stops."""

import json
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.support.judge_endpoint import JudgeServer, Reply
from trainer_core.episodes import Group, Trajectory, Verdict
from trainer_core.link.events import EventData
from trainer_core.link.judge import JudgeEndpoint
from trainer_core.rewards.definition import RewardDefinition
from trainer_core.spec.rewards.watch import RubricEvolution
from worker.judge.client import JudgeClient
from worker.judge.open import JudgeSetup, open_judges
from worker.judge.use import Tally
from worker.rewards.evolution import Evolution

DEFINITION = RewardDefinition.model_validate(
    {
        "components": [
            {
                "name": "style",
                "grader": {
                    "type": "rubric",
                    "items_field": "rubric",
                    "items": [{"name": "Units", "description": "States the unit of the answer."}],
                },
            }
        ]
    }
)
NEW = {"name": "Checks", "description": "Checks the sum by adding backwards.", "weight": 2, "reason": "only the better"}


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    made = JudgeServer(json.dumps({"items": [NEW]}))
    yield made
    made.close()


class Told:
    """Events, as the link would take them."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any], int]] = []

    def __call__(self, data: EventData, step: int) -> None:
        self.events.append((data.kind, data.wire(), step))

    def proposals(self) -> list[dict[str, Any]]:
        return [row for kind, data, _ in self.events if kind == "rubric_proposals" for row in data["proposals"]]

    def alerts(self) -> list[str]:
        return [data["message"] for kind, data, _ in self.events if kind == "alert"]


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def client(server: JudgeServer) -> Iterator[JudgeClient]:
    endpoint = JudgeEndpoint(base_url=server.url, model="judge", timeout_s=10.0, retries=0)
    made = open_judges(JudgeSetup({"default": endpoint}, {}), Tally())
    yield made
    made.close()


def evolution(client: JudgeClient, told: Told, **settings: Any) -> Evolution:
    chosen = {"component": "style", "every_steps": 2, "prompts_per_step": 2, "max_proposals": 3, **settings}
    return Evolution(RubricEvolution.model_validate(chosen), lambda: client, told)


def group(number: int, *rewards: float | None, ref: str = "r@1", **item: Any) -> Group:
    trajectories = [
        Trajectory(
            trajectory_id=f"{number}/{place}",
            prompt_ids=np.zeros(1, np.int32),
            token_ids=np.zeros(1, np.int32),
            behaviour_logprobs=np.zeros(1, np.float32),
            versions=np.zeros(1, np.int32),
            sampled=np.ones(1, np.bool_),
            finish_reason="stop",
            temperature=1.0,
            output_text=f"answer {place} of {number}",
            verdict=Verdict(reward=reward, error="failed" if reward is None else None),
        )
        for place, reward in enumerate(rewards)
    ]
    row = {"prompt": f"prompt {number}", **item}
    return Group(f"1-{number}", f"a:{number}", "a", "a@1", row, "", 0, trajectories, reward_ref=ref)


def run(made: Evolution, step: int, *groups: Group) -> None:
    """One step, and whatever it starts."""
    made.consider(step, groups, "r@1", DEFINITION, lambda item: item["prompt"])
    if made.last is not None:
        made.last.result(30)


def test_the_widest_gaps_are_contrasted_and_proposals_bear_their_provenance(
    server: JudgeServer, client: JudgeClient, told: Told
) -> None:
    made = evolution(client, told)
    groups = [
        group(0, 0.5, 0.6),
        group(1, 0.0, None, 1.0, 0.4),
        group(2, 0.3, 0.3),
        group(3, 0.2, 0.9),
        group(4, 0.0, 9.0, ref="r@0"),
    ]
    run(made, 1, *groups)
    assert made.last is None and not server.requests, "not every step asks"
    run(made, 2, *groups)
    asked = sorted(body["messages"][1]["content"] for body in server.requests)
    assert len(asked) == 2 and "prompt 1" in asked[0] and "prompt 3" in asked[1]
    assert "Units: States the unit" in asked[0]
    assert asked[0].index("answer 2 of 1") < asked[0].index("answer 0 of 1"), "the better one comes first"
    assert server.requests[0]["response_format"]["type"] == "json_schema"
    ((kind, data, step),) = told.events
    assert (kind, step, data["component"], data["reward_version"]) == ("rubric_proposals", 2, "style", "r@1")
    assert data["proposals"] == [
        {
            **NEW,
            "weight": 2.0,
            "prompt_id": "a:1",
            "prompt_text": "prompt 1",
            "better": "answer 2 of 1",
            "worse": "answer 0 of 1",
            "better_reward": 1.0,
            "worse_reward": 0.0,
        }
    ], "the second contrast said the same"


def test_what_is_known_is_not_proposed_again(server: JudgeServer, client: JudgeClient, told: Told) -> None:
    own = {"name": "Steps", "description": "Shows every step of the calculation.", "weight": 1}
    same = [
        {"name": "units!", "description": "Something else.", "weight": 1, "reason": ""},
        {"name": "Unit", "description": "states the unit of the answer", "weight": 1, "reason": ""},
        {"name": "Working", "description": "Shows every step of the calculation", "weight": 1, "reason": ""},
    ]
    server.say = json.dumps({"items": same})
    made = evolution(client, told)
    run(made, 2, group(1, 0.0, 1.0, rubric=[own]))
    assert told.events == []
    server.say = json.dumps({"items": [NEW]})
    run(made, 4, group(1, 0.0, 1.0, rubric=[own]))
    run(made, 6, group(2, 0.0, 1.0))
    assert [row["name"] for row in told.proposals()] == ["Checks"]
    resumed = evolution(client, told)
    resumed.load(json.loads(json.dumps(made.state())))
    run(resumed, 8, group(3, 0.0, 1.0))
    assert len(told.proposals()) == 1, "a resumed attempt remembers what was proposed"
    assert "Checks" in server.requests[-1]["messages"][1]["content"], "and tells the judge of it"


def test_no_more_than_asked_for(server: JudgeServer, client: JudgeClient, told: Told) -> None:
    def say(body: dict[str, Any]) -> str:
        number = next(n for n in "12" if f"prompt {n}" in body["messages"][1]["content"])
        words = {"1": ("red", "green"), "2": ("blue", "yellow")}[number]
        items = [{"name": w, "description": f"{w} " * 3, "weight": -1, "reason": ""} for w in words]
        return json.dumps({"items": items})

    server.say = say
    run(evolution(client, told), 2, group(1, 0.0, 1.0), group(2, 0.0, 0.5))
    assert [row["name"] for row in told.proposals()] == ["red", "green", "blue"]


UNREADABLE = {
    "prose": ("I think the better one checks.", "is no JSON"),
    "another form": (json.dumps([NEW]), "not of the asked form"),
    "an unknown key": (json.dumps({"items": [{**NEW, "run": "rm"}]}), "not of the asked form"),
    "a weight of zero": (json.dumps({"items": [{**NEW, "weight": 0}]}), "with a weight of 0"),
    "too many": (json.dumps({"items": [NEW] * 4}), "not of the asked form"),
    "an empty name": (json.dumps({"items": [{**NEW, "name": " "}]}), "without a name"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_an_alert(server: JudgeServer, client: JudgeClient, told: Told, name: str) -> None:
    server.say, words = UNREADABLE[name]
    run(evolution(client, told), 2, group(1, 0.0, 1.0))
    assert told.proposals() == []
    (alert,) = told.alerts()
    assert words in alert and alert.startswith("1 of 1 contrasts")


def test_one_contrast_that_fails_spoils_no_other(server: JudgeServer, client: JudgeClient, told: Told) -> None:
    def say(body: dict[str, Any]) -> str | Reply:
        failing = "prompt 2" in body["messages"][1]["content"]
        return Reply("gone", status=400) if failing else json.dumps({"items": [NEW]})

    server.say = say
    run(evolution(client, told), 2, group(1, 0.0, 1.0), group(2, 0.0, 2.0))
    assert [row["prompt_id"] for row in told.proposals()] == ["a:1"]
    assert len(told.alerts()) == 1


def test_a_judge_that_cannot_be_opened_is_an_alert(told: Told) -> None:
    def broken() -> JudgeClient:
        raise OSError("no route")

    made = Evolution(RubricEvolution(component="style", every_steps=1), broken, told)
    run(made, 1, group(1, 0.0, 1.0))
    assert told.alerts() == ["OSError: no route"]


def test_no_step_waits_and_a_round_in_hand_leaves_the_next_out(
    server: JudgeServer, client: JudgeClient, told: Told
) -> None:
    go = threading.Event()

    def open_later() -> JudgeClient:
        assert go.wait(30)
        return client

    made = Evolution(RubricEvolution(component="style", every_steps=1), open_later, told)
    for step in (1, 2):
        made.consider(step, [group(1, 0.0, 1.0)], "r@1", DEFINITION, lambda item: item["prompt"])
    assert told.alerts() == ["The judge has not yet answered the last request: this one is skipped."]
    go.set()
    assert made.last is not None
    made.last.result(30)
    assert [step for kind, _, step in told.events if kind == "rubric_proposals"] == [1]


def test_equal_rewards_ask_nothing(server: JudgeServer, client: JudgeClient, told: Told) -> None:
    made = evolution(client, told)
    run(made, 2, group(1, 0.5, 0.5), group(2, None, 1.0))
    assert made.last is None and server.requests == [] and told.events == []
