"""Runs an import on a worker of the platform: list, check the small files, fetch, compare, register.

The process may be killed at any point. The next worker then lists the same commit, continues after the bytes on disk,
and compares everything at the end.
"""

import os
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import Q, Sum

from dressage.common.actors import Actor
from dressage.embedded.private_files import sync_folder
from dressage.imports.alone import alone_in
from dressage.imports.models import MAX_ACTIVE
from dressage.imports.remote import ImportRefused, Listing, RemoteFile, Source
from dressage.imports.work import GIB, ImportWork, gib
from dressage.jobs.local import NotOurs, claim, end_own
from dressage.policies.access.selectors import bucket_credentials, hub_token
from dressage.policies.documents import PolicyOriginDocument
from dressage.policies.folders import own_root
from dressage.policies.imports.selection import INDEX, small_files, weights
from dressage.policies.inspection import UnfitFolder, inspect, inspect_config
from dressage.policies.kinds import unfit_config
from dressage.policies.leftovers import unfinished
from dressage.policies.models import OPEN, ImportState, Policy, PolicyImport, SourceKind
from dressage.policies.services import store_policy
from dressage.teams.models import Team

_PLACES = threading.BoundedSemaphore(MAX_ACTIVE)
"""Imports that this process works on. An import whose network hangs reports nothing, but still occupies its thread."""


def carry_out(import_id: str) -> None:
    """Continue an import, unless it is over, another worker has it, or it must wait its turn."""
    row = PolicyImport.objects.select_related("team").filter(pk=import_id).first()
    if row is None or row.state not in OPEN:
        return
    if not _PLACES.acquire(blocking=False):
        return  # the sweep will try again; the worker's other threads are for runs
    try:
        _go_on(row)
    finally:
        _PLACES.release()


def _go_on(row: PolicyImport) -> None:
    part = _workplace(own_root(row.team) / row.policy_id)
    if part is None:
        return
    with alone_in(part) as alone:
        claimed = claim(PolicyImport, row.id) if alone else None
        if claimed is not None:
            _PolicyImportWork(claimed, part).run()


def _workplace(target: Path) -> Path | None:
    """The folder for fetched files; None while another worker registers it, and once it is registered.

    If the folder had its final name when its worker was killed, it is renamed back.
    """
    part = unfinished(target)
    if target.is_dir():
        with alone_in(target) as alone:
            if not alone or Policy.objects.filter(pk=target.name).exists():
                return None
            if part.is_dir() and not any(part.iterdir()):  # an earlier release created it next to the other
                part.rmdir()
            if not part.exists():
                target.rename(part)
    part.mkdir(parents=True, exist_ok=True, mode=0o700)
    return part


class _PolicyImportWork(ImportWork):
    """One worker's attempt to import a policy."""

    refusals = (ImportRefused, UnfitFolder)

    def __init__(self, row: PolicyImport, part: Path) -> None:
        super().__init__(row, part)
        self._row: PolicyImport = row

    def carry_out(self) -> None:
        """List, check the small files, fetch, compare, register."""
        source = self._source()
        listing = source.listing()
        self.progress.write(commit=listing.commit)
        small = [source.described(listing.files[name]) for name in small_files(listing)]
        self.fetch(source, small)
        if (reason := unfit_config(inspect_config(self.part))) is not None:
            raise ImportRefused(reason)
        index = self.part / INDEX
        names = weights(listing, index.read_bytes() if index.is_file() else None)
        files = [*small, *(source.described(listing.files[name]) for name in names)]
        self._remove_others(files)
        self._require_room(files)
        self.fetch(source, files)
        digests = self.verify(files)
        self._register(listing, digests)

    def _source(self) -> Source:
        # Imported lazily: nothing else in the platform needs these libraries.
        if self._row.source == SourceKind.HUB:
            from dressage.imports.hub import HubSource

            return HubSource(self._row.location, self._row.commit or self._row.revision, hub_token(self._row.team))
        from dressage.policies.imports.bucket import BucketSource

        return BucketSource(self._row.location, bucket_credentials(self._row.team))

    def _remove_others(self, files: list[RemoteFile]) -> None:
        """Remove files from an earlier attempt that this one does not need."""
        wanted = {file.name for file in files}
        for path in self.part.iterdir():
            if path.name not in wanted:
                path.unlink()

    def _require_room(self, files: list[RemoteFile]) -> None:
        """Require that the policy is within the limits and fits on the disk. Records its size."""
        total = sum(file.size for file in files)
        if total > settings.IMPORT_GIB * GIB:
            raise ImportRefused(
                f"It has {gib(total)}, and {settings.IMPORT_GIB:g} GiB are allowed. The operator may allow more with"
                " POLICY_IMPORT_GIB."
            )
        with transaction.atomic():
            # Under the team's lock: if two imports fit only one at a time, the second sees the first's size.
            Team.objects.select_for_update(no_key=True).get(pk=self._row.team_id)
            self._require_share(total)
            self.progress.write(bytes_total=total, files_total=len(files))
        self.require_disk(files)

    def _require_share(self, total: int) -> None:
        """Require that the team may store this many more bytes."""
        if settings.TEAM_IMPORTS_GIB is None:
            return
        taken = _imported(self._row.team) + _on_the_way(self._row)
        if total + taken > settings.TEAM_IMPORTS_GIB * GIB:
            raise ImportRefused(
                f"It has {gib(total)}, and the team's imports use {gib(taken)}, including open ones, of "
                f"{settings.TEAM_IMPORTS_GIB:g} GiB (TEAM_POLICIES_GIB). Cancel unneeded imports, or have the operator "
                "allow more."
            )

    def _register(self, listing: Listing, digests: dict[str, str]) -> None:
        row, target = self._row, own_root(self._row.team) / self._row.policy_id
        facts = replace(inspect(self.part.resolve(), digests), path=target.resolve())
        origin: PolicyOriginDocument = {
            "source": row.source, "location": row.location, "revision": row.revision, "commit": listing.commit or None,
        }  # fmt: skip
        self._sync()
        with transaction.atomic():
            Team.objects.select_for_update(no_key=True).get(pk=row.team_id)
            if not end_own(row, ImportState.READY):
                raise NotOurs
            store_policy(
                row.team,
                Actor(**row.actor),
                row.slug,
                row.name,
                facts,
                read_from=self.part,
                licence=listing.licence,
                id=row.policy_id,
                origin=origin,
            )
            self.part.rename(target)
            sync_folder(target.parent)

    def _sync(self) -> None:
        """Flush the files to disk before the database row says that they exist."""
        for path in self.part.iterdir():
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        sync_folder(self.part)


def _imported(team: Team) -> int:
    """Total size of the weights of the team's imported policies."""
    imported = Policy.objects.for_team(team).filter(origin__isnull=False)
    return imported.aggregate(total=Sum("bytes"))["total"] or 0


def _on_the_way(row: PolicyImport) -> int:
    """Bytes of the team's other imports: sizes of open ones, and what failed ones have left for a retry."""
    root = own_root(row.team)
    kept = {part.stem: _on_disk(part) for part in root.glob(unfinished(root / "*").name)}
    others = PolicyImport.objects.for_team(row.team).exclude(pk=row.pk)
    others = others.filter(Q(state__in=OPEN) | Q(state=ImportState.FAILED, policy_id__in=[*kept]))
    return sum(
        max(other.bytes_total if other.state in OPEN else 0, kept.get(other.policy_id, 0))
        for other in others.only("state", "bytes_total", "policy_id")
    )


def _on_disk(folder: Path) -> int:
    """Total size of a folder that another worker may be removing."""
    total = 0
    with suppress(FileNotFoundError):
        for path in folder.iterdir():
            total += path.stat().st_size
    return total
