"""Runs an import on a worker of the platform: list, fetch, compare, read every row, store.

The process may be killed at any point. The next worker then lists the same commit, continues after the bytes on disk,
and compares everything at the end. Files that were already compared are read again without any request.
"""

import threading
from pathlib import Path

from django.db import transaction

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem
from dressage.datasets.imports import files
from dressage.datasets.imports.choices import DataChoice, chosen
from dressage.datasets.imports.places import require_place, source_of
from dressage.datasets.imports.storing import shape_is_known, store
from dressage.datasets.limits import MAX_FILE_BYTES
from dressage.datasets.models import DatasetImport, DatasetImportState, DatasetSourceKind
from dressage.datasets.quota.usage import on_the_way, require_quota
from dressage.imports.alone import alone_in
from dressage.imports.models import MAX_ACTIVE
from dressage.imports.remote import ImportRefused, RemoteFile
from dressage.imports.work import ImportWork, gib
from dressage.jobs.local import NotOurs, claim, fail, wait
from dressage.policies.access.selectors import hub_token
from dressage.teams.models import Team

_PLACES = threading.BoundedSemaphore(MAX_ACTIVE)
"""Imports that this process works on. An import whose network hangs reports nothing, but still occupies its thread."""
_UNKNOWN = "The rows are of no known shape: say what their columns are."
_REVIEW = "The files are here: look at the rows."


def carry_out(import_id: str) -> None:
    """Continue an import, unless it is over, another worker has it, or it must wait its turn."""
    row = DatasetImport.objects.filter(pk=import_id).first()
    if row is None or row.state not in DatasetImport.open_states():
        return
    if not _PLACES.acquire(blocking=False):
        return  # the sweep will try again; the worker's other threads are for runs
    try:
        folder = files.folder_of(row.id)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with alone_in(folder) as alone:
            claimed = claim(DatasetImport, row.id) if alone else None
            if claimed is not None:
                _DatasetImportWork(claimed, folder).run()
    finally:
        _PLACES.release()


class _DatasetImportWork(ImportWork):
    """One worker's attempt to import a dataset."""

    def __init__(self, row: DatasetImport, part: Path) -> None:
        super().__init__(row, part)
        self._row: DatasetImport = row
        self._numbers: dict[str, int] = {}

    def path_of(self, file: RemoteFile) -> Path:
        return files.path_of(self._row.id, self._numbers[file.name])

    def carry_out(self) -> None:
        """Fetch what is missing, then read it, or wait for a person to say how."""
        row = self._row
        if not files.are_there(row):
            self._get()
        self.progress.begin(DatasetImportState.READING)
        total = sum(file["bytes"] for file in row.files)
        self.progress.write(files_total=len(row.files), files_done=len(row.files), bytes_total=total)
        try:
            if row.mapping is None and (row.review or not shape_is_known(row)):
                self._wait_for_a_person()
                return
            store(row, Actor(**row.actor), tick=lambda count: self.progress.tick(count=count))
        except Problem as problem:
            told = problem.extra.get("report") or [
                {"place": error["pointer"], "detail": error["detail"]} for error in problem.errors
            ]
            fail(row, problem.detail, report=told if problem.code == "invalid_dataset" else [])
            return
        files.remove(row.id)

    def _get(self) -> None:
        row = self._row
        require_place(row.source, row.location, row.revision)  # the operator may have changed the lists in the meantime
        token = hub_token(row.team) if row.source == DatasetSourceKind.HUB else None
        source = source_of(row.source, row.location, row.commit or row.revision, token)
        listing = source.listing()
        found = chosen(listing, config=row.config, split=row.split, paths=row.paths)
        self._numbers = {file.name: number for number, file in enumerate(found.files)}
        self._remove_others(found)
        self._note(found, commit=listing.commit, licence=listing.licence)
        self._require_room(found)
        self.fetch(source, found.files)
        digests = self.verify(found.files)
        row.files = [{**file, "sha256": digests[file["path"]]} for file in row.files]
        self.progress.write(files=row.files)

    def _note(self, found: DataChoice, *, commit: str, licence: str) -> None:
        """Record what was listed, so that another worker can check that it continues the same files."""
        row = self._row
        row.files = [{"path": one.name, "bytes": one.size, "tag": one.tag, "sha256": ""} for one in found.files]
        row.config, row.split = found.config, found.split
        row.commit, row.licence = commit, licence[:200]
        facts = {"files": row.files, "config": row.config[:200], "split": row.split[:200]}
        self.progress.write(0, commit=commit, licence=row.licence, **facts)

    def _remove_others(self, found: DataChoice) -> None:
        """Remove files from an earlier attempt that are not a prefix of what is listed now."""
        before = {number: (one["path"], one["bytes"], one["tag"]) for number, one in enumerate(self._row.files)}
        is_pinned = self._row.commit != ""
        kept = {
            self.path_of(one)
            for number, one in enumerate(found.files)
            if before.get(number) == (one.name, one.size, one.tag) and (is_pinned or one.tag)
        }
        for path in self.part.iterdir():
            if path not in kept:
                path.unlink()

    def _require_room(self, found: DataChoice) -> None:
        """Require that the files fit the limits per file, of the team and of the disk. Records their size."""
        total = found.bytes
        if total > MAX_FILE_BYTES:
            raise ImportRefused(
                f"It has {gib(total)}, and {gib(MAX_FILE_BYTES)} are allowed at once. Choose fewer files, and import "
                "the others as further versions or datasets."
            )
        with transaction.atomic():
            # Under the team's lock: if two imports fit only one at a time, the second sees the first's size.
            Team.objects.select_for_update(no_key=True).get(pk=self._row.team_id)
            require_quota(self._row.team_id, bytes=total, promised=on_the_way(self._row.team_id, but=self._row.id))
            self.progress.write(bytes_total=total, files_total=len(found.files))
        self.require_disk(found.files)

    def _wait_for_a_person(self) -> None:
        reason = _REVIEW if self._row.review else _UNKNOWN
        if not wait(self._row, reason):
            raise NotOurs
