"""Changes to datasets. Files are stored before database rows, so everything that the database names is complete."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.db import transaction

from dressage.common.actors import Actor
from dressage.common.api.errors import FieldError
from dressage.common.api.problems import Problem, conflict, not_found
from dressage.common.lengthy import FILES
from dressage.common.slugs import slug_for
from dressage.datasets.cards.services import begin_card
from dressage.datasets.checking.check import CheckOrder, CheckResult, TooManyRows, store
from dressage.datasets.checking.process import check_apart
from dressage.datasets.files.columnar.stored import TakenRows
from dressage.datasets.files.origin import Origin
from dressage.datasets.files.reading import UploadedRows
from dressage.datasets.limits import MAX_FILE_BYTES
from dressage.datasets.models import Dataset, DatasetShare, DatasetVersion
from dressage.datasets.quota.usage import require_quota, too_many_rows
from dressage.datasets.rows.row import Row
from dressage.datasets.versions import storage
from dressage.datasets.versions.lineage import VersionOperation, made_of_nothing
from dressage.teams.models import Team
from dressage.teams.services import record_audit
from trainer_core.datasets.mapping import DatasetMapping


@dataclass(slots=True)
class CheckedFile:
    """A file whose rows were all read, and its stored form."""

    rows: int
    columns: list[dict[str, str]]
    origin: Origin
    licence: str
    """The licence that the rows name; empty if not all of them name one."""
    temporary: Path
    """The Parquet file. The caller of the check removes it."""


def create_dataset(
    team: Team,
    actor: Actor,
    *,
    name: str,
    file: BinaryIO,
    size: int,
    file_name: str = "",
    sha256: str = "",
    slug: str | None = None,
    description: str = "",
    mapping: DatasetMapping | None = None,
) -> Dataset:
    """Create a dataset whose first version contains the rows of ``file``, which are of a known shape or of ``mapping``.

    ``size`` is in bytes. ``sha256`` is the required hash in hexadecimal digits; empty if none was declared.

    Raises:
        Problem: 409 if the slug is taken, or the team's quota is exceeded; 413 or 422 if the file is refused; 429 or
            503 if too many files are being read. Nothing is created then.
    """
    slug = slug_for(name, slug)
    require_free(team, slug)
    checked = _check(team.id, file, size, file_name, mapping, sha256)
    try:
        return add_dataset(team, actor, checked, name=name, slug=slug, description=description)
    finally:
        checked.temporary.unlink(missing_ok=True)


@transaction.atomic
def add_dataset(
    team: Team, actor: Actor, checked: CheckedFile, *, name: str, slug: str, description: str, source: str = ""
) -> Dataset:
    """Create a dataset from a checked file. ``source`` is the initial source on its card.

    Raises:
        Problem: 409 if the slug is taken, or the team's quota is exceeded.
    """
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    require_free(team, slug)
    dataset = Dataset.objects.create(team=team, slug=slug, name=name, description=description, created_by=actor.label)
    begin_card(dataset, actor, licence=checked.licence, source=source)
    add_checked(dataset, actor, checked)
    return dataset


def create_version(
    dataset: Dataset,
    actor: Actor,
    *,
    file: BinaryIO,
    size: int,
    file_name: str = "",
    sha256: str = "",
    mapping: DatasetMapping | None = None,
) -> DatasetVersion:
    """Create the next version of a dataset, with rows of a known shape or of ``mapping``.

    ``sha256`` as in ``create_dataset``.

    Raises:
        Problem: 404 if the dataset has been deleted; 409 if the team's quota is exceeded; 413 or 422 if the file is
            refused; 429 or 503 if too many files are being read. Nothing is created then.
    """
    checked = _check(dataset.team_id, file, size, file_name, mapping, sha256)
    try:
        with transaction.atomic():
            # NO KEY UPDATE: two uploads take their numbers one after the other, and readers do not wait.
            locked = locked_dataset(dataset.pk)
            return add_checked(locked, actor, checked)
    finally:
        checked.temporary.unlink(missing_ok=True)


def locked_dataset(dataset_id: str) -> Dataset:
    """The dataset, locked for its next version. Raises a 404 problem if it has been deleted."""
    locked = Dataset.objects.select_for_update(no_key=True).get(pk=dataset_id)
    if locked.deleted_at is not None:
        raise not_found("dataset")
    return locked


def create_version_from_path(
    team: Team, actor: Actor, path: Path, *, slug: str, name: str | None = None, description: str = ""
) -> DatasetVersion:
    """A version from a local file, created only if the dataset's latest version has different content.

    For seeding: running it twice returns the same version twice.
    """
    dataset = Dataset.objects.for_team(team).filter(slug=slug).first()
    size = path.stat().st_size
    with path.open("rb") as file:
        if dataset is None:
            made = create_dataset(
                team,
                actor,
                name=name or slug,
                slug=slug,
                description=description,
                file=file,
                size=size,
                file_name=path.name,
            )
            return made.versions.get(number=1)
        checked = _check(team.id, file, size, path.name)
    try:
        with transaction.atomic():
            locked = Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
            latest = locked.versions.filter(deleted_at=None).order_by("-number").first()
            if latest is not None and storage.same_rows(latest.path, checked.temporary):
                return latest
            if locked.deleted_at is not None:  # deleted together with its last version
                Dataset.objects.filter(pk=locked.pk).update(deleted_at=None, deleted_by="")
            return add_checked(locked, actor, checked)
    finally:
        checked.temporary.unlink(missing_ok=True)


def _check(
    team_id: str, file: BinaryIO, size: int, name: str, mapping: DatasetMapping | None = None, sha256: str = ""
) -> CheckedFile:
    """Check every row of the file in another process, which writes the rows to a temporary Parquet file."""
    if size > MAX_FILE_BYTES:
        detail = f"The file has {size:,} bytes; at most {MAX_FILE_BYTES:,} are taken."
        raise Problem(413, "File too large", detail, errors=[FieldError(pointer="/file", detail=detail)])
    left = require_quota(team_id, bytes=size).rows_left
    order: CheckOrder = {
        "name": name,
        "size": size,
        "sha256": sha256,
        "mapping": mapping.model_dump(mode="json") if mapping is not None else None,
        "rows_left": left,
        "folder": str(settings.DATASET_ROOT),
    }
    with FILES.place(team_id):
        try:
            return _file_of(check_apart(file, order))
        except TooManyRows as error:
            raise too_many_rows(left) from error


def checked_rows(
    rows: UploadedRows, passed: Iterable[Row | TakenRows], *, name: str, size: int, sha256: str
) -> CheckedFile:
    """Read every row into a temporary Parquet file. Arguments and errors are those of ``checking.check.store``."""
    return _file_of(store(rows, passed, settings.DATASET_ROOT, name=name, size=size, sha256=sha256))


def _file_of(result: CheckResult) -> CheckedFile:
    return CheckedFile(result["rows"], result["columns"], result["origin"], result["licence"], Path(result["path"]))


def add_checked(dataset: Dataset, actor: Actor, checked: CheckedFile) -> DatasetVersion:
    """Create the next version from a checked file. The caller has locked the dataset. Raises as ``add_version``."""
    imported = checked.origin.get("imported")
    arguments: dict[str, Any] = {"file": checked.origin["file"]["name"]}
    if imported is not None:
        arguments |= {key: imported[key] for key in ("source", "location", "commit", "config", "split")}
    return add_version(
        dataset,
        actor,
        checked.temporary,
        rows=checked.rows,
        columns=checked.columns,
        origin=checked.origin,
        operation=VersionOperation(
            name="upload" if imported is None else "import", arguments=arguments, counts=made_of_nothing(checked.rows)
        ),
        noted={"shape": checked.origin["shape"]["name"]},
    )


def add_version(
    dataset: Dataset,
    actor: Actor,
    temporary: Path,
    *,
    rows: int,
    columns: list[dict[str, str]],
    operation: VersionOperation,
    origin: Origin | None = None,
    parent: DatasetVersion | None = None,
    noted: dict[str, Any] | None = None,
) -> DatasetVersion:
    """Create the next version of a dataset that the caller has locked.

    Args:
        dataset: the dataset.
        actor: who creates it.
        temporary: the complete file, which is moved.
        rows: number of its rows.
        columns: ``[{name, type}]`` of the keys of the rows.
        operation: how it was created.
        origin: the file that it was created from.
        parent: the version that it was derived from.
        noted: further facts for the audit log.

    Raises:
        Problem: 409 if the team's quota is exceeded.
    """
    # Concurrent versions are counted one after the other, because both wait for the team's lock here.
    Team.objects.select_for_update(no_key=True).get(pk=dataset.team_id)
    require_quota(dataset.team_id, bytes=temporary.stat().st_size, rows=rows)
    last = dataset.versions.order_by("-number").first()
    stored = storage.keep(temporary, dataset.id)
    version = DatasetVersion.objects.create(
        dataset=dataset,
        number=last.number + 1 if last else 1,
        rows=rows,
        bytes=stored.bytes,
        sha256=stored.sha256,
        columns=columns,
        origin=origin,
        parent=parent,
        operation=operation,
        file=f"{dataset.id}/{stored.path.name}",
        created_by=actor.label,
    )
    after = {"ref": version.ref, "rows": version.rows, "sha256": version.sha256, **(noted or {})}
    if parent is not None:
        after |= {"parent": parent.ref, "operation": operation["name"]}
    action = "dataset.version" if last else "dataset.create"
    record_audit(dataset.team, actor, action, "dataset", dataset.id, after=after)
    return version


def require_free(team: Team, slug: str, *, shared: str | None = None) -> None:
    """Raise a 409 problem if the team has a dataset with this slug, deleted or not, or reads a shared one under it.

    Args:
        team: the team.
        slug: the name for a dataset.
        shared: id of another team's dataset that should get this name; an earlier share of the same dataset does not
            conflict.
    """
    taken = Dataset.objects.for_team(team).filter(slug=slug).first()
    if taken is not None:
        detail = f"There is already a dataset {slug!r}. Upload a new version of it, or choose another slug."
        if taken.deleted_at is not None:
            detail = f"There was a dataset {slug!r}, which old specs still name. Choose another slug."
        raise conflict(detail, code="slug_taken", errors=[FieldError(pointer="/slug", detail=detail)])
    read = DatasetShare.objects.filter(guest=team, slug=slug).exclude(dataset=shared).exists()
    if read:
        detail = f"Specs of your team name a dataset {slug!r} of another team, or did. Choose another slug."
        raise conflict(detail, code="slug_taken", errors=[FieldError(pointer="/slug", detail=detail)])
