"""User actions on imports."""

from typing import Any

from django.db import transaction

from dressage.common.actors import Actor
from dressage.common.api.errors import FieldError
from dressage.common.api.problems import conflict
from dressage.common.slugs import slug_for
from dressage.datasets import selectors as datasets
from dressage.datasets.imports import files
from dressage.datasets.imports.allowed_urls import plain
from dressage.datasets.imports.places import require_place
from dressage.datasets.models import DatasetImport, DatasetImportState, DatasetSourceKind
from dressage.datasets.services import require_free
from dressage.jobs.local import end, notify, queue_again
from dressage.jobs.room import require_room
from dressage.teams.models import Team
from dressage.teams.services import record_audit
from trainer_core.datasets.mapping import DatasetMapping

MAX_OPEN = 20
"""Maximum number of unfinished imports per team."""
_OVER = (DatasetImportState.READY, DatasetImportState.CANCELLED)


@transaction.atomic
def start_import(
    team: Team,
    actor: Actor,
    *,
    source: str,
    location: str,
    revision: str = "",
    name: str = "",
    slug: str | None = None,
    description: str = "",
    dataset: str | None = None,
    config: str = "",
    split: str = "",
    paths: list[str] | None = None,
    mapping: DatasetMapping | None = None,
    review: bool = False,
) -> DatasetImport:
    """Start an import. A worker is notified on commit.

    Args:
        team: the owner of the future version.
        actor: who makes the request.
        source: a value of ``DatasetSourceKind``.
        location: ``owner/name`` of a repository, a URL, or a path.
        revision: a branch, tag or commit of the repository; empty for the main branch.
        name: display name of a new dataset.
        slug: name of a new dataset in specs; derived from the name if None.
        description: description of a new dataset.
        dataset: id of the dataset that gets the next version; None for a new dataset.
        config: config of the repository; empty for the first.
        split: split of the config; empty for the training split.
        paths: files by name, instead of those of the config and split.
        mapping: how the rows are read; None looks for a known shape.
        review: whether a person should look at the rows first.

    Raises:
        Problem: 422 if the place is not allowed or the name is invalid; 404 if the dataset does not exist; 409 if the
            slug is taken; 429 if the team has too many open imports.
    """
    require_place(source, location, revision)
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    target = datasets.dataset(team, dataset) if dataset is not None else None
    if target is not None:
        name, slug = target.name, target.slug
    else:
        slug = slug_for(name, slug)
        _require_free(team, slug)
    _require_room(team)
    row = DatasetImport.objects.create(
        team=team,
        name=name,
        slug=slug,
        description=description,
        dataset=target,
        source=source,
        location=location,
        revision=revision,
        config=config,
        split=split,
        paths=paths or [],
        mapping=mapping.model_dump(mode="json") if mapping else None,
        review=review,
        actor={"kind": actor.kind, "id": actor.id, "name": actor.name},
        created_by=actor.label,
    )
    record_audit(team, actor, "dataset.import", "dataset_import", row.id, after=_noted(row))
    notify(row)
    return row


@transaction.atomic
def cancel_import(team: Team, actor: Actor, row: DatasetImport) -> DatasetImport:
    """Cancel an import, or dismiss a failed one, and remove its files. Raises 409 if it is over."""
    locked = _locked(row)
    if locked.state in _OVER:
        raise conflict(f"The import is over: it is {locked.state}.", code="import_is_over")
    was_active = locked.state in locked.active_states
    end(locked, DatasetImportState.CANCELLED, report=[])
    record_audit(team, actor, "dataset.import_cancel", "dataset_import", row.id, after={"slug": row.slug})
    if not was_active:  # otherwise the worker that has it removes it
        transaction.on_commit(lambda: files.remove(row.id))
    return locked


@transaction.atomic
def retry_import(team: Team, actor: Actor, row: DatasetImport) -> DatasetImport:
    """Retry an import that failed or was cancelled. Files that are still on disk are not fetched again.

    Raises:
        Problem: 409 if it is not over, is ready, or its slug has been taken; 422 if its place is no longer allowed; 429
            as for a new import.
    """
    require_place(row.source, row.location, row.revision)
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    locked = _locked(row)
    if locked.state not in (DatasetImportState.FAILED, DatasetImportState.CANCELLED):
        raise conflict(f"The import is {locked.state}: there is nothing to try again.", code="import_cannot_be_retried")
    # Listed and compared again: a URL or folder may contain a different file by now.
    locked.files = [{**file, "sha256": ""} for file in locked.files]
    locked.save(update_fields=["files"])
    return _again(team, actor, locked, "dataset.import_retry")


@transaction.atomic
def read_import(team: Team, actor: Actor, row: DatasetImport, mapping: DatasetMapping | None) -> DatasetImport:
    """Read the files of an import that waits for a person or whose rows were refused.

    Args:
        team: its team.
        actor: who makes the request.
        row: the import.
        mapping: how to read its rows; None for a known shape, or a saved mapping for the same columns.

    Raises:
        Problem: 409 if its files are not on disk, or it does not wait for a person.
    """
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    locked = _locked(row)
    _require_files(locked)
    locked.mapping, locked.review = mapping.model_dump(mode="json") if mapping else None, False
    locked.save(update_fields=["mapping", "review"])
    return _again(team, actor, locked, "dataset.import_read")


def require_files(row: DatasetImport) -> None:
    """Require that an import waits for a person and has its files, so that they can be viewed. Raises a 409 problem."""
    _require_files(row)


def _require_files(row: DatasetImport) -> None:
    if not row.has_files:
        detail = f"The import is {row.state}, and its files are not here to be read. Retry fetches them."
        raise conflict(detail, code="import_has_no_files")


def _again(team: Team, actor: Actor, locked: DatasetImport, action: str) -> DatasetImport:
    if locked.dataset_id is None:
        _require_free(team, locked.slug, but=locked)
    _require_room(team)
    # Its size counts towards the team's quota again once its files are listed.
    queue_again(locked, faults=0, bytes_total=0, report=[])
    record_audit(team, actor, action, "dataset_import", locked.id, after={"slug": locked.slug})
    return locked


def _locked(row: DatasetImport) -> DatasetImport:
    return DatasetImport.objects.select_for_update(of=("self",)).select_related("version", "dataset").get(pk=row.pk)


def _require_free(team: Team, slug: str, *, but: DatasetImport | None = None) -> None:
    require_free(team, slug)
    waiting = [*DatasetImport.open_states(), DatasetImportState.WAITING]
    others = DatasetImport.objects.for_team(team).filter(slug=slug, dataset=None, state__in=waiting)
    if others.exclude(pk=but.pk if but else None).exists():
        detail = f"There is already an import of a dataset {slug!r}. Cancel it, or choose another slug."
        raise conflict(detail, code="slug_taken", errors=[FieldError(pointer="/slug", detail=detail)])


def _require_room(team: Team) -> None:
    waiting = [*DatasetImport.open_states(), DatasetImportState.WAITING]
    found = DatasetImport.objects.for_team(team).filter(state__in=waiting)
    require_room(found, team, MAX_OPEN, plural="imports", code="too_many_imports", retry_s=30)


def _noted(row: DatasetImport) -> dict[str, Any]:
    location = plain(row.location) if row.source == DatasetSourceKind.URL else row.location
    noted = {"slug": row.slug, "source": row.source, "location": location, "revision": row.revision}
    return noted | {"config": row.config, "split": row.split, "files": row.paths[:20]}
