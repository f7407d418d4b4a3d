"""Goldilocks over REST: both stages, what each drops, stage one only, what is reused, cancelled, undone and refused."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.datasets.models import DatasetVersion, RowNotes, TeamDatasetQuota
from dressage.datasets.services import create_dataset
from dressage.datasets.versions import notes, storage
from dressage.policies.models import Policy
from dressage.profiles.goldilocks import store
from dressage.profiles.goldilocks.advance import sweep_goldilocks
from dressage.profiles.models import Goldilocks, Profile
from dressage.teams.models import AuditEntry, Team
from tests.platform.profiles.fixtures import ProfileWorker, row, spec
from tests.platform.retries import check_retry
from tests.support.about import PLATFORM

ROWS = 6
BAND = {"min_pass_rate": 0.1, "max_pass_rate": 0.9}
WEAK = [0, 0, 16, 8, 0, 4]
"""Right answers of 16 by the first policy, row by row."""
STRONG = [4, 0, 16, 8, 0, 15]
"""Right answers of 16 by the second one; the last row's are too many for the band."""


@pytest.fixture
def sums(nouns: Path, team: Team, actor: Actor) -> DatasetVersion:
    """Six sums, and a policy ``strong`` beside ``small``."""
    Policy.objects.create(
        team=team, slug="strong", name="Strong", path=str(nouns), architecture="A", parameters=1, vocab_size=1,
        max_position_embeddings=96, bytes=1, sha256="0", created_by="x",
    )  # fmt: skip
    lines = b"".join(b'{"prompt": "1+%d=", "answer": "%d"}\n' % (n, n + 1) for n in range(ROWS))
    return create_dataset(team, actor, name="Six", file=BytesIO(lines), size=len(lines)).versions.get()


@pytest.fixture
def ask(api: Callable[..., APIClient], sums: DatasetVersion) -> Callable[..., Any]:
    """``ask(status=202, **body)``: the answer of the endpoint."""
    client = api("editor")

    def make(status: int = 202, **changes: Any) -> Any:
        response = client.post("/api/v1/goldilocks", asked(**changes), format="json")
        assert response.status_code == status, response.content
        return response.json()

    return make


@pytest.fixture
def act(api: Callable[..., APIClient]) -> Callable[..., Any]:
    """``act(id, "cancel", status=200)``; without a name, what a viewer reads."""
    editor, viewer = api("editor"), api("viewer")

    def do(made: str, name: str | None = None, status: int = 200) -> Any:
        path = f"/api/v1/goldilocks/{made}"
        response = viewer.get(path) if name is None else editor.post(f"{path}/{name}")
        assert response.status_code == status, response.content
        return response.json()

    return do


def asked(**changes: Any) -> dict[str, Any]:
    """A body for both stages."""
    return {
        "spec": spec(data={"sources": [{"name": "rows", "dataset": "six@1"}]}),
        "plan": {"budget": 96, **BAND},
        "second": {"policy": "strong", "plan": {"budget": 96, **BAND}},
        **changes,
    }


def try_rows(profile: str, right: list[int], **wrong: Any) -> None:
    """Have a profile's worker try all rows, with so many right answers of 16; ``wrong`` are answers by row, ``r4``."""
    worker = ProfileWorker(profile)
    worker.take()
    votes = {int(name[1:]): {f"is{text}": count for text, count in found.items()} for name, found in wrong.items()}
    worker.hand_in(0, *(row(number, 16, correct, **votes.get(number, {})) for number, correct in enumerate(right)))
    worker.answer(stopped="settled", votes=True)


def profile_of(job: Any, stage: int) -> str:
    found = job["stages"][stage]["profile"]
    assert isinstance(found, str)
    return found


def prompts(ref: str) -> list[str]:
    """Prompts of the rows of a version of ``six``."""
    version = DatasetVersion.objects.get(dataset__slug=ref.partition("@")[0], number=int(ref.partition("@")[2]))
    return [one["prompt"] for one in storage.read_rows(version.path, 0, version.rows)]


def both_stages(job: Any, act: Callable[..., Any], **wrong: Any) -> Any:
    """Carry out both stages. Returns the goldilocks."""
    try_rows(profile_of(job, 0), WEAK)
    sweep_goldilocks()
    job = act(job["id"])
    assert (job["state"], job["error"]) == ("second", None)
    try_rows(profile_of(job, 1), STRONG, **wrong)
    sweep_goldilocks()
    return act(job["id"])


def test_two_stages_make_one_version(ask: Callable[..., Any], act: Callable[..., Any], sums: DatasetVersion) -> None:
    job = ask()["job"]
    assert (job["state"], job["version"], [one["policy"] for one in job["stages"]]) == (
        "first",
        "six@1",
        ["small", "strong"],
    )
    sweep_goldilocks()
    assert act(job["id"])["state"] == "first", "its profile is not over"
    job = both_stages(job, act)
    assert (job["state"], job["made"]["ref"], job["made"]["rows"]) == ("done", "six@2", 2)
    assert prompts("six@2") == ["1+0=", "1+3="], "a row that the first never solved has returned"
    report = job["report"]
    assert (report["rows"], report["kept"], report["returned"]) == (6, 2, 1)
    assert (report["dropped_by_first"], report["dropped_by_second"], report["suspects_left_out"]) == (0, 4, 0)
    first, second = report["stages"]
    assert (first["inside"], first["outside"]) == (2, [{"reason": "never", "rows": 3}, {"reason": "always", "rows": 1}])
    assert (second["inside"], second["samples"], second["reused"]) == (2, 96, False)
    assert second["outside"] == [
        {"reason": "never", "rows": 2},
        {"reason": "always", "rows": 1},
        {"reason": "easier", "rows": 1},
    ]
    version = DatasetVersion.objects.get(dataset__slug="six", number=2)
    arguments = version.operation["arguments"]
    assert (version.operation["name"], version.parent, arguments["goldilocks"]) == ("filter", sums, job["id"])
    assert arguments["stages"] == report["stages"]
    assert [(one["profile"], one["min_pass_rate"]) for one in arguments["stages"]] == [
        (profile_of(job, 0), 0.1),
        (profile_of(job, 1), 0.1),
    ]
    told = notes.read(sums, "goldilocks").to_pylist()
    assert [
        (one["first_pass_rate"], one["second_pass_rate"], one["dropped_by"], one["reason"]) for one in told[:3]
    ] == [
        (0.0, 0.25, None, None),
        (0.0, 0.0, "second", "never"),
        (1.0, 1.0, "second", "always"),
    ]
    sweep_goldilocks()
    assert DatasetVersion.objects.filter(dataset__slug="six").count() == 2, "what is over is left alone"


def test_rows_outside_the_first_band_may_stay_out(ask: Callable[..., Any], act: Callable[..., Any]) -> None:
    job = both_stages(ask(outside_first="stay_out", into={"name": "Just right"})["job"], act)
    assert job["made"]["ref"] == "just-right@1"
    assert prompts("just-right@1") == ["1+3="]
    report = job["report"]
    assert (report["dropped_by_first"], report["dropped_by_second"], report["returned"]) == (4, 1, 0)


@pytest.mark.parametrize(("choice", "left"), [("leave_out", ["1+3="]), ("keep", ["1+3=", "1+4="])])
def test_suspect_golds_are_left_out_or_kept(
    ask: Callable[..., Any], act: Callable[..., Any], choice: str, left: list[str]
) -> None:
    second = {"policy": "strong", "plan": {"budget": 400, "min_pass_rate": 0.0, "max_pass_rate": 0.9}}
    job = ask(suspects=choice, second=second)["job"]
    try_rows(profile_of(job, 0), WEAK)
    sweep_goldilocks()
    worker = ProfileWorker(profile_of(act(job["id"]), 1))
    worker.take()
    rows = [row(number, 64, 64) for number in range(ROWS)]
    rows[3], rows[4] = row(3, 64, 32, is9=4), row(4, 64, 0, is7=64)
    worker.hand_in(0, *rows)
    worker.answer(stopped="settled", votes=True)
    sweep_goldilocks()
    job = act(job["id"])
    assert prompts(job["made"]["ref"]) == left
    assert (job["report"]["suspects"], job["report"]["suspects_left_out"]) == (1, 2 - len(left))
    listed = Profile.objects.get(pk=profile_of(job, 1)).report["suspects"]
    assert [(one["row"], one["answer"], one["votes"]) for one in listed] == [(4, "7", 64)]


@pytest.mark.expensive(2, "walks over many requests", about=PLATFORM)
def test_stage_one_only_then_stage_two_from_what_it_measured(
    ask: Callable[..., Any], act: Callable[..., Any], sums: DatasetVersion
) -> None:
    job = ask(second=None)["job"]
    try_rows(profile_of(job, 0), WEAK)
    sweep_goldilocks()
    job = act(job["id"])
    assert (job["state"], prompts(job["made"]["ref"])) == ("done", ["1+3=", "1+5="])
    cost = ask(200, dry_run=True)["cost"]
    first, second = cost["stages"]
    assert (first["reuses"], first["profile"], first["samples"], first["cost"]) == (
        "stored",
        profile_of(job, 0),
        96,
        None,
    )
    assert (second["reuses"], second["cost"]["rows"], second["cost"]["min_samples"]) == (None, 6, 24)
    later = ask()["job"]
    assert (profile_of(later, 0), later["stages"][0]["reused"]) == (profile_of(job, 0), True)
    assert Profile.objects.count() == 1, "nothing is sampled twice"
    sweep_goldilocks()
    later = act(later["id"])
    try_rows(profile_of(later, 1), STRONG)
    sweep_goldilocks()
    later = act(later["id"])
    assert (later["made"]["ref"], prompts("six@3")) == ("six@3", ["1+0=", "1+3="])
    assert [one["reused"] for one in later["report"]["stages"]] == [True, False]
    again = ask()["job"]
    sweep_goldilocks()
    sweep_goldilocks()
    again = act(again["id"])
    assert (again["state"], again["made"]["rows"], Profile.objects.count()) == ("done", 2, 2)
    assert [one["reused"] for one in again["stages"]] == [True, True]
    assert ask(reuse=False)["job"]["stages"][0]["reused"] is False
    assert Profile.objects.count() == 3


def test_what_was_sampled_otherwise_is_not_reused(ask: Callable[..., Any], act: Callable[..., Any]) -> None:
    job = ask(second=None)["job"]
    try_rows(profile_of(job, 0), WEAK)
    sweep_goldilocks()
    rows = {"sources": [{"name": "other", "dataset": "six@1"}]}
    longer = spec(data=rows, rollout={"max_tokens": 33, "engine": {"max_model_len": 96}})
    for changes, reuses in (
        ({}, "stored"),
        ({"spec": spec(data=rows)}, "stored"),
        ({"spec": longer}, None),
        ({"threshold": 0.7}, None),
        ({"reuse": False}, None),
    ):
        [stage] = ask(200, second=None, dry_run=True, **changes)["cost"]["stages"]
        assert stage["reuses"] == reuses, changes
    Policy.objects.filter(slug="small").update(created_at="2030-01-01T00:00:00Z")
    [stage] = ask(200, second=None, dry_run=True)["cost"]["stages"]
    assert stage["reuses"] is None, "another policy has the name"


def test_a_profile_of_before_is_reused_while_its_notes_are_there(
    ask: Callable[..., Any], act: Callable[..., Any]
) -> None:
    job = ask(second=None)["job"]
    try_rows(profile_of(job, 0), WEAK)
    Profile.objects.update(outcomes=None)
    sweep_goldilocks()
    assert prompts(act(job["id"])["made"]["ref"]) == ["1+3=", "1+5="]
    assert ask(200, second=None, dry_run=True)["cost"]["stages"][0]["reuses"] == "stored"
    RowNotes.objects.filter(name="difficulty").delete()
    assert ask(200, second=None, dry_run=True)["cost"]["stages"][0]["reuses"] is None


def test_the_same_policy_twice_is_warned_of_and_samples_once(ask: Callable[..., Any], act: Callable[..., Any]) -> None:
    same = {"policy": "small", "plan": {"budget": 96, **BAND}}
    cost = ask(200, second=same, dry_run=True)["cost"]
    assert [(one["reuses"], one["cost"] is None) for one in cost["stages"]] == [(None, False), ("first", True)]
    [warning] = cost["warnings"]
    assert warning.startswith("Both stages use small.")
    assert Goldilocks.objects.count() == 0
    job = ask(second=same)["job"]
    try_rows(profile_of(job, 0), WEAK)
    sweep_goldilocks()
    sweep_goldilocks()
    assert (act(job["id"])["made"]["rows"], Profile.objects.count()) == (2, 1)


def test_one_that_is_cancelled_leaves_nothing_half_made(
    ask: Callable[..., Any], act: Callable[..., Any], sums: DatasetVersion
) -> None:
    job = ask()["job"]
    try_rows(profile_of(job, 0), WEAK)
    sweep_goldilocks()
    second = profile_of(act(job["id"]), 1)
    assert act(job["id"], "cancel")["state"] == "cancelled"
    assert Profile.objects.get(pk=second).state == "cancelled"
    assert Profile.objects.get(pk=profile_of(job, 0)).state == "done"
    sweep_goldilocks()
    assert act(job["id"], "cancel", 409)["error"]["code"] == "goldilocks_is_over"
    assert act(job["id"], "undo", 409)["error"]["code"] == "nothing_to_undo"
    assert (act(job["id"])["made"], DatasetVersion.objects.filter(dataset=sums.dataset).count()) == (None, 1)
    assert "goldilocks" not in [one.name for one in notes.of(sums)]
    actions = AuditEntry.objects.filter(action__startswith="goldilocks").order_by("number")
    assert list(actions.values_list("action", flat=True)) == ["goldilocks.start", "goldilocks.cancel"]


def test_one_that_is_cancelled_while_it_is_stored_makes_no_version(
    ask: Callable[..., Any], act: Callable[..., Any], sums: DatasetVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = ask(second=None)["job"]
    try_rows(profile_of(job, 0), WEAK)
    whole = store.derive

    def late(*args: Any, **named: Any) -> Any:
        act(job["id"], "cancel")
        return whole(*args, **named)

    monkeypatch.setattr(store, "derive", late)
    sweep_goldilocks()
    assert act(job["id"])["state"] == "cancelled"
    assert (
        DatasetVersion.objects.filter(dataset=sums.dataset).count(),
        RowNotes.objects.filter(name="goldilocks").count(),
    ) == (
        1,
        0,
    )


def test_undo_deletes_the_version_and_the_notes(
    ask: Callable[..., Any], act: Callable[..., Any], sums: DatasetVersion
) -> None:
    job = both_stages(ask()["job"], act)
    assert act(job["id"], "undo")["made"] is None
    assert DatasetVersion.objects.get(dataset=sums.dataset, number=2).is_deleted
    assert [one.name for one in notes.of(sums)] == ["difficulty", "suspect"]
    assert list(Profile.objects.values_list("state", flat=True)) == ["done", "done"], "what was paid for stays"
    assert act(job["id"], "undo", 409)["error"]["code"] == "nothing_to_undo"


def test_a_stage_that_ends_without_a_result_ends_it(ask: Callable[..., Any], act: Callable[..., Any]) -> None:
    job = ask()["job"]
    ProfileWorker(profile_of(job, 0)).answer(error="The engine is gone.")
    sweep_goldilocks()
    job = act(job["id"])
    assert (job["state"], job["error"]) == ("failed", "Stage one has failed: The engine is gone.")
    job = ask()["job"]
    try_rows(profile_of(job, 0), WEAK)
    sweep_goldilocks()
    Profile.objects.filter(pk=profile_of(act(job["id"]), 1)).update(state="cancelled")
    sweep_goldilocks()
    job = act(job["id"])
    assert job["state"] == "failed"
    assert job["error"].startswith("Stage two was stopped: its profile was cancelled.")


def test_bands_that_leave_no_row_are_told(
    ask: Callable[..., Any], act: Callable[..., Any], sums: DatasetVersion
) -> None:
    job = ask(second=None, plan={"budget": 96, "min_pass_rate": 0.6, "max_pass_rate": 0.7})["job"]
    try_rows(profile_of(job, 0), WEAK)
    sweep_goldilocks()
    job = act(job["id"])
    assert (job["state"], job["made"], job["report"]["kept"]) == ("failed", None, 0)
    assert job["error"].startswith("No row would remain")
    assert DatasetVersion.objects.filter(dataset=sums.dataset).count() == 1


def test_stage_two_waits_while_the_team_has_its_profiles(ask: Callable[..., Any], act: Callable[..., Any]) -> None:
    job = ask()["job"]
    try_rows(profile_of(job, 0), WEAK)
    done = Profile.objects.get()
    for number in range(3):
        values = {"version": done.version, "spec": done.spec, "plan": done.plan, "threshold": 0.5, "created_by": "x"}
        Profile.objects.create(team=done.team, token_sha256=f"t{number}", **values)
    sweep_goldilocks()
    assert (act(job["id"])["state"], act(job["id"])["stages"][1]["profile"]) == ("first", None)
    Profile.objects.exclude(pk=done.pk).update(state="failed")
    sweep_goldilocks()
    assert act(job["id"])["state"] == "second"


def test_stage_two_without_its_policy_ends_in_words(ask: Callable[..., Any], act: Callable[..., Any]) -> None:
    job = ask()["job"]
    try_rows(profile_of(job, 0), WEAK)
    Policy.objects.filter(slug="strong").delete()
    sweep_goldilocks()
    job = act(job["id"])
    assert job["state"] == "failed"
    assert job["error"].startswith("Stage two could not begin: ")


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"plan": {"budget": 96, "min_pass_rate": 0.9, "max_pass_rate": 0.1}}, "/plan"),
        (
            {"second": {"policy": "strong", "plan": {"budget": 96, "min_pass_rate": 0.9, "max_pass_rate": 0.1}}},
            "/second/plan",
        ),
        ({"second": {"policy": "strong", "plan": {"budget": 5, **BAND}}}, "/second/plan/budget"),
        ({"plan": {"budget": 5, **BAND}}, "/plan/budget"),
        ({"second": {"policy": "nobody", "plan": {"budget": 96}}}, "/second/policy"),
        ({"second": {"plan": {"budget": 96}}}, "/second/policy"),
        ({"spec": spec(policy={"base": "nobody"})}, "/spec/policy/base"),
        ({"spec": spec(reward={"definition": "none@1"})}, "/spec/reward/definition"),
        ({"cluster": "nowhere"}, "/cluster"),
        ({"outside_first": "perhaps"}, "/outside_first"),
        ({"suspects": "perhaps"}, "/suspects"),
    ],
)
@pytest.mark.parametrize("dry_run", [True, False])
def test_what_cannot_be_done_is_refused_at_its_field(
    ask: Callable[..., Any], changes: dict[str, Any], pointer: str, dry_run: bool
) -> None:
    assert [one["pointer"] for one in ask(422, dry_run=dry_run, **changes)["errors"]] == [pointer]
    assert (Goldilocks.objects.count(), Profile.objects.count()) == (0, 0)


def test_a_version_that_the_quota_has_no_room_for_is_refused(ask: Callable[..., Any], team: Team) -> None:
    TeamDatasetQuota.objects.create(team=team, rows=10)
    [fault] = ask(409)["errors"]
    assert fault["pointer"] == "/spec/data/sources/0/dataset"
    assert "8 of 10 rows; this needs 6 more" in fault["detail"]
    TeamDatasetQuota.objects.update(rows=100)
    [fault] = ask(409, into={"name": "Six"})["errors"]
    assert fault["pointer"] == "/into/slug"
    assert (Goldilocks.objects.count(), Profile.objects.count()) == (0, 0)


def test_a_quota_that_is_full_at_the_end_costs_no_samples(
    ask: Callable[..., Any], act: Callable[..., Any], team: Team, sums: DatasetVersion
) -> None:
    job = ask(second=None)["job"]
    try_rows(profile_of(job, 0), WEAK)
    TeamDatasetQuota.objects.create(team=team, rows=8)
    sweep_goldilocks()
    job = act(job["id"])
    assert (job["state"], job["report"]["kept"], job["made"]) == ("failed", 2, None)
    assert "8 of 8 rows" in job["error"]
    assert job["error"].endswith("finished sampling costs nothing.")
    assert DatasetVersion.objects.filter(dataset=sums.dataset).count() == 1
    TeamDatasetQuota.objects.update(rows=100)
    job = ask(second=None)["job"]
    sweep_goldilocks()
    assert (act(job["id"])["state"], Profile.objects.count()) == ("done", 1)


def test_a_version_has_one_at_a_time_and_is_not_deleted_under_it(
    ask: Callable[..., Any], act: Callable[..., Any], api: Callable[..., APIClient], sums: DatasetVersion
) -> None:
    job = ask()["job"]
    assert ask(409)["error"]["code"] == "goldilocks_is_open"
    assert (Goldilocks.objects.count(), Profile.objects.count()) == (1, 1)
    refused = api("editor").delete(f"/api/v1/datasets/{sums.dataset_id}")
    assert [(pin["kind"], pin["id"]) for pin in refused.json()["pins"]] == [
        ("profile", profile_of(job, 0)),
        ("goldilocks", job["id"]),
    ]
    try_rows(profile_of(job, 0), WEAK)
    refused = api("editor").delete(f"/api/v1/datasets/{sums.dataset_id}")
    assert [pin["kind"] for pin in refused.json()["pins"]] == ["goldilocks"], "between its stages it is needed, too"


def test_other_teams_and_viewers(
    ask: Callable[..., Any],
    act: Callable[..., Any],
    api: Callable[..., APIClient],
    other_team: Team,
    sums: DatasetVersion,
) -> None:
    job = ask()["job"]
    listed = api("viewer").get(f"/api/v1/datasets/{sums.dataset_id}/versions/1/goldilocks").json()["data"]
    assert [one["id"] for one in listed] == [job["id"]]
    stranger = api("admin", team=other_team)
    assert stranger.get(f"/api/v1/goldilocks/{job['id']}").status_code == 404
    for name in ("cancel", "undo"):
        assert stranger.post(f"/api/v1/goldilocks/{job['id']}/{name}").status_code == 404
        assert api("viewer").post(f"/api/v1/goldilocks/{job['id']}/{name}").status_code == 403
    assert stranger.post("/api/v1/goldilocks", asked(), format="json").status_code == 422
    assert api("viewer").post("/api/v1/goldilocks", asked(), format="json").status_code == 403
    assert list(Goldilocks.objects.values_list("state", flat=True)) == ["first"]


def test_a_retry_starts_no_second_one(api: Callable[..., APIClient], sums: DatasetVersion) -> None:
    client = api("editor")
    rows = lambda: list(Goldilocks.objects.values())  # noqa: E731
    check_retry(client, lambda: client.post("/api/v1/goldilocks", asked(), format="json"), rows)
    made = Goldilocks.objects.get().id
    check_retry(client, lambda: client.post(f"/api/v1/goldilocks/{made}/cancel"), rows)
