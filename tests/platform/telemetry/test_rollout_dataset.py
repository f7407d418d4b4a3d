"""Datasets of a run's stored rollouts: best answers, and pairs of a better and a worse answer to one prompt."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.datasets.models import Dataset, DatasetVersion
from dressage.datasets.versions.storage import read_rows_at
from dressage.monitoring import rollout_dataset
from dressage.runs.models import Run
from dressage.teams.models import Team
from tests.platform.runs.fixtures import Worker
from tests.platform.telemetry.test_history import rollouts, row
from tests.platform.telemetry.test_traces import put
from tests.platform.tokens import bearer, token_of
from tests.support.trace_files import trace_file, trace_group

Launch = Callable[..., tuple[Run, Worker]]
Api = Callable[..., APIClient]


def answer(prompt: int, step: int, sample: int, reward: float | None, text: str, **more: Any) -> dict[str, Any]:
    """An answer to a row of the source ``add``."""
    right = None if reward is None else reward >= 0.5
    return {
        **row(f"{step}-{prompt}", sample, reward, length=len(text)),
        "prompt_id": f"add:{prompt}",
        "completion": text,
        "right": right,
        **more,
    }


def ask(client: APIClient, run: Run, status: int = 201, **fields: Any) -> Any:
    body = {"kind": "completions", "into": {"name": "Answers"}, **fields}
    response = client.post(f"/api/v1/runs/{run.id}/rollouts/dataset", body, format="json")
    assert response.status_code == status, response.content
    return response.json()


def made() -> list[dict[str, Any]]:
    version = DatasetVersion.objects.get(dataset__slug="answers")
    return sorted(read_rows_at(version.path, range(100)).values(), key=lambda one: (one["prompt"], str(one)))


def test_the_best_answers_of_each_prompt(launch: Launch, api: Api) -> None:
    run, worker = launch()
    worker.sync(
        rollouts(1, answer(0, 1, 0, 1.0, "the long 2"), answer(0, 1, 1, 1.0, "2"), answer(0, 1, 2, 0.0, "3")),
        rollouts(2, answer(1, 2, 0, 0.0, "4"), answer(1, 2, 1, 0.4, "nearly"), answer(0, 2, 0, 1.0, "2")),
    )
    counted = ask(api("editor"), run, 200, dry_run=True)
    assert counted["counts"] == {"before": 2, "after": 1, "added": 1, "removed": 2, "changed": 0}
    assert not Dataset.objects.filter(slug="answers").exists()
    document = ask(api("editor"), run)
    assert document["operation"] == "rollouts" and document["results"][0]["ref"] == "answers@1"
    assert made() == [{"prompt": "1+1=", "answer": "2", "completion": "2"}]
    version = DatasetVersion.objects.get(dataset__slug="answers")
    assert version.parent is not None and version.parent.ref == "sums@1"
    assert version.operation == {
        "name": "rollouts",
        "arguments": {"run": run.id, "kind": "completions", "per_prompt": 1, "min_gap": 0.0},
        "counts": {"before": 2, "after": 1, "added": 1, "removed": 2, "changed": 0},
    }


def test_several_answers_of_a_prompt_by_reward(launch: Launch, api: Api) -> None:
    run, worker = launch()
    worker.sync(
        rollouts(1, answer(0, 1, 0, 1.0, "2"), answer(0, 1, 1, 0.4, "two"), answer(0, 1, 2, 0.1, "3")),
        rollouts(2, answer(1, 2, 0, 0.4, "4"), answer(1, 2, 1, None, "error", reward_error="no judge")),
    )
    ask(api("editor"), run, min_reward=0.4, per_prompt=2)
    assert [(one["prompt"], one["completion"]) for one in made()] == [("1+1=", "2"), ("1+1=", "two"), ("1+2=", "4")]


def test_pairs_are_of_one_group_and_the_widest_come_first(launch: Launch, api: Api) -> None:
    run, worker = launch()
    worker.sync(
        rollouts(1, answer(0, 1, 0, 0.2, "x"), answer(0, 1, 1, 0.6, "two"), answer(1, 1, 0, 0.5, "3")),
        rollouts(2, answer(0, 2, 0, 0.0, "3"), answer(0, 2, 1, 1.0, "2"), answer(0, 2, 2, 0.5, "ii")),
        rollouts(3, answer(1, 3, 0, 0.5, "3"), answer(1, 3, 1, 0.5, "three")),
    )
    ask(api("editor"), run, kind="pairs")
    assert made() == [{"prompt": "1+1=", "answer": "2", "chosen": "2", "rejected": "3"}]
    Dataset.objects.get(slug="answers").delete()
    ask(api("editor"), run, kind="pairs", per_prompt=5)
    assert [(one["chosen"], one["rejected"]) for one in made()] == [("2", "3"), ("two", "x")]
    refused = ask(api("editor"), run, 422, kind="pairs", min_gap=1.0)
    assert "differ by more than 1" in str(refused)


def test_answers_that_were_cut_blank_or_of_many_turns_are_left_out(launch: Launch, api: Api) -> None:
    run, worker = launch()
    turns = [{"author": "policy", "characters": 1}, {"author": "tool", "characters": 1}]
    worker.sync(
        rollouts(
            1,
            answer(0, 1, 0, 1.0, "cut", finish_reason="length"),
            answer(0, 1, 1, 1.0, "  "),
            answer(1, 1, 0, 1.0, "ab", turns=turns),
            answer(1, 1, 1, 0.9, "whole"),
        )
    )
    ask(api("editor"), run)
    assert [one["completion"] for one in made()] == ["whole"]


def test_texts_come_whole_from_trace_files(launch: Launch, api: Api) -> None:
    run, _ = launch()
    long = "thinking " * 4_000
    group = trace_group(0, (0, 1), output_text=long, finish_reason="stop")
    for one in group.trajectories:
        one.verdict.parts.clear()
    put(run, trace_file(run.id, [group]))
    ask(api("editor"), run, min_reward=1.0)
    assert [one["completion"] for one in made()] == [long]


def test_steps_that_a_later_attempt_repeated_do_not_count(launch: Launch, api: Api) -> None:
    run, worker = launch()
    worker.sync(rollouts(5, answer(0, 5, 0, 1.0, "2")), rollouts(9, answer(1, 9, 0, 1.0, "3")))
    ask(api("editor"), run, last_step=5)
    assert [one["completion"] for one in made()] == ["2"]
    refused = ask(api("editor"), run, 422, first_step=10)
    assert "is stored" in str(refused)


def test_what_cannot_be_made_is_refused(
    launch: Launch, api: Api, make_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, worker = launch()
    assert "No graded answer" in str(ask(api("editor"), run, 422))
    worker.sync(rollouts(1, answer(0, 1, 0, 0.0, "3"), answer(1, 1, 0, 0.3, "4")))
    assert "None of 2 stored answers succeeds" in str(ask(api("editor"), run, 422))
    assert "reward of 0.9 or more" in str(ask(api("editor"), run, 422, min_reward=0.9))
    ask(api("viewer"), run, 403)
    ask(api("editor"), run, 422, kind="traces")
    ask(api("editor"), run, 422, per_prompt=0)
    ask(api("editor"), run, 409, min_reward=0.0, into={"name": "Sums", "slug": "sums"})
    monkeypatch.setattr(rollout_dataset, "MAX_MADE", 1)
    assert "2 rows would be made" in str(ask(api("editor"), run, 422, min_reward=0.0))
    monkeypatch.setattr(rollout_dataset, "MAX_ROLLOUTS", 1)
    assert "give first_step or last_step" in str(ask(api("editor"), run, 422, min_reward=0.0))


def test_another_team_and_a_token_without_the_run_are_refused(
    launch: Launch, api: Api, team: Team, other_team: Team
) -> None:
    run, worker = launch()
    worker.sync(rollouts(1, answer(0, 1, 0, 1.0, "2")))
    ask(api("editor", team=other_team), run, 404)
    body = {"kind": "completions", "into": {"name": "Answers"}}
    path = f"/api/v1/runs/{run.id}/rollouts/dataset"
    for scopes, status in ((["datasets:write"], 403), (["runs:write"], 403), (["datasets:write", "runs:read"], 201)):
        _, secret = token_of(team, "editor", scopes=scopes)
        response = bearer(secret).post(path, body, format="json")
        assert response.status_code == status, response.content


def test_a_run_that_learns_from_rows_has_no_rollouts(nouns: Any, team: Team, actor: Any, api: Api) -> None:
    from dressage.runs.life.services import create_run
    from trainer_core.spec import RunSpec

    document = {
        "policy": {"base": "small"},
        "objective": {"type": "sft", "completion": "answer", "max_tokens": 32},
        "data": {"sources": [{"name": "add", "dataset": "sums@1"}]},
    }
    run = create_run(team, actor, name="rows", spec=RunSpec.model_validate(document), start=False)
    assert "samples nothing" in str(ask(api("editor"), run, 422))
