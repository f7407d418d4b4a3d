"""Values that filters of rows offer."""

import json
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pyarrow as pa
import pytest
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.datasets import services
from dressage.datasets.models import Dataset
from dressage.datasets.search import values
from dressage.datasets.versions import notes
from dressage.teams.models import Team


@pytest.fixture
def upload(team: Team, actor: Actor) -> Callable[[list[dict[str, Any]]], Dataset]:
    def make(rows: list[dict[str, Any]]) -> Dataset:
        body = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
        return services.create_dataset(team, actor, name="Sums", file=BytesIO(body), size=len(body))

    return make


def told(client: APIClient, dataset: Dataset, number: int = 1) -> Any:
    return client.get(f"/api/v1/datasets/{dataset.id}/versions/{number}/row-values")


def test_columns_with_few_values_and_scripts_are_told(api: Callable[..., APIClient], upload: Any) -> None:
    rows: list[dict[str, Any]] = [{"prompt": f"What is {n}?", "level": n % 3, "unique": f"u{n}"} for n in range(9)]
    rows += [{"prompt": "数学は何ですか", "level": 7, "topics": ["sets", "sums"]}] * 2
    document = told(api("viewer"), upload(rows)).json()
    assert document["columns"] == [
        {"name": "level", "values": [{"value": str(n), "rows": 3} for n in range(3)] + [{"value": "7", "rows": 2}]},
        {"name": "topics", "values": [{"value": "sets", "rows": 2}, {"value": "sums", "rows": 2}]},
    ]
    assert document["scripts"] == [{"value": "Latin", "rows": 9}, {"value": "Hiragana", "rows": 2}]
    assert (document["rows"], document["of"], document["notes"]) == (11, "all", [])


def test_a_large_version_is_told_by_a_spread_sample(
    api: Callable[..., APIClient], upload: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(values, "SAMPLE", 50)
    document = told(api("viewer"), upload([{"prompt": str(n), "half": n // 500} for n in range(1000)])).json()
    assert (document["rows"], document["of"]) == (50, "sample")
    (half,) = document["columns"]
    assert {one["value"]: one["rows"] for one in half["values"]} == {"0": 25, "1": 25}


def test_texts_of_notes_are_told_of_all_rows(
    api: Callable[..., APIClient], upload: Any, team: Team, actor: Actor
) -> None:
    dataset = upload([{"prompt": str(n)} for n in range(4)])
    version = dataset.versions.get()
    table = pa.table({"kind": ["number", "number", None, "text"], "sure": [True, None, None, False]})
    source: notes.NoteSource = {"kind": "answers", "id": "job", "arguments": {}}
    notes.write(version, "answers", table, by=actor, source=source)
    found = told(api("viewer"), dataset).json()["notes"]
    assert found == [{"name": "answers.kind", "values": [{"value": "number", "rows": 2}, {"value": "text", "rows": 1}]}]


def test_who_may_ask(api: Callable[..., APIClient], upload: Any, team: Team, actor: Actor) -> None:
    dataset = upload([{"prompt": "p"}])
    assert told(APIClient(), dataset).status_code == 401
    assert told(api("viewer"), dataset, 2).status_code == 404
    rivals = Team.objects.create(name="Rivals", slug="rivals")
    theirs = services.create_dataset(rivals, actor, name="Sums", file=BytesIO(b'{"prompt": "p"}\n'), size=16)
    assert theirs.team_id != team.id and told(api("viewer"), theirs).status_code == 404
