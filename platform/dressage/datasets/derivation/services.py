"""Creates versions derived from others. A preview reads the same data as the operation, but writes nothing."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
from django.db import transaction
from typing_extensions import TypedDict

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem, conflict, invalid, not_found
from dressage.common.lengthy import FILES
from dressage.common.slugs import slug_for
from dressage.datasets import selectors
from dressage.datasets.cards.services import begin_card, carry_card
from dressage.datasets.derivation import tables
from dressage.datasets.derivation.integers import with_integers
from dressage.datasets.derivation.operations import (
    AddRows,
    AnyOperation,
    EditRows,
    FilterRows,
    IntegerAnswers,
    KeepRows,
    MadeRows,
    MergeVersions,
    NotedEdit,
    SplitRows,
)
from dressage.datasets.derivation.tables import CheckedEdit, Counts, EditError
from dressage.datasets.limits import MAX_COLUMNS, MAX_ROWS
from dressage.datasets.models import Dataset, DatasetVersion
from dressage.datasets.rows.query import RowQuery
from dressage.datasets.search.conditions import of_notes
from dressage.datasets.services import add_version, locked_dataset, require_free
from dressage.datasets.versions import notes, storage
from dressage.datasets.versions.carrying import CarriedNotes, carried_notes, discard
from dressage.datasets.versions.deletion import remove_unnamed
from dressage.datasets.versions.lineage import OperationCounts, VersionOperation
from dressage.teams.models import Team
from trainer_core.datasets.fields import json_type

_NOTED_IDS = 100
"""Maximum number of ids of edited rows that the lineage stores."""
OperationName = Literal["edit", "filter", "split", "merge", "integers", "synthesis", "rollouts"]


class DerivedVersion(TypedDict):
    """A version that was created, or would be."""

    name: str
    """Name of its dataset."""
    slug: str
    dataset_id: str | None
    """Null in a preview of a new dataset."""
    number: int
    ref: str
    rows: int


class Derived(TypedDict):
    """What an operation created, or would create."""

    operation: OperationName
    dry_run: bool
    counts: OperationCounts
    """Sum of all parts."""
    results: list[DerivedVersion]


Operation = AnyOperation | KeepRows | NotedEdit | AddRows | MadeRows
"""Operations of clients, and those of other parts of the platform."""
Within = Callable[[Callable[[], list[DerivedVersion]]], list[DerivedVersion]]


@dataclass(frozen=True, slots=True)
class Into:
    """A new dataset for the result."""

    name: str
    slug: str | None = None
    description: str = ""


@dataclass(frozen=True, slots=True)
class _Target:
    """One version to be created."""

    into: Into | None
    """None for the next version of the parent's dataset."""
    tables: Iterator[pa.Table]
    counts: Counts
    columns: list[dict[str, str]]
    arguments: dict[str, Any]
    others: Sequence[DatasetVersion] = ()
    """Versions whose rows are appended to those of the parent."""
    changed: Collection[str] = ()
    """Ids of rows that differ from the parent."""


@dataclass
class _Written:
    target: _Target
    path: Path = field(default_factory=Path)
    notes: list[CarriedNotes] = field(default_factory=list)
    kept: Path | None = None
    """Its file at its final path."""
    kept_notes: list[Path] = field(default_factory=list)


def derive(
    team: Team,
    parent: DatasetVersion,
    actor: Actor,
    operation: Operation,
    *,
    into: Into | None = None,
    latest: int | None = None,
    others: Sequence[DatasetVersion] = (),
    dry_run: bool = False,
    within: Within = lambda store: store(),
) -> Derived:
    """Create versions derived from ``parent``, with their lineage.

    Args:
        team: the owner of the new versions.
        parent: the version to derive from, owned by the team or shared with it.
        actor: who makes the request.
        operation: what to do with the rows.
        into: a new dataset for the result; None creates the next version of the parent's dataset. A split always
            creates new datasets.
        latest: number of the newest version that the caller has seen.
        others: further versions whose rows the operation was made from.
        dry_run: whether only to count.
        within: called in the transaction that stores the versions, before anything is locked, with a function that
            stores them. If it raises, nothing is stored.

    Raises:
        Problem: 403 if another team's dataset would get the next version; 409 if there is a newer version than
            ``latest``, or a slug is taken; 422 if the operation is impossible or would leave no rows; 429 or 503 if too
            many files are being read. Nothing is created then.
    """
    if into is None and operation.name != "split" and parent.dataset.team_id != team.id:
        detail = f"{parent.dataset.slug} is shared with your team to be read. Make a new dataset of it, with a name."
        raise Problem(403, "Not allowed", detail, code="shared_dataset")
    _require_latest(parent.dataset, latest)
    targets = _targets(team, parent, operation, into, others)
    for target in targets:
        if target.into is not None:
            require_free(team, slug_for(target.into.name, target.into.slug))
    with ExitStack() as stack:
        written = [_Written(target) for target in targets]
        with FILES.place(team.id):
            for one in written:
                _carry_out(parent, one, stack, dry_run)
        if dry_run:
            results = [_preview(parent, one.target) for one in written]
        else:
            results = _store_all(team, parent, actor, operation, written, latest, within)
    counts = _together([target.counts for target in targets])
    return {"operation": operation.name, "dry_run": dry_run, "counts": counts, "results": results}


def _targets(
    team: Team, parent: DatasetVersion, operation: Operation, into: Into | None, others: Sequence[DatasetVersion]
) -> list[_Target]:
    counts = Counts()
    match operation:
        case EditRows():
            try:
                checked = tables.check_edit(operation)
            except EditError as error:
                raise _unfit(error) from error
            return [_edit(parent, checked, _noted(operation), into, counts)]
        case FilterRows():
            with selectors.missing_files("/operation"):
                noted = of_notes(parent, operation.query.notes, "/operation/query")
            found = tables.filtered(parent.path, operation.query, noted, counts)
            return [_Target(into, found, counts, parent.columns, {"query": noted_query(operation.query)})]
        case KeepRows():
            kept = tables.kept(parent.path, operation.ids, counts)
            return [_Target(into, kept, counts, parent.columns, operation.arguments)]
        case SplitRows():
            return [_part(parent, operation, number, into) for number in range(len(operation.shares))]
        case IntegerAnswers():
            changed: set[str] = set()
            whole = with_integers(parent.path, operation, counts, changed)
            arguments = operation.model_dump(exclude={"name"})
            return [_Target(into, whole, counts, parent.columns, arguments, changed=changed)]
        case AddRows():
            checked = tables.check_rows(operation.rows)
            return [_edit(parent, checked, operation.arguments, into, counts)]
        case MadeRows():
            made = [tables.checked_row(index, row) for index, row in enumerate(operation.rows)]
            columns = _columns_of(*([{"name": n, "type": json_type(v)} for n, v in row.data.items()] for row in made))
            found = tables.made(parent.path, made, counts)
            return [_Target(into, found, counts, columns, operation.arguments, others)]
        case MergeVersions():
            return [_merge(team, parent, operation, into, counts)]


def noted_query(query: RowQuery) -> dict[str, Any]:
    """The conditions of a query as the lineage stores them. Long lists of ids are cut."""
    found = query.model_dump(exclude_defaults=True)
    if "ids" in found:
        found |= {"ids": found["ids"][:_NOTED_IDS], "number_of_ids": len(found["ids"])}
    return found


def _noted(edit: EditRows) -> dict[str, Any]:
    """The arguments of an edit as the lineage stores them."""
    ids = [change.id for change in edit.changes if change.id is not None]
    arguments: dict[str, Any] = {"ids": ids[:_NOTED_IDS], "number_of_ids": len(ids)}
    return arguments | edit.arguments if isinstance(edit, NotedEdit) else arguments


def _edit(
    parent: DatasetVersion, checked: CheckedEdit, arguments: dict[str, Any], into: Into | None, counts: Counts
) -> _Target:
    if parent.rows + len(checked.added) > MAX_ROWS:
        raise invalid("/operation/changes", f"The version would have more than {MAX_ROWS:,} rows.")
    columns = parent.columns
    for row in checked.rows:
        here = [{"name": name, "type": json_type(value)} for name, value in row.data.items()]
        columns = _columns_of(columns, here)
    if len(columns) > MAX_COLUMNS:
        raise invalid("/operation/changes", f"The version would have more than {MAX_COLUMNS} different columns.")
    found = tables.edited(parent.path, checked, counts)
    return _Target(into, found, counts, columns, arguments, changed=checked.changed.keys())


def _part(parent: DatasetVersion, split: SplitRows, number: int, into: Into | None) -> _Target:
    share, counts = split.shares[number], Counts()
    base = into.name if into else parent.dataset.name
    slug = (into.slug or slug_for(into.name, None)) if into else parent.dataset.slug
    new = Into(
        f"{base[:88]} {share.name}", f"{slug[: 62 - len(share.name)]}-{share.name}", into.description if into else ""
    )
    found = tables.part(parent.path, split.shares, split.salt, number, counts)
    arguments = {
        "part": share.name,
        "shares": {one.name: one.share for one in split.shares},
        "salt": split.salt,
    }
    return _Target(new, found, counts, parent.columns, arguments)


def _merge(team: Team, parent: DatasetVersion, merge: MergeVersions, into: Into | None, counts: Counts) -> _Target:
    others = []
    for index, ref in enumerate(merge.others):
        try:
            others.append(selectors.version_by_ref(team, ref))
        except LookupError as error:
            raise invalid(f"/operation/others/{index}", str(error), code="unknown_reference") from error
    if sum(version.rows for version in (parent, *others)) > MAX_ROWS:
        raise invalid("/operation/others", f"Together they have more than {MAX_ROWS:,} rows.")
    columns = parent.columns
    for other in others:
        columns = _columns_of(columns, other.columns)
    if len(columns) > MAX_COLUMNS:
        raise invalid("/operation/others", f"Together they have more than {MAX_COLUMNS} different columns.")
    paths = [parent.path, *(other.path for other in others)]
    arguments = {"others": [other.ref for other in others], "equal_ids": merge.equal_ids}
    found = tables.merged(paths, merge.equal_ids, counts)
    return _Target(into, found, counts, columns, arguments, others=others)


def _carry_out(parent: DatasetVersion, one: _Written, stack: ExitStack, dry_run: bool) -> None:
    target = one.target
    try:
        if dry_run:
            for _ in target.tables:
                pass
        else:
            one.path = storage.write_tables(target.tables)
            stack.callback(one.path.unlink, missing_ok=True)
            one.notes = carried_notes(one.path, target.counts.after, [parent, *target.others], target.changed)
            stack.callback(discard, one.notes)
    except EditError as error:
        raise _unfit(error) from error
    except FileNotFoundError as error:
        raise invalid("/operation", "A file of the rows is gone.", code="missing_files") from error
    if not target.counts.after:
        part = target.arguments.get("part")
        detail = f"The part {part!r} would have no row." if part else "No row would be left."
        raise invalid("/operation", f"{detail} Nothing was made.", code="no_rows")


def _store_all(
    team: Team,
    parent: DatasetVersion,
    actor: Actor,
    operation: Operation,
    written: list[_Written],
    latest: int | None,
    within: Within,
) -> list[DerivedVersion]:
    """Store all versions or none. If none, no files are left."""
    try:
        with transaction.atomic():
            return within(partial(_store_each, team, parent, actor, operation.name, written, latest))
    except BaseException:
        for one in written:
            if one.kept is not None:
                remove_unnamed(one.kept.parent.name, [one.kept])
            for path in one.kept_notes:
                path.unlink(missing_ok=True)
        raise


def _store_each(
    team: Team,
    parent: DatasetVersion,
    actor: Actor,
    name: OperationName,
    written: list[_Written],
    latest: int | None,
) -> list[DerivedVersion]:
    # Lock datasets before the team, like every writer of versions: the audit log locks the team.
    if any(one.target.into is not None for one in written):
        Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    return [_store(team, parent, actor, name, one, latest) for one in written]


def _store(
    team: Team,
    parent: DatasetVersion,
    actor: Actor,
    name: OperationName,
    one: _Written,
    latest: int | None,
) -> DerivedVersion:
    target = one.target
    if target.into is None:
        # NO KEY UPDATE: two operations take their numbers one after the other, and readers do not wait.
        dataset = locked_dataset(parent.dataset_id)
        _require_latest(dataset, latest)
    else:
        slug = slug_for(target.into.name, target.into.slug)
        require_free(team, slug)
        dataset = Dataset.objects.create(
            team=team,
            slug=slug,
            name=target.into.name,
            description=target.into.description,
            created_by=actor.label,
        )
        begin_card(dataset, actor)
    _carry_card(parent, target, dataset)
    counts = OperationCounts(**target.counts.document())  # type: ignore[typeddict-item]  # its keys are the fields
    version = add_version(
        dataset,
        actor,
        one.path,
        rows=target.counts.after,
        columns=target.columns,
        operation=VersionOperation(name=name, arguments=target.arguments, counts=counts),
        parent=parent,
    )
    one.kept = version.path
    for carried in one.notes:
        one.kept_notes.append(notes.keep(version, carried.name, carried.written, by=actor, source=carried.source).path)
    return _result(dataset, version.number, version.rows, dataset.id)


def _carry_card(parent: DatasetVersion, target: _Target, dataset: Dataset) -> None:
    sources = {version.dataset_id: version.dataset for version in (parent, *target.others)}
    sources.pop(dataset.id, None)
    carry_card(dataset, list(sources.values()), new=target.into is not None)


def _preview(parent: DatasetVersion, target: _Target) -> DerivedVersion:
    if target.into is None:
        newest = parent.dataset.versions.order_by("-number").values_list("number", flat=True)[0]
        return _result(parent.dataset, newest + 1, target.counts.after, parent.dataset_id)
    dataset = Dataset(name=target.into.name, slug=slug_for(target.into.name, target.into.slug))
    return _result(dataset, 1, target.counts.after, None)


def _result(dataset: Dataset, number: int, rows: int, dataset_id: str | None) -> DerivedVersion:
    return {
        "name": dataset.name,
        "slug": dataset.slug,
        "dataset_id": dataset_id,
        "number": number,
        "ref": f"{dataset.slug}@{number}",
        "rows": rows,
    }


def _require_latest(dataset: Dataset, seen: int | None) -> None:
    newest = dataset.versions.filter(deleted_at=None).order_by("-number").values_list("number", flat=True).first()
    if newest is None:
        raise not_found("dataset")
    if seen is not None and seen != newest:
        detail = f"Version {newest} was made since you looked; the newest then was {seen}. Look at it, then try again."
        raise conflict(detail, code="newer_version")


def _columns_of(*lists: list[dict[str, str]]) -> list[dict[str, str]]:
    """Columns of the rows of several lists, in order of first appearance; ``mixed`` if the types differ."""
    types: dict[str, str] = {}
    for column in (one for columns in lists for one in columns):
        name, here = column["name"], column["type"]
        there = types.get(name, here)
        types[name] = there if here in (there, "null") else here if there == "null" else "mixed"
    return [{"name": name, "type": found} for name, found in types.items()]


def _together(counts: list[Counts]) -> OperationCounts:
    """The counts of one target, or the sum over the parts of a split, which drops no row."""
    if len(counts) == 1:
        return OperationCounts(**counts[0].document())  # type: ignore[typeddict-item]  # its keys are the fields
    after = sum(one.after for one in counts)
    return {"before": counts[0].before, "after": after, "added": 0, "removed": 0, "changed": 0}


def _unfit(error: EditError) -> Problem:
    place = "" if error.index is None else f"/{error.index}"
    return invalid(f"/operation/changes{place}", str(error), code="invalid_edit")
