"""Exports of checkpoints: people request them, and a worker of the platform sends the files to an object store.

The worker may be killed at any point. The next one skips files that exist, and continues a multipart upload after its
last part. An object appears only once its content has the hash from the checkpoint's manifest.
"""

import hashlib
import io
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import structlog
from django.db import transaction

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem, conflict, invalid
from dressage.imports.progress import EVERY_S, Progress
from dressage.imports.remote import ImportRefused, NetworkTrouble
from dressage.imports.work import try_again
from dressage.jobs.local import NotOurs, claim, doing, end, end_own, is_cancelled, notify, queue_again, report
from dressage.jobs.room import require_room
from dressage.policies.access.selectors import bucket_credentials
from dressage.policies.imports.bucket import ADDRESS, BucketTarget
from dressage.policies.snapshots import RecordedFile, SnapshotError, open_checkpoint
from dressage.runs.life.damage import damaged, store_damage
from dressage.runs.models import Checkpoint, CheckpointExport, ExportState
from dressage.teams.models import Team
from dressage.teams.services import record_audit

logger = structlog.get_logger(__name__)

MAX_OPEN = 10
"""Exports of one team that may be open at a time."""
PART_BYTES = 8 << 20
"""Bytes of a part. The store accepts no smaller ones, and a slow network sends one before the worker seems silent."""
MOST_PARTS = 10_000
"""Maximum number of parts of one object in the store."""


@transaction.atomic
def start_export(team: Team, actor: Actor, checkpoint: Checkpoint, address: str) -> CheckpointExport:
    """Request an export. A worker is notified on commit.

    Args:
        team: the checkpoint's team.
        actor: who requests it.
        checkpoint: the checkpoint to send.
        address: ``s3://bucket/folder``; the folder must be empty.

    Raises:
        Problem: 422 if the address is not valid or the team has no credentials, 410 if the files are gone, 409 if
            they are damaged or another export goes to the same address, 429 if too many of the team are open.
    """
    if ADDRESS.fullmatch(address) is None:
        raise invalid("/address", "Give the address of a folder in a bucket, such as s3://bucket/folder.")
    if bucket_credentials(team) is None:
        detail = "The team has no credentials for the object store. An admin enters them under Policies."
        raise invalid("/address", detail, code="no_credentials")
    if not checkpoint.available:
        raise Problem(410, "Gone", "The files of this checkpoint have been deleted.", code="checkpoint_gone")
    if checkpoint.damage:
        raise damaged(checkpoint)
    found = CheckpointExport.objects.for_team(team).filter(state__in=CheckpointExport.open_states())
    require_room(found, team, MAX_OPEN, plural="exports", code="too_many_exports", retry_s=30)
    address = address.rstrip("/")
    _require_free(team, address)
    row = CheckpointExport.objects.create(
        team=team,
        checkpoint=checkpoint,
        address=address,
        actor={"kind": actor.kind, "id": actor.id, "name": actor.name},
        created_by=actor.label,
    )
    after = {"checkpoint": checkpoint.id, "address": address}
    record_audit(team, actor, "checkpoint.export", "checkpoint_export", row.id, after=after)
    notify(row)
    return row


@transaction.atomic
def cancel_export(team: Team, actor: Actor, row: CheckpointExport) -> CheckpointExport:
    """Cancel an export, or give up a failed one. A worker deletes partial uploads; complete files stay in the bucket.

    Raises:
        Problem: 409 if it has already ended in another way.
    """
    locked = CheckpointExport.objects.select_for_update().get(pk=row.pk)
    if locked.state in (ExportState.DONE, ExportState.CANCELLED):
        raise conflict(f"The export has ended: it is {locked.state}.", code="export_is_over")
    end(locked, ExportState.CANCELLED)
    record_audit(team, actor, "checkpoint.export_cancel", "checkpoint_export", row.id)
    notify(locked)
    return locked


@transaction.atomic
def retry_export(team: Team, actor: Actor, row: CheckpointExport) -> CheckpointExport:
    """Continue a failed or cancelled export. Files that are already in the bucket are not sent again.

    Raises:
        Problem: 409 if it is not over, is done, or another export goes to the same address; 429 as for a new one.
    """
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    locked = CheckpointExport.objects.select_for_update().get(pk=row.pk)
    if locked.state not in (ExportState.FAILED, ExportState.CANCELLED):
        raise conflict(f"The export is {locked.state}: there is nothing to retry.", code="export_cannot_be_retried")
    found = CheckpointExport.objects.for_team(team).filter(state__in=CheckpointExport.open_states())
    require_room(found, team, MAX_OPEN, plural="exports", code="too_many_exports", retry_s=30)
    _require_free(team, locked.address)
    queue_again(locked, faults=0)
    record_audit(team, actor, "checkpoint.export_retry", "checkpoint_export", row.id)
    return locked


def export(job_id: str) -> None:
    """Continue an export, unless another worker has it or no slot is free. A cancelled one is cleaned up."""
    row = claim(CheckpointExport, job_id)
    if row is None:
        _tidy_up(job_id)
        return
    work = _Export(row)
    try:
        with doing(row, ImportRefused):
            work.send()
    except NotOurs:
        _tidy_up(job_id)
    except NetworkTrouble as error:
        try_again(row, error, moved=work.has_moved)


class _Export:
    """One worker's attempt at an export."""

    def __init__(self, row: CheckpointExport) -> None:
        self._row = row
        self._progress = Progress(row)
        self.has_moved = False
        """Whether something has been sent."""

    def send(self) -> None:
        """Send the missing files, and finish the export."""
        row = self._row
        target = BucketTarget(row.address, bucket_credentials(row.team))
        with _opened(row.checkpoint) as files:
            total = sum(file.bytes for file in files.values())
            self._progress.write(bytes_total=total, files_total=len(files))
            present = target.objects()
            if others := sorted(present.keys() - files.keys()):
                raise ImportRefused(f"{row.address} has other files, such as {others[0]}: choose an empty folder.")
            for name, file in sorted(files.items(), key=lambda entry: entry[1].bytes):
                if name not in present:
                    self._send_file(target, name, file)
                elif not target.holds(name, file.bytes, file.sha256):
                    raise ImportRefused(f"{row.address} already has another {name}: choose an empty folder.")
                self._progress.bytes += file.bytes
                self._progress.files += 1
                self._progress.write()
        if not end_own(row, ExportState.DONE):
            raise NotOurs

    def _send_file(self, target: BucketTarget, name: str, file: RecordedFile) -> None:
        if file.bytes <= PART_BYTES:
            content = file.content.read()
            self._require_hash(name, file, hashlib.sha256(content))
            target.put(name, self._heard(content), file.sha256)
            self.has_moved = True
            return
        upload, there = self._upload(target, name, file)
        tags: dict[int, str] = {}
        digest, size, position = hashlib.sha256(), part_bytes(file.bytes), 0
        while content := file.content.read(size):
            number = len(tags) + 1
            digest.update(content)
            part = there.get(number)
            if part is not None and part.bytes == len(content):
                tags[number] = part.tag
            else:
                tags[number] = target.put_part(name, upload, number, self._heard(content))
                self.has_moved = True
            position += len(content)
            self._progress.tick(count=position)
        try:
            self._require_hash(name, file, digest)
        except ImportRefused:
            target.abort(name, upload)
            self._forget(name)
            raise
        target.complete(name, upload, tags)
        self._forget(name)

    def _require_hash(self, name: str, file: RecordedFile, digest: Any) -> None:
        if digest.hexdigest() != file.sha256:
            fault = f"{name} was changed after the checkpoint was written"
            store_damage(self._row.checkpoint, fault)
            raise ImportRefused(f"{fault}: export another checkpoint.")

    def _upload(self, target: BucketTarget, name: str, file: RecordedFile) -> tuple[str, dict[int, Any]]:
        """Id of the upload of a file, and its existing parts."""
        upload = self._row.uploads.get(name)
        if upload is not None and (there := target.parts(name, upload)) is not None:
            return upload, there
        upload = target.begin(name, file.sha256)
        self._keep({**self._row.uploads, name: upload})
        return upload, {}

    def _forget(self, name: str) -> None:
        self._keep({other: upload for other, upload in self._row.uploads.items() if other != name})

    def _keep(self, uploads: dict[str, str]) -> None:
        self._row.uploads = uploads
        if not report(self._row, uploads=uploads):
            raise NotOurs

    def _heard(self, content: bytes) -> "_Heard":
        return _Heard(content, lambda: report(self._row))


class _Heard(io.BytesIO):
    """Bytes being sent. While the store reads them, the worker reports that it is alive."""

    def __init__(self, content: bytes, tell: Callable[[], object]) -> None:
        super().__init__(content)
        self._tell, self._told_at = tell, time.monotonic()

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes."""
        if time.monotonic() - self._told_at >= EVERY_S:
            self._told_at = time.monotonic()
            self._tell()
        return super().read(size)


@contextmanager
def _opened(checkpoint: Checkpoint) -> Iterator[dict[str, RecordedFile]]:
    """The checkpoint's open files by name. Raises ImportRefused."""
    try:
        folder = checkpoint.folder.resolve()
        if not folder.is_relative_to(checkpoint.run.run_dir.resolve()):
            raise SnapshotError("its files are not in its run's folder")
        with open_checkpoint(folder, checkpoint.manifest_sha256) as files:
            yield files
    except SnapshotError as error:
        raise ImportRefused(f"The checkpoint cannot be exported: {error}.") from error


def part_bytes(size: int) -> int:
    """Bytes of each part, except the last, of a file of ``size`` bytes. The same for every attempt."""
    return max(PART_BYTES, -(-size // MOST_PARTS))


def _tidy_up(job_id: str) -> None:
    """Delete the parts of a cancelled export. If this fails, the store's own rules delete them later."""
    row = CheckpointExport.objects.select_related("team").filter(pk=job_id).first()
    if row is None or not row.uploads or not is_cancelled(row):
        return
    try:
        target = BucketTarget(row.address, bucket_credentials(row.team))
        for name, upload in row.uploads.items():
            target.abort(name, upload)
    except (ImportRefused, NetworkTrouble) as error:
        logger.warning("parts of a cancelled export remain in the store", export=row.id, error=str(error))
        return
    CheckpointExport.objects.filter(pk=row.pk, state=ExportState.CANCELLED).update(uploads={})


def _require_free(team: Team, address: str) -> None:
    open_ones = CheckpointExport.objects.for_team(team).filter(state__in=CheckpointExport.open_states())
    if open_ones.filter(address=address).exists():
        detail = f"Another export to {address} is still open. Cancel it, or choose another folder."
        raise conflict(detail, code="address_taken")
