"""A team reads a dataset of another, by invitation, and nothing else; the attempts to get further are refused."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pyarrow as pa
import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.datasets import services
from dressage.datasets.models import Dataset, DatasetShare, DatasetVersion
from dressage.datasets.selectors import version_by_ref
from dressage.datasets.versions import deletion, notes
from dressage.teams.models import AuditEntry, Membership, Team

CONTENT = b'{"prompt": "one", "answer": 1}\n{"prompt": "two", "answer": 2}\n'


@pytest.fixture
def owner(api: Callable[..., APIClient]) -> APIClient:
    """An admin of the team that owns."""
    return api("admin")


@pytest.fixture
def guest(api: Callable[..., APIClient], other_team: Team) -> APIClient:
    """An admin of the team that is invited."""
    return api("admin", team=other_team)


@pytest.fixture
def dataset(team: Team, owner: APIClient) -> Dataset:
    return make(team, Actor("user", owner.user.id, owner.user.email))


def make(team: Team, actor: Actor, name: str = "Sums", content: bytes = CONTENT) -> Dataset:
    return services.create_dataset(
        team, actor, name=name, file=BytesIO(content), size=len(content), file_name="x.jsonl"
    )


def offer(client: APIClient, dataset: Dataset, note: str = "") -> dict[str, Any]:
    answer = client.post(f"/api/v1/datasets/{dataset.id}/shares", {"note": note}, format="json")
    assert answer.status_code == 201, answer.json()
    return answer.json()


def secret_of(made: dict[str, Any]) -> str:
    return str(made["link"]).rpartition("/")[2]


def accept(client: APIClient, secret: str, slug: str = "theirs") -> Any:
    return client.post(f"/api/v1/dataset-offers/{secret}/accept", {"slug": slug}, format="json")


def share(owner: APIClient, guest: APIClient, dataset: Dataset, slug: str = "theirs") -> str:
    """Share the dataset, and give the id of the share."""
    made = offer(owner, dataset)
    assert accept(guest, secret_of(made), slug).status_code == 201
    return str(made["id"])


def derive(client: APIClient, dataset: Dataset, into: str | None, operation: dict[str, Any] | None = None) -> Any:
    body = {"operation": operation or {"name": "filter", "query": {"text": "one"}}}
    if into:
        body["into"] = {"name": into}
    return client.post(f"/api/v1/datasets/{dataset.id}/versions/1/derive", body, format="json")


def test_a_guest_reads_under_a_name_of_their_own(
    api: Callable[..., APIClient], owner: APIClient, guest: APIClient, dataset: Dataset, other_team: Team
) -> None:
    made = offer(owner, dataset, "for the rivals")
    assert guest.get(f"/api/v1/dataset-offers/{secret_of(made)}").json() == {
        "team": "Stable",
        "name": "Sums",
        "slug": "sums",
        "description": "",
        "expires_at": made["expires_at"],
    }
    accepted = accept(guest, secret_of(made))
    assert accepted.status_code == 201
    viewer, base = api("viewer", team=other_team), f"/api/v1/datasets/{dataset.id}"
    [listed] = viewer.get("/api/v1/shared-datasets").json()["data"]
    assert listed == accepted.json()
    assert (listed["slug"], listed["shared_by"], listed["rows"], listed["number"]) == ("theirs", "Stable", 2, 1)
    document = viewer.get(base).json()
    assert (document["slug"], document["shared_by"], document["latest_version"]["ref"]) == (
        "theirs", "Stable", "theirs@1",
    )  # fmt: skip
    assert [row["prompt"] for row in viewer.get(f"{base}/versions/1/rows").json()["data"]] == ["one", "two"]
    assert "two" in viewer.get(f"{base}/versions/1/rows/1").content.decode()
    found = viewer.post(f"{base}/versions/1/rows/search", {"query": {"text": "two"}}, format="json").json()
    assert [row["index"] for row in found["data"]] == [1]
    assert b"".join(viewer.get(f"{base}/versions/1/download").streaming_content) == CONTENT.replace(
        b": ", b":"
    ).replace(b", ", b",")
    assert version_by_ref(other_team, "theirs@1").dataset_id == dataset.id
    assert viewer.get("/api/v1/datasets").json()["data"] == []
    [shown] = owner.get(f"{base}/shares").json()["data"]
    assert (shown["guest"], shown["note"]) == ("Rivals", "for the rivals")


def test_a_guest_learns_nothing_of_the_owners(
    team: Team, actor: Actor, owner: APIClient, guest: APIClient, dataset: Dataset
) -> None:
    make(team, actor, "Secret plan", b'{"prompt": "three"}\n')
    merge = {"name": "merge", "others": ["secret-plan@1"]}
    assert derive(owner, dataset, None, merge).status_code == 201
    plan = Dataset.objects.get(slug="secret-plan")
    version = DatasetVersion.objects.get(dataset=dataset, number=2)
    DatasetVersion.objects.filter(pk=version.pk).update(parent=plan.latest_version)
    source: notes.NoteSource = {"kind": "difficulty", "id": "prof_secret", "arguments": {"policy": "secret"}}
    found = pa.table({"pass_rate": pa.array([0.5, 0.5, 0.5], pa.float64())})
    notes.write(version, "difficulty", found, by=actor, source=source)
    share(owner, guest, dataset)
    base = f"/api/v1/datasets/{dataset.id}"
    query = {"query": {}, "limit": 9}
    answers = [
        guest.get(base),
        guest.get(f"{base}/versions/2"),
        guest.get(f"{base}/versions/2/notes"),
        guest.get(f"{base}/versions/2/rows/0"),
        guest.post(f"{base}/versions/2/rows/search", query, format="json"),
        guest.get("/api/v1/shared-datasets"),
    ]
    for answer in answers:
        assert answer.status_code == 200
        text = answer.content.decode()
        for hidden in ("secret", plan.id, owner.user.email, actor.label, "pass_rate", "sums@"):
            assert hidden not in text, (answer.request["PATH_INFO"], hidden)
    noted = {"query": {"notes": [{"notes": "difficulty", "column": "pass_rate", "least": 0.1}]}}
    assert guest.post(f"{base}/versions/2/rows/search", noted, format="json").status_code == 422
    assert owner.get(base).json()["created_by"] == owner.user.email  # the owner sees what was there
    assert owner.get(f"{base}/versions/2/notes").json()["data"][0]["source"]["id"] == "prof_secret"


def test_a_guest_changes_nothing(
    owner: APIClient, guest: APIClient, dataset: Dataset, actor: Actor, other_team: Team
) -> None:
    found = pa.table({"pass_rate": pa.array([0.5, 0.5], pa.float64())})
    notes.write(dataset.versions.get(), "difficulty", found, by=actor, source={"kind": "k", "id": "j", "arguments": {}})
    share_id = share(owner, guest, dataset)
    base, log = f"/api/v1/datasets/{dataset.id}", AuditEntry.objects.count()
    file = BytesIO(CONTENT)
    file.name = "x.jsonl"
    card = {"source": "x", "licence": "", "purpose": "", "caveats": "", "owner": None}
    assert derive(guest, dataset, None).json()["error"]["code"] == "shared_dataset"
    assert derive(guest, dataset, None).status_code == 403
    refused = [
        guest.post(f"{base}/versions", {"file": file}, format="multipart"),
        guest.delete(f"{base}/versions/1"),
        guest.delete(base),
        guest.put(f"{base}/card", card, format="json", headers={"If-Match": "1"}),
        guest.delete(f"{base}/versions/1/notes/difficulty"),
        guest.post(f"{base}/versions/1/lab", {"operation": {"kind": "duplicates"}}, format="json"),
        guest.get(f"{base}/versions/1/profiles"),
        guest.get(f"{base}/shares"),
        guest.post(f"{base}/shares", {}, format="json"),
        guest.delete(f"{base}/shares/{share_id}"),
    ]
    assert [answer.status_code for answer in refused] == [404] * len(refused)
    assert (DatasetVersion.objects.count(), AuditEntry.objects.count()) == (1, log)
    assert notes.named(dataset.versions.get(), "difficulty").name == "difficulty"


def test_what_a_guest_derives_is_their_own(
    api: Callable[..., APIClient], owner: APIClient, guest: APIClient, dataset: Dataset, other_team: Team
) -> None:
    share_id = share(owner, guest, dataset)
    editor = api("editor", team=other_team)
    assert derive(api("viewer", team=other_team), dataset, "Some").status_code == 403
    made = derive(editor, dataset, "Some").json()["results"][0]
    own = Dataset.objects.get(pk=made["dataset_id"])
    assert (own.team_id, made["ref"], made["rows"], own.created_by) == (other_team.id, "some@1", 1, editor.user.email)
    assert owner.get(f"/api/v1/datasets/{own.id}").status_code == 404
    parts = {"name": "split", "shares": [{"name": "a", "share": 0.5}, {"name": "b", "share": 0.5}], "salt": "2"}
    for part in derive(editor, dataset, None, parts).json().get("results", []):
        assert Dataset.objects.get(pk=part["dataset_id"]).team_id == other_team.id
    merge = {"name": "merge", "others": ["theirs@1"]}
    merged = editor.post(f"/api/v1/datasets/{own.id}/versions/1/derive", {"operation": merge}, format="json")
    assert merged.json()["results"][0]["rows"] == 2
    assert owner.delete(f"/api/v1/datasets/{dataset.id}/shares/{share_id}").status_code == 204
    assert editor.get(f"/api/v1/datasets/{own.id}/versions/1/rows").json()["data"][0]["prompt"] == "one"
    assert derive(editor, dataset, "More").status_code == 404
    again = editor.post(
        f"/api/v1/datasets/{own.id}/versions/1/derive", {"operation": merge, "into": {"name": "M"}}, format="json"
    )
    assert (again.status_code, again.json()["error"]["code"]) == (422, "unknown_reference")


def test_strangers_see_nothing(
    api: Callable[..., APIClient], owner: APIClient, guest: APIClient, dataset: Dataset
) -> None:
    made = offer(owner, dataset)
    third = api("admin", team=Team.objects.create(name="Third", slug="third"))
    assert accept(guest, secret_of(made)).status_code == 201
    base = f"/api/v1/datasets/{dataset.id}"
    paths = ("", "/versions/1", "/versions/1/rows", "/versions/1/download", "/versions/1/notes", "/shares")
    for path in paths:
        nothing = third.get(f"/api/v1/datasets/ds_nothing{path}")
        refused = third.get(f"{base}{path}")
        assert (refused.status_code, refused.json()["detail"]) == (404, nothing.json()["detail"])
    used = third.get(f"/api/v1/dataset-offers/{secret_of(made)}")
    never = third.get("/api/v1/dataset-offers/never")
    assert (used.status_code, used.json()["detail"]) == (404, never.json()["detail"])
    assert accept(third, secret_of(made)).status_code == 404
    assert third.get("/api/v1/shared-datasets").json()["data"] == []


def test_an_offer_is_good_once_for_an_admin_of_another_team(
    api: Callable[..., APIClient], owner: APIClient, guest: APIClient, dataset: Dataset, other_team: Team
) -> None:
    secret = secret_of(offer(owner, dataset))
    for role in ("viewer", "editor", "operator"):
        assert accept(api(role, team=other_team), secret).status_code == 403
        assert api(role, team=other_team).get(f"/api/v1/dataset-offers/{secret}").status_code == 403
        assert api(role).post(f"/api/v1/datasets/{dataset.id}/shares", {}, format="json").status_code == 403
    assert accept(owner, secret).json()["error"]["code"] == "own_dataset"
    assert accept(guest, secret).status_code == 201
    assert accept(guest, secret, "again").status_code == 404
    second = secret_of(offer(owner, dataset))
    assert accept(guest, second, "again").json()["error"]["code"] == "already_shared"
    assert DatasetShare.objects.filter(guest=other_team).count() == 1


@pytest.mark.parametrize("how", ["expired", "withdrawn", "deleted", "inviter_left"])
def test_an_offer_that_is_over_is_good_for_nothing(
    owner: APIClient, guest: APIClient, dataset: Dataset, actor: Actor, how: str
) -> None:
    made = offer(owner, dataset)
    if how == "expired":
        DatasetShare.objects.update(expires_at=timezone.now())
    elif how == "withdrawn":
        assert owner.delete(f"/api/v1/datasets/{dataset.id}/shares/{made['id']}").status_code == 204
    elif how == "deleted":
        deletion.delete_dataset(dataset, actor)
    else:
        Membership.objects.filter(user=owner.user).delete()
    assert guest.get(f"/api/v1/dataset-offers/{secret_of(made)}").status_code == 404
    assert accept(guest, secret_of(made)).status_code == 404
    assert not DatasetShare.objects.filter(accepted_at__isnull=False).exists()


def test_names_are_taken_once(
    owner: APIClient, guest: APIClient, dataset: Dataset, team: Team, other_team: Team, actor: Actor
) -> None:
    make(other_team, actor, "Own")
    secret = secret_of(offer(owner, dataset))
    refused = accept(guest, secret, "own")
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (409, "/slug")
    assert accept(guest, secret, "Not a slug").status_code == 422
    assert accept(guest, secret).status_code == 201
    with pytest.raises(Exception, match="Choose another slug"):
        make(other_team, actor, "Theirs")
    owner.delete(f"/api/v1/datasets/{dataset.id}/shares/{DatasetShare.objects.get().id}")
    with pytest.raises(Exception, match="Choose another slug"):  # an old spec names it
        make(other_team, actor, "Theirs")
    other = make(team, actor, "Other")
    assert accept(guest, secret_of(offer(owner, other))).json()["error"]["code"] == "slug_taken"
    assert accept(guest, secret_of(offer(owner, dataset))).status_code == 201  # of the same rows it means the same


def test_the_end_of_a_share(owner: APIClient, guest: APIClient, dataset: Dataset, other_team: Team) -> None:
    share_id = share(owner, guest, dataset)
    assert owner.delete(f"/api/v1/datasets/{dataset.id}/shares/{share_id}").status_code == 204
    base = f"/api/v1/datasets/{dataset.id}"
    for path in ("", "/versions/1", "/versions/1/rows", "/versions/1/download"):
        assert guest.get(f"{base}{path}").status_code == 404
    assert guest.get("/api/v1/shared-datasets").json()["data"] == []
    with pytest.raises(LookupError):
        version_by_ref(other_team, "theirs@1")
    assert version_by_ref(other_team, "theirs@1", new=False).dataset_id == dataset.id  # what has begun goes on
    assert owner.delete(f"{base}/shares/{share_id}").status_code == 404
    actions = AuditEntry.objects.filter(team=dataset.team, action__startswith="dataset.share")
    assert [entry.action.rpartition(".")[2] for entry in actions.order_by("number")] == ["offer", "accept", "revoke"]
    assert all(guest.user.email not in entry.actor_name for entry in actions)


def test_a_deleted_dataset_is_gone_for_guests(
    owner: APIClient, guest: APIClient, dataset: Dataset, actor: Actor, other_team: Team
) -> None:
    share(owner, guest, dataset)
    services.create_version(dataset, actor, file=BytesIO(b'{"prompt": "x"}'), size=15)
    deletion.delete_version(dataset.versions.get(number=1), actor)
    answer = guest.get(f"/api/v1/datasets/{dataset.id}/versions/1/rows")
    assert answer.json()["error"]["code"] == "version_deleted"
    assert actor.label not in answer.json()["detail"]
    deletion.delete_dataset(dataset, actor)
    assert guest.get(f"/api/v1/datasets/{dataset.id}").status_code == 404
    with pytest.raises(LookupError):
        version_by_ref(other_team, "theirs@2")


def test_rows_of_others_count_for_their_owner(owner: APIClient, guest: APIClient, dataset: Dataset) -> None:
    share(owner, guest, dataset)
    assert (guest.get("/api/v1/dataset-usage").json()["rows"], owner.get("/api/v1/dataset-usage").json()["rows"]) == (
        0, 2,
    )  # fmt: skip


def test_a_link_is_told_once(owner: APIClient, dataset: Dataset) -> None:
    made = offer(owner, dataset)
    [listed] = owner.get(f"/api/v1/datasets/{dataset.id}/shares").json()["data"]
    assert "link" not in listed
    assert secret_of(made) not in str(list(DatasetShare.objects.values()))
    assert secret_of(made) not in str(list(AuditEntry.objects.values()))


def test_an_offer_takes_no_query(owner: APIClient, guest: APIClient, dataset: Dataset) -> None:
    path = f"/api/v1/dataset-offers/{secret_of(offer(owner, dataset))}"
    assert guest.get(path, {"team": "mine"}).status_code == 422
    assert guest.get(path).status_code == 200
