"""Messages: what is written, what is left out, and what is kept out of logs."""

import math
from typing import Any

import pytest
from pydantic import ValidationError

from trainer_core.link.bench import BenchScore
from trainer_core.link.commands import CheckpointCommand, ControlCommand, read_command
from trainer_core.link.events import KINDS, AlertData, LinkEvent, StateData, StepData, event_data
from trainer_core.link.judge import JudgeEndpoint
from trainer_core.link.limits import MAX_ERROR_TEXT
from trainer_core.link.reward import RewardVersion
from trainer_core.link.sync import SyncAnswer, SyncRequest

EVENT: dict[str, Any] = {"seq": 1, "at": "2026-11-21T06:00:00Z", "kind": "log", "data": {}}


def test_a_message_writes_the_keys_that_were_given() -> None:
    data = AlertData(level="warn", title="t", message="m", metric=None, value=float("-inf"))
    assert data.wire() == {"level": "warn", "title": "t", "message": "m", "metric": None, "value": "-Infinity"}
    assert AlertData.model_validate(data.wire()) == data
    step = StepData(metrics={"a": float("nan"), "b": 1.5}, tokens_total=3, seconds=0.5)
    assert step.wire() == {"metrics": {"a": "NaN", "b": 1.5}, "tokens_total": 3, "seconds": 0.5}
    assert math.isnan(StepData.model_validate(step.wire()).metrics["a"])


def test_keys_of_a_newer_peer_are_left_out() -> None:
    assert read_command({"id": "k", "type": "checkpoint", "urgent": 1}) == CheckpointCommand(id="k", type="checkpoint")
    body = SyncRequest.model_validate({"attempt": 1, "events": [{**EVENT, "colour": "red"}], "mood": "good"})
    assert body.events == (LinkEvent.model_validate(EVENT),)
    answer = {"acked_seq": 1, "commands": [], "desired_state": "running", "lease_s": 15.0}
    assert SyncAnswer.model_validate({**answer, "weather": "fine"}).wire() == answer


def test_a_definition_with_unknown_keys_is_refused() -> None:
    definition = {"components": [{"name": "a", "grader": {"type": "exact"}}]}
    assert RewardVersion.model_validate({"definition": definition}).judges == {}
    for document in ({"definition": definition, "extra": 1}, {"definition": {**definition, "extra": 1}}):
        with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
            RewardVersion.model_validate(document)


def test_unknown_kinds_and_types_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="unknown event kind 'dance'"):
        event_data(LinkEvent.model_validate({**EVENT, "kind": "dance"}))
    with pytest.raises(ValidationError, match="'dance'"):
        read_command({"id": "d", "type": "dance"})
    assert set(KINDS) == {
        "state", "phase", "step", "eval", "rollouts", "rubric_proposals", "outcomes", "pass_rates", "checkpoint",
        "alert", "log",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("data", "by_request"),
    [
        ({"state": "paused", "reason": "asked to pause"}, True),
        ({"state": "paused", "reason": "asked to pause", "by_request": False}, False),
        ({"state": "paused", "reason": "a guard"}, False),
        ({"state": "paused", "reason": "a guard", "by_request": True}, True),
        ({"state": "running", "reason": "asked to pause"}, False),
    ],
)
def test_the_sentence_counts_where_no_flag_is(data: dict[str, Any], by_request: bool) -> None:
    assert StateData.model_validate(data).by_request is by_request


def test_a_control_is_written_as_it_was_before_there_were_models() -> None:
    command = ControlCommand(
        id="c", type="control", revision=3, target="rollout.temperature", value=0.5, apply_at="next"
    )
    document = {
        "id": "c", "type": "control", "revision": 3, "target": "rollout.temperature", "value": 0.5, "apply_at": "next",
    }  # fmt: skip
    assert command.wire() == document
    assert read_command(document) == command


def test_a_judge_shows_its_key_on_the_link_alone() -> None:
    judge = JudgeEndpoint.model_validate({"base_url": "http://judge/v1", "model": "m", "api_key": "sk-secret"})
    assert judge.wire() == {"base_url": "http://judge/v1", "model": "m", "api_key": "sk-secret"}
    for text in (repr(judge), str(judge.model_dump()), judge.model_dump_json(), str(judge.model_dump(mode="json"))):
        assert "secret" not in text.replace("SecretStr", "")
    version = RewardVersion.model_validate(
        {
            "definition": {"components": [{"name": "a", "grader": {"type": "exact"}}]},
            "judges": {"default": judge.wire()},
        }
    )
    assert version.wire()["judges"]["default"]["api_key"] == "sk-secret"
    assert "sk-secret" not in version.model_dump_json()


def test_long_texts_of_a_score_are_cut() -> None:
    score = BenchScore(reward=None, error="e" * 20_000 + "!", traceback="?" + "t" * 20_000)
    assert score.error == "e" * MAX_ERROR_TEXT
    assert score.traceback == "t" * MAX_ERROR_TEXT
    for both in ({"reward": 1.0, "error": "x"}, {"reward": None}):
        with pytest.raises(ValidationError, match="either a reward or an error"):
            BenchScore.model_validate(both)
