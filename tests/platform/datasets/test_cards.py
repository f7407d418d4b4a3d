"""Cards say where rows are from, under which licence, and who answers for them; licences go with the rows."""

import json
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.datasets import services
from dressage.datasets.cards import licences
from dressage.datasets.cards.documents import card_of
from dressage.datasets.models import Dataset, DatasetCard
from dressage.teams.models import AuditEntry, Membership, Team

EMPTY = {"source": "", "licence": "", "purpose": "", "caveats": "", "owner": None}
SAID = {"source": "https://example.com/sums", "licence": "cc-by-4.0", "purpose": "Sums.", "caveats": "*Easy.*"}


def make(team: Team, actor: Actor, name: str = "Sums", content: bytes = b'{"prompt": "1+1="}\n') -> Dataset:
    return services.create_dataset(team, actor, name=name, file=BytesIO(content), size=len(content))


def write(client: APIClient, dataset: Dataset, revision: int, **fields: Any) -> Any:
    headers = {"If-Match": f'"{revision}"'}
    return client.put(f"/api/v1/datasets/{dataset.id}/card", {**EMPTY, **fields}, format="json", headers=headers)


def read(client: APIClient, dataset_id: str) -> dict[str, Any]:
    return client.get(f"/api/v1/datasets/{dataset_id}").json()["card"]


def by(client: APIClient) -> Actor:
    return Actor("user", client.user.id, client.user.email)


def derive(client: APIClient, dataset_id: str, operation: dict[str, Any], into: str | None) -> dict[str, Any]:
    body = {"operation": operation, "into": {"name": into} if into else None}
    answer = client.post(f"/api/v1/datasets/{dataset_id}/versions/1/derive", body, format="json")
    assert answer.status_code == 201, answer.json()
    return answer.json()["results"][0]


def test_whoever_makes_a_dataset_owns_it_until_they_leave(team: Team, api: Callable[..., APIClient]) -> None:
    editor, viewer = api("editor"), api("viewer")
    dataset = make(team, by(editor))
    member = Membership.objects.get(user=editor.user)
    card = read(viewer, dataset.id)
    assert card["owner"] == {"id": member.id, "email": editor.user.email, "name": "Editor"}
    assert (card["revision"], card["last_owner"]) == (1, "")
    member.delete()
    card = read(viewer, dataset.id)
    assert (card["owner"], card["last_owner"]) == (None, editor.user.email)
    # Who writes of something else leaves that as it is.
    assert write(api("editor"), dataset, 1, purpose="Sums.").json()["last_owner"] == editor.user.email


def test_a_program_owns_nothing(team: Team, api: Callable[..., APIClient]) -> None:
    card = read(api(), make(team, Actor("token", "tok_1", "ci")).id)
    assert (card["owner"], card["last_owner"]) == (None, "")


def test_a_card_is_written_and_audited(team: Team, actor: Actor, api: Callable[..., APIClient]) -> None:
    dataset, editor = make(team, actor), api("editor")
    owner = Membership.objects.get(user=api("viewer").user)
    answer = write(editor, dataset, 1, **SAID, owner=owner.id)
    assert (answer.status_code, answer.headers["ETag"]) == (200, '"2"')
    card = answer.json()
    assert {name: card[name] for name in SAID} == {**SAID, "licence": "CC-BY-4.0"}
    assert (card["licence_is_spdx"], card["revision"], card["updated_by"]) == (True, 2, editor.user.email)
    assert card["owner"]["id"] == owner.id
    assert read(editor, dataset.id) == card
    entry = AuditEntry.objects.get(action="dataset.card")
    assert (entry.before["licence"], entry.after["licence"]) == ("", "CC-BY-4.0")
    assert entry.after["owner"] == owner.user.email
    cleared = write(editor, dataset, 2).json()
    assert (cleared["owner"], cleared["last_owner"], cleared["licence"]) == (None, "", "")


def test_of_two_writers_the_second_is_told(team: Team, actor: Actor, api: Callable[..., APIClient]) -> None:
    dataset, editor = make(team, actor), api("editor")
    assert write(editor, dataset, 1, purpose="First.").status_code == 200
    answer = write(api("editor"), dataset, 1, purpose="Second.")
    assert (answer.status_code, answer.json()["error"]["code"], answer.json()["revision"]) == (412, "stale_revision", 2)
    assert answer.json()["detail"].startswith(editor.user.email)
    path = f"/api/v1/datasets/{dataset.id}/card"
    for headers in ({}, {"If-Match": "*"}, {"If-Match": "two"}):
        assert editor.put(path, EMPTY, format="json", headers=headers).status_code == 428
    assert read(editor, dataset.id)["purpose"] == "First."


def test_a_dataset_of_before_gets_its_first_card(team: Team, actor: Actor, api: Callable[..., APIClient]) -> None:
    dataset, editor = make(team, actor), api("editor")
    DatasetCard.objects.all().delete()
    assert read(editor, dataset.id)["revision"] == 0
    assert write(editor, dataset, 1).status_code == 412
    assert write(editor, dataset, 0, licence="MIT").json()["revision"] == 1


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"licence": "x" * 121}, "/licence"),
        ({"source": "x" * 2001}, "/source"),
        ({"purpose": "x" * 2001}, "/purpose"),
        ({"caveats": "x" * 20_001}, "/caveats"),
        ({"owner": "mem_nobody"}, "/owner"),
        ({"licences": ["MIT"]}, "/licences"),
    ],
)
def test_refusals_change_nothing(
    team: Team, actor: Actor, api: Callable[..., APIClient], fields: dict[str, Any], pointer: str
) -> None:
    dataset, editor = make(team, actor), api("editor")
    answer = write(editor, dataset, 1, **fields)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)
    assert read(editor, dataset.id)["revision"] == 1
    assert not AuditEntry.objects.filter(action="dataset.card").exists()


def test_a_member_of_another_team_owns_nothing_here(
    team: Team, other_team: Team, actor: Actor, api: Callable[..., APIClient]
) -> None:
    dataset, rival = make(team, actor), api("admin", team=other_team)
    theirs = Membership.objects.get(user=rival.user)
    answer = write(api("editor"), dataset, 1, owner=theirs.id)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "no_such_member")
    assert write(rival, dataset, 1).status_code == 404
    assert write(api("viewer"), dataset, 1).status_code == 403
    services_actor = Actor("user", rival.user.id, rival.user.email)
    assert card_of(make(team, services_actor, "Others")).get("owner") is None


@pytest.mark.parametrize(
    ("rows", "licence"),
    [
        (["MIT", "MIT"], "MIT"),
        (["cc by-sa 4.0", "CC-BY-SA-4.0"], "CC-BY-SA-4.0"),
        (["MIT", "Apache-2.0"], "Apache-2.0 AND MIT"),
        (["MIT", None], ""),
        (["permission", "MIT"], "MIT; permission"),
        ([f"own {n}" for n in range(9)], ""),
        ([3, 3], ""),
    ],
)
def test_rows_that_name_their_licence_fill_it(team: Team, actor: Actor, rows: list[Any], licence: str) -> None:

    content = b"".join(
        json.dumps({"prompt": f"p{n}"} | ({} if one is None else {"license": one})).encode() + b"\n"
        for n, one in enumerate(rows)
    )
    assert card_of(make(team, actor, content=content))["licence"] == licence


def test_a_new_dataset_takes_the_card_of_its_rows(team: Team, actor: Actor, api: Callable[..., APIClient]) -> None:
    dataset, editor = make(team, actor), api("editor")
    write(editor, dataset, 1, **SAID)
    made = derive(editor, dataset.id, {"name": "filter", "query": {"text": "1"}}, "Some")
    card = read(editor, made["dataset_id"])
    assert {name: card[name] for name in SAID} == {**SAID, "licence": "CC-BY-4.0"}
    assert (card["owner"]["email"], card["revision"]) == (editor.user.email, 1)


def test_merged_rows_come_under_all_their_licences(team: Team, actor: Actor, api: Callable[..., APIClient]) -> None:
    editor = api("editor")
    one, two, three = (make(team, actor, name, b'{"prompt": "%d"}' % n) for n, name in enumerate(("A", "B", "C")))
    write(editor, one, 1, licence="MIT", caveats="One.")
    write(editor, two, 1, licence="CC-BY-4.0 OR MIT", caveats="Two.")
    merge = {"name": "merge", "others": ["b@1"]}
    card = read(editor, derive(editor, one.id, merge, "Both")["dataset_id"])
    assert (card["licence"], card["licence_is_spdx"]) == ("MIT AND (CC-BY-4.0 OR MIT)", True)
    assert card["caveats"] == "One.\n\nTwo."
    # Of the third nobody has said under which licence it comes, and so of the whole.
    derive(editor, one.id, {"name": "merge", "others": ["b@1", "c@1"]}, None)
    card = read(editor, one.id)
    assert (card["licence"], card["caveats"], card["revision"]) == ("", "One.\n\nTwo.", 3)
    assert read(editor, three.id)["revision"] == 1


@pytest.mark.parametrize(
    ("found", "whole"),
    [
        ([], ""),
        (["MIT"], "MIT"),
        (["MIT", "MIT"], "MIT"),
        (["MIT", ""], ""),
        (["MIT AND ISC", "ISC"], "MIT AND ISC"),
        (["MIT", "ours"], "MIT; ours"),
        (["x" * 80, "y" * 80], ""),
    ],
)
def test_licences_together(found: list[str], whole: str) -> None:
    assert licences.together(found) == whole
