"""Changes to uploads: they begin, grow part by part, are cancelled, or become a dataset version.

The database row records how much has arrived. A part counts once it is on disk. A killed process loses only the part
that it was receiving.
"""

import base64
import binascii
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import OperationalError, transaction
from django.db.models import F, Sum
from django.utils import timezone

from dressage.common.actors import Actor
from dressage.common.api.errors import FieldError
from dressage.common.api.problems import Problem, conflict, invalid, not_found
from dressage.datasets.limits import MAX_FILE_BYTES, MAX_UNFINISHED_BYTES, MAX_UNFINISHED_UPLOADS
from dressage.datasets.models import DatasetUpload
from dressage.datasets.quota.usage import on_the_way, require_quota
from dressage.datasets.uploads import files, selectors
from dressage.teams.models import Team
from dressage.teams.services import record_audit

KEPT_FOR = timedelta(hours=24)
"""How long an upload is kept after its last part."""
RESERVE_BYTES = 1 << 30
"""Free disk space that uploads must leave."""
ALGORITHMS = ("sha256", "sha1")
"""Checksum algorithms for parts. Every tus client supports SHA-1."""
_GIB = 1 << 30
_NOTED = ("name", "size")


@transaction.atomic
def start_upload(team: Team, actor: Actor, *, name: str, size: int, sha256: str = "") -> DatasetUpload:
    """Start a new, empty upload.

    Args:
        team: its owner.
        actor: who makes the request.
        name: the file's name.
        size: bytes of the whole file.
        sha256: hash of the whole file, in hexadecimal digits, where the client knows it.

    Raises:
        Problem: 409 if the team may not store that much; 413 if the file is too large; 429 if the team's unfinished
            uploads are too many or too large; 507 if the disk is full.
    """
    if size > MAX_FILE_BYTES:
        detail = f"The file has {size:,} bytes; at most {MAX_FILE_BYTES:,} are taken."
        raise Problem(413, "File too large", detail, errors=[FieldError(pointer="/size", detail=detail)])
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    _require_few_unfinished(team, size)
    _require_room(size)
    upload = DatasetUpload.objects.create(
        team=team,
        name=name,
        size=size,
        sha256=sha256.lower(),
        expires_at=timezone.now() + KEPT_FOR,
        created_by=actor.label,
    )
    record_audit(team, actor, "dataset_upload.start", "dataset_upload", upload.id, after=_noted(upload))
    files.make(upload.id)
    return upload


@transaction.atomic
def append(upload: DatasetUpload, offset: int, part: bytes, checksum: str | None = None) -> DatasetUpload:
    """Append the next part.

    Args:
        upload: the upload, unlocked.
        offset: the offset at which the client sends the part.
        part: its bytes.
        checksum: ``<algorithm> <digest in Base64>``, as in tus; None for none.

    Raises:
        Problem: 409 if another request is writing, or the part does not follow the bytes received so far; 413 if it
            goes beyond the end; 422 if the checksum is malformed; 460 if the checksum does not match; 404 if the upload
            no longer exists; 507 if the disk is full. Nothing changes then.
    """
    _check(part, checksum)
    row = _locked(upload)
    if offset != row.offset:
        raise _offset_conflict(row, f"The next part begins at {row.offset:,}, not at {offset:,}.", "wrong_offset")
    if offset + len(part) > row.size:
        detail = f"The file was said to have {row.size:,} bytes, and this part ends at {offset + len(part):,}."
        raise Problem(413, "Part too large", detail, code="upload_too_long")
    if files.free_bytes() - len(part) < RESERVE_BYTES:
        raise _disk_full(RESERVE_BYTES + len(part) - files.free_bytes())
    try:
        files.append(row.id, offset, part)
    except FileNotFoundError as error:
        raise not_found("dataset upload") from error
    except OSError as error:
        raise _disk_full(max(1, RESERVE_BYTES - files.free_bytes())) from error
    row.offset = offset + len(part)
    row.expires_at = timezone.now() + KEPT_FOR
    row.save(update_fields=["offset", "expires_at"])
    return row


@transaction.atomic
def cancel_upload(upload: DatasetUpload, actor: Actor) -> None:
    """Remove an upload and its bytes. Raises a 404 problem if it does not exist, and 409 while a part arrives."""
    row = _locked(upload)
    record_audit(row.team, actor, "dataset_upload.cancel", "dataset_upload", row.id, before=_noted(row))
    _remove(row)


@contextmanager
def finished(team: Team, upload_id: str) -> Iterator[dict[str, Any]]:
    """The complete file of an upload, as the dataset services expect it: ``{file, size, file_name, sha256}``.

    It is removed when the block succeeds. A refused file stays until it expires, so that another mapping can be tried
    without sending it again.

    Raises:
        Problem: 422 with a pointer to ``/upload`` if there is no such upload, or it is not complete.
    """
    upload = selectors.uploads(team).filter(pk=upload_id).first()
    if upload is None:
        raise invalid("/upload", "There is no such upload in this team. It may have expired.", code="no_such_upload")
    if not upload.is_complete:
        detail = f"Of the upload {upload.offset:,} of {upload.size:,} bytes have come. Send the rest first."
        raise invalid("/upload", detail, code="upload_is_unfinished")
    try:
        file = files.path_of(upload.id).open("rb")
    except FileNotFoundError as error:
        raise invalid("/upload", "The file of this upload is gone.", code="no_such_upload") from error
    with file:
        yield {"file": file, "size": upload.size, "file_name": upload.name, "sha256": upload.sha256}
    with transaction.atomic():
        _remove(upload)


def sweep(now: float) -> int:
    """Remove expired uploads, and files that no database row names. Returns how many.

    Args:
        now: seconds since 1970.
    """
    removed = 0
    for upload in DatasetUpload.objects.filter(expires_at__lt=timezone.now()):
        with transaction.atomic():
            row = DatasetUpload.objects.select_for_update(skip_locked=True).filter(pk=upload.pk).first()
            if row is not None and row.expires_at < timezone.now():
                _remove(row)
                removed += 1
    known = set(DatasetUpload.objects.values_list("id", flat=True))
    for upload_id in files.abandoned(known, now, KEPT_FOR.total_seconds()):
        files.remove(upload_id)
        removed += 1
    return removed


def _locked(upload: DatasetUpload) -> DatasetUpload:
    try:
        with transaction.atomic():  # a savepoint: the outer transaction continues after the refusal
            found = DatasetUpload.objects.select_for_update(nowait=True, of=("self",)).select_related("team")
            row = found.filter(pk=upload.pk).first()
    except OperationalError as error:
        detail = "Another request is writing to this upload. Ask for its offset, and go on from there."
        raise conflict(detail, code="upload_is_being_written") from error
    if row is None:
        raise not_found("dataset upload")
    return row


def _remove(row: DatasetUpload) -> None:
    upload_id = row.id
    DatasetUpload.objects.filter(pk=upload_id).delete()
    transaction.on_commit(lambda: files.remove(upload_id))


def _check(part: bytes, checksum: str | None) -> None:
    if checksum is None:
        return
    algorithm, _, digest = checksum.partition(" ")
    if algorithm not in ALGORITHMS:
        raise _unfit_checksum()
    try:
        wanted = base64.b64decode(digest, validate=True)
    except (binascii.Error, ValueError) as error:
        raise _unfit_checksum() from error
    found = hashlib.new(algorithm, part, usedforsecurity=False)
    if len(wanted) != found.digest_size:
        raise _unfit_checksum()
    if found.digest() != wanted:
        detail = "The part is not what its checksum says: it was changed on its way. Send it again."
        raise Problem(460, "Checksum mismatch", detail, code="wrong_checksum")


def _unfit_checksum() -> Problem:
    detail = (
        f"Upload-Checksum is the name of an algorithm ({' or '.join(ALGORITHMS)}), a space, and its digest in Base64."
    )
    return Problem(422, "Invalid request", detail, code="invalid_checksum")


def _offset_conflict(row: DatasetUpload, detail: str, code: str) -> Problem:
    headers = {"Upload-Offset": str(row.offset)}
    return Problem(409, "Conflict", detail, code=code, headers=headers, extra={"offset": row.offset})


def _require_few_unfinished(team: Team, size: int) -> None:
    open_ones = selectors.uploads(team)
    used = open_ones.aggregate(bytes=Sum("size"))["bytes"] or 0
    require_quota(team.id, bytes=size, promised=on_the_way(team.id))
    if used + size > MAX_UNFINISHED_BYTES:
        detail = (
            f"The unfinished uploads of your team have {used / _GIB:.1f} GiB and may have {MAX_UNFINISHED_BYTES >> 30} "
            "GiB. Finish or cancel one first."
        )
        raise Problem(429, "Too many requests", detail, code="uploads_too_large", headers={"Retry-After": "60"})
    if open_ones.count() >= MAX_UNFINISHED_UPLOADS:
        detail = f"{MAX_UNFINISHED_UPLOADS} uploads of your team are unfinished. Finish or cancel one first."
        raise Problem(429, "Too many requests", detail, code="too_many_uploads", headers={"Retry-After": "60"})


def _require_room(size: int) -> None:
    """Require disk space for a file in addition to what is reserved for all unfinished uploads."""
    promised = DatasetUpload.objects.filter(expires_at__gt=timezone.now()).aggregate(bytes=Sum(F("size") - F("offset")))
    missing = RESERVE_BYTES + size + (promised["bytes"] or 0) - files.free_bytes()
    if missing > 0:
        raise _disk_full(missing)


def _disk_full(missing: int) -> Problem:
    path = str(settings.HOME)
    detail = (
        f"The platform's disk has no room for this file: {missing:,} bytes are missing in {path}. Tell the operator, "
        "or try a smaller one."
    )
    extra = {"path": path, "missing_bytes": missing}
    return Problem(507, "Insufficient storage", detail, code="disk_full", extra=extra)


def _noted(upload: DatasetUpload) -> dict[str, Any]:
    return {name: getattr(upload, name) for name in _NOTED}
