"""Notes that versions have from those that their rows come from."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pyarrow as pa
import pytest

from dressage.common.actors import Actor
from dressage.datasets import services
from dressage.datasets.derivation.operations import DatasetOperation
from dressage.datasets.derivation.services import derive
from dressage.datasets.models import DatasetVersion
from dressage.datasets.selectors import version_by_ref
from dressage.datasets.versions import carrying, notes, storage
from dressage.datasets.versions.notes import NoteSource
from dressage.teams.models import Team

ROWS = 2_500
SOURCE: NoteSource = {"kind": "difficulty", "id": "prof_1", "arguments": {}}


@pytest.fixture
def make(team: Team, actor: Actor) -> Callable[[str, range], DatasetVersion]:
    """``make(name, ids)``: a dataset whose rows have those ids."""

    def made(name: str, ids: range) -> DatasetVersion:
        body = b"".join(b'{"id": "r%d", "prompt": "%s %d"}\n' % (n, name.encode(), n) for n in ids)
        dataset = services.create_dataset(team, actor, name=name, file=BytesIO(body), size=len(body))
        return dataset.versions.get(number=1)

    return made


def note(version: DatasetVersion, actor: Actor, name: str, values: list[Any], *, carried: bool = True) -> None:
    kind = pa.string() if isinstance(values[0], str) else pa.int64()
    table = pa.table({"value": pa.array(values, kind)})
    notes.write(version, name, table, by=actor, source=SOURCE, carried=carried)


def derived(parent: DatasetVersion, actor: Actor, operation: dict[str, Any], capture: Any) -> DatasetVersion:
    with capture(execute=True):
        made = derive(parent.dataset.team, parent, actor, DatasetOperation.model_validate(operation).root)
    return version_by_ref(parent.dataset.team, made["results"][0]["ref"])


def values(version: DatasetVersion, name: str) -> list[Any]:
    return notes.read(version, name).column("value").to_pylist()


def test_a_filtered_version_has_the_notes_of_the_rows_that_are_left(
    make: Callable[..., DatasetVersion], actor: Actor, django_capture_on_commit_callbacks: Any
) -> None:
    parent = make("sums", range(ROWS))
    note(parent, actor, "difficulty", list(range(ROWS)))
    note(parent, actor, "clusters", list(range(ROWS)), carried=False)
    wanted = [f"r{n}" for n in (2_499, 7, 2_000, 1_999)]
    child = derived(parent, actor, {"name": "filter", "query": {"ids": wanted}}, django_capture_on_commit_callbacks)
    assert [one.name for one in notes.of(child)] == ["difficulty"]
    assert values(child, "difficulty") == [7, 1_999, 2_000, 2_499]
    assert notes.of(child)[0].source == SOURCE


def test_long_notes_stay_with_their_rows(
    make: Callable[..., DatasetVersion],
    actor: Actor,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    """Groups of notes do not end early at the size at which those of rows do: notes are found by number."""
    parent = make("sums", range(ROWS))
    monkeypatch.setattr(storage, "GROUP_BYTES", 1_000)
    note(parent, actor, "explanation", [f"{n}: {'why ' * 5}" for n in range(ROWS)])
    wanted = [f"r{n}" for n in (7, 1_999, 2_000, 2_499)]
    child = derived(parent, actor, {"name": "filter", "query": {"ids": wanted}}, django_capture_on_commit_callbacks)
    assert [text.partition(":")[0] for text in values(child, "explanation")] == ["7", "1999", "2000", "2499"]


def test_rows_that_were_changed_or_added_have_no_notes(
    make: Callable[..., DatasetVersion], actor: Actor, django_capture_on_commit_callbacks: Any
) -> None:
    parent = make("sums", range(4))
    note(parent, actor, "language", ["en", "de", "fr", "es"])
    changes = [
        {"op": "change", "id": "r1", "row": {"id": "r1", "prompt": "other"}},
        {"op": "remove", "id": "r2"},
        {"op": "add", "row": {"prompt": "new"}},
    ]
    child = derived(parent, actor, {"name": "edit", "changes": changes}, django_capture_on_commit_callbacks)
    assert values(child, "language") == ["en", None, "es", None]


def test_merged_rows_have_the_notes_of_where_they_come_from(
    make: Callable[..., DatasetVersion], actor: Actor, django_capture_on_commit_callbacks: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(carrying, "_IDS_AT_ONCE", 1)  # several stretches of ids
    first, second, third = make("sums", range(3)), make("more", range(1, 5)), make("rest", range(10, 12))
    note(first, actor, "difficulty", [100, 101, 102])
    note(second, actor, "difficulty", [201, 202, 203, 204])
    note(second, actor, "language", ["a", "b", "c", "d"])
    note(third, actor, "language", [5, 6])  # another type: not the same facts
    operation = {"name": "merge", "others": ["more@1", "rest@1"], "equal_ids": "first"}
    child = derived(first, actor, operation, django_capture_on_commit_callbacks)
    assert child.rows == 7
    assert values(child, "difficulty") == [100, 101, 102, 203, 204, None, None]
    assert values(child, "language") == [None, None, None, "c", "d", None, None]


def test_renamed_rows_have_none(
    make: Callable[..., DatasetVersion], actor: Actor, django_capture_on_commit_callbacks: Any
) -> None:
    first, second = make("sums", range(2)), make("more", range(1, 3))
    note(second, actor, "difficulty", [201, 202])
    operation = {"name": "merge", "others": [second.ref], "equal_ids": "rename"}
    child = derived(first, actor, operation, django_capture_on_commit_callbacks)
    assert values(child, "difficulty") == [None, None, None, 202]


def test_a_version_without_rows_of_known_facts_has_no_notes(
    make: Callable[..., DatasetVersion], actor: Actor, django_capture_on_commit_callbacks: Any
) -> None:
    parent = make("sums", range(3))
    child = derived(parent, actor, {"name": "filter", "query": {"ids": ["r1"]}}, django_capture_on_commit_callbacks)
    assert notes.of(child) == []
