"""Review of golds: people's verdicts on rows that a profile suspects, and the version created from them.

Verdicts are the row notes ``review`` of the version: by whom, what, and when. They follow their rows into versions
derived from this one, so that a confirmed gold stays confirmed.
"""

import json
from collections.abc import Sequence
from typing import Any, Literal, NotRequired

import pyarrow as pa
from django.db import transaction
from django.utils import timezone
from typing_extensions import TypedDict

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem, conflict, invalid, not_found
from dressage.common.times import iso
from dressage.datasets.derivation.operations import MAX_CHANGES, NotedEdit, RowChange
from dressage.datasets.derivation.services import Derived, Into, derive
from dressage.datasets.models import DatasetVersion, RowNotes
from dressage.datasets.versions import notes, storage
from dressage.datasets.versions.notes import NoteSource
from dressage.profiles.models import Profile, ProfileState
from dressage.profiles.services import reference_of
from dressage.teams.services import record_audit

NOTES = "review"
"""Name of the notes."""
Verdict = Literal["right", "wrong", "leave_out"]
VERDICTS: tuple[Verdict, ...] = ("right", "wrong", "leave_out")
_SCHEMA = pa.schema([(name, pa.string()) for name in ("verdict", "answer", "by", "at")])


class AskedVerdict(TypedDict):
    """A person's verdict on one gold."""

    row: int
    """Row number, starting at 0."""
    verdict: Verdict | None
    """None withdraws an earlier verdict."""
    answer: NotRequired[str]
    """The right answer, if the gold is wrong."""


class RowVerdict(TypedDict):
    """A person's stored verdict on one gold."""

    row: int
    """Row number, starting at 0."""
    verdict: Verdict
    answer: str | None
    """The right answer, if the gold is wrong."""
    by: str
    at: str


class ReviewDocument(TypedDict):
    """Verdicts on the golds of a profile's version."""

    verdicts: list[RowVerdict]
    """Verdicts in row order."""
    right: int
    wrong: int
    leave_out: int


def review(profile: Profile) -> ReviewDocument:
    """Return the verdicts on the golds so far."""
    said = _verdicts(profile.version)
    counts = {verdict: sum(one["verdict"] == verdict for one in said) for verdict in VERDICTS}
    return {"verdicts": said, "right": counts["right"], "wrong": counts["wrong"], "leave_out": counts["leave_out"]}


def confirmed(version: DatasetVersion) -> frozenset[int]:
    """Numbers of the rows whose gold a person has confirmed."""
    return frozenset(one["row"] for one in _verdicts(version) if one["verdict"] == "right")


@transaction.atomic
def say(profile: Profile, actor: Actor, asked: Sequence[AskedVerdict]) -> ReviewDocument:
    """Add verdicts to the stored ones. A new verdict replaces an earlier one on the same row.

    Raises:
        Problem: 409 if the profile is not done; 404 if the version was deleted; 422 for a row that does not exist or is
            named twice, an answer that equals the gold, and a review with more than ``MAX_CHANGES`` verdicts. Nothing
            changes then.
    """
    _require_done(profile)
    # If two people review at the same time, the second one reads what the first has written.
    found = DatasetVersion.objects.select_for_update(of=("self",), no_key=True).select_related("dataset")
    version = found.filter(pk=profile.version_id, deleted_at=None).first()
    if version is None:
        raise not_found("dataset version")
    _check(version, reference_of(profile), asked)
    said = {one["row"]: one for one in _verdicts(version)}
    now = iso(timezone.now())
    for one in asked:
        verdict = one["verdict"]
        if verdict is None:
            said.pop(one["row"], None)
            continue
        answer = one.get("answer", "").strip() if verdict == "wrong" else None
        said[one["row"]] = {"row": one["row"], "verdict": verdict, "answer": answer, "by": actor.label, "at": now}
    if len(said) > MAX_CHANGES:
        raise invalid("/verdicts", f"A review has at most {MAX_CHANGES:,} verdicts: create a version first.")
    _keep(version, profile, actor, list(said.values()))
    after = {"ref": version.ref, "verdicts": [dict(one) for one in asked[:20]], "number_of_verdicts": len(asked)}
    record_audit(profile.team, actor, "profile.review", "profile", profile.id, after=after)
    return review(profile)


def derive_from_review(
    profile: Profile, actor: Actor, *, into: Into | None, latest: int | None, dry_run: bool
) -> Derived:
    """Create a version from the verdicts: wrong golds are corrected, and ``leave_out`` rows are removed.

    Raises:
        Problem: 409 if the profile is not done, no verdict changes a row, or there is a newer version; 422 if no row
            would be left.
    """
    _require_done(profile)
    version = profile.version
    said = [one for one in _verdicts(version) if one["verdict"] != "right"]
    if not said:
        detail = "No verdict changes a row: mark a gold as wrong, or exclude its row."
        raise conflict(detail, code="nothing_to_change")
    column = reference_of(profile)
    rows = {number: (row_id, row) for number, row_id, row in _stored(version, [one["row"] for one in said])}
    changes = []
    for one in said:
        row_id, row = rows[one["row"]]
        if one["verdict"] == "leave_out":
            changes.append(RowChange(op="remove", id=row_id))
        else:
            changes.append(
                RowChange(op="change", id=row_id, row={**row, column: _like(row.get(column), one["answer"])})
            )
    corrected = sum(one["verdict"] == "wrong" for one in said)
    arguments = {
        "review": profile.id,
        "policy": profile.spec["policy"]["base"],
        "column": column,
        "corrected": corrected,
        "left_out": len(said) - corrected,
        "reviewers": sorted({one["by"] for one in said}),
    }
    operation = NotedEdit(name="edit", changes=changes, arguments=arguments)
    return derive(version.dataset.team, version, actor, operation, into=into, latest=latest, dry_run=dry_run)


def _require_done(profile: Profile) -> None:
    if profile.state != ProfileState.DONE:
        raise conflict(f"The profile is {profile.state}: wait until it is done.", code="profile_not_done")


def _check(version: DatasetVersion, column: str, asked: Sequence[AskedVerdict]) -> None:
    seen: set[int] = set()
    for index, one in enumerate(asked):
        if one["row"] >= version.rows:
            raise invalid(f"/verdicts/{index}/row", f"{version.ref} has {version.rows:,} rows, counted from 0.")
        if one["row"] in seen:
            raise invalid(f"/verdicts/{index}/row", f"The row {one['row']} is listed twice.")
        seen.add(one["row"])
    places = {one["row"]: index for index, one in enumerate(asked) if one["verdict"] == "wrong"}
    for number, _, row in _stored(version, list(places)):
        place = f"/verdicts/{places[number]}/answer"
        answer = asked[places[number]].get("answer", "").strip()
        if not answer:
            raise invalid(place, "Give the right answer.")
        if row.get(column) == _like(row.get(column), answer):
            raise invalid(place, "This is already the gold: mark it right, or give another answer.")


def _stored(version: DatasetVersion, numbers: list[int]) -> list[tuple[int, str, dict[str, Any]]]:
    if not numbers:
        return []
    try:
        return storage.read_identified(version.path, numbers)
    except FileNotFoundError as error:
        raise Problem(409, "Conflict", f"The file of {version.ref} is missing.", code="missing_files") from error


def _like(gold: Any, answer: str | None) -> Any:
    """An answer in the type of the gold it replaces: a number if the gold is one and the answer parses as one."""
    if answer is None or not isinstance(gold, int | float):
        return answer
    try:
        found = json.loads(answer, parse_constant=str)
    except ValueError:
        return answer
    same = isinstance(found, int | float) and isinstance(found, bool) == isinstance(gold, bool)
    return found if same else answer


def _verdicts(version: DatasetVersion) -> list[RowVerdict]:
    found = RowNotes.objects.filter(version=version, name=NOTES).first()
    if found is None:
        return []
    said: list[RowVerdict] = []
    start = 0
    for table in notes.groups(found):
        for row, values in enumerate(table.to_pylist(), start):
            if values["verdict"] is not None:
                one = RowVerdict(
                    row=row, verdict=values["verdict"], answer=values["answer"], by=values["by"], at=values["at"]
                )
                said.append(one)
        start += table.num_rows
    return said


def _keep(version: DatasetVersion, profile: Profile, actor: Actor, said: list[RowVerdict]) -> None:
    columns: dict[str, list[str | None]] = {name: [None] * version.rows for name in _SCHEMA.names}
    for one in said:
        for name, values in columns.items():
            values[one["row"]] = one[name]  # type: ignore[literal-required]  # the schema's names are its keys
    source: NoteSource = {"kind": "review", "id": profile.id, "arguments": {}}
    notes.write(version, NOTES, pa.table(columns, schema=_SCHEMA), by=actor, source=source)
