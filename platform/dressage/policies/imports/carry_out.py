"""An import, carried out by a worker of the platform: list, look at the small files, fetch, compare, register.

It may be killed anywhere. Then the next worker lists the same commit, goes on behind what lies on the disk, and
compares everything in the end.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Sum

from dressage.common.actors import Actor
from dressage.common.problems import Problem
from dressage.embedded.private_files import sync_folder
from dressage.policies.access.selectors import bucket_credentials, hub_token
from dressage.policies.documents import PolicyOriginDocument
from dressage.policies.folders import own_root
from dressage.policies.imports.progress import NotOurs, Progress, Stopping
from dressage.policies.imports.remote import ImportRefused, Listing, NetworkTrouble, RemoteFile, Source
from dressage.policies.imports.selection import INDEX, small_files, weights
from dressage.policies.imports.services import claim, fail, finish, give_back
from dressage.policies.imports.verification import verified_sha256
from dressage.policies.inspection import UnfitFolder, inspect, inspect_config
from dressage.policies.kinds import unfit_config
from dressage.policies.leftovers import unfinished
from dressage.policies.models import OPEN, ImportState, Policy, PolicyImport, SourceKind
from dressage.policies.services import store_policy
from dressage.teams.models import Team

logger = structlog.get_logger(__name__)

MAX_FAULTS = 10
"""Faults of the network in a row, some ten seconds apart, after which an import has failed."""
RESERVE_BYTES = 1 << 30
"""Room on the disk that an import leaves free."""
_GIB = 1 << 30


def carry_out(import_id: str) -> None:
    """Go on with an import, unless it is over, another worker has it, or it is not its turn."""
    row = PolicyImport.objects.select_related("team").filter(pk=import_id).first()
    if row is None or row.state not in OPEN:
        return
    part = _workplace(own_root(row.team) / row.policy_id)
    with _alone(part) as alone:
        claimed = claim(import_id) if alone else None
        if claimed is not None:
            _Import(claimed, part).run()


def _workplace(target: Path) -> Path:
    """The folder of what was fetched; it may have got its last name before its worker was killed."""
    part = unfinished(target)
    if target.is_dir() and not part.exists():
        with _alone(target) as alone:
            if alone and not Policy.objects.filter(pk=target.name).exists():
                target.rename(part)
    part.mkdir(parents=True, exist_ok=True, mode=0o700)
    return part


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Whether no other process works in the folder. The kernel gives it back when this one is killed."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(descriptor)


class _Import:
    """One worker's try at an import."""

    def __init__(self, row: PolicyImport, part: Path) -> None:
        self._row, self._part = row, part
        self._progress = Progress(row)
        self._began_with = _bytes_in(part)

    def run(self) -> None:
        """Carry it out, and leave it ready, queued again, or failed with a sentence."""
        try:
            self._carry_out()
        except NotOurs:
            self._leave()
        except Stopping:
            give_back(self._row)
        except NetworkTrouble as error:
            self._wait(error)
        except (ImportRefused, UnfitFolder) as error:
            fail(self._row, str(error))
        except Problem as error:
            fail(self._row, error.detail)
        except OSError as error:
            logger.exception("an import has failed", policy_import=self._row.id)
            fail(self._row, f"The platform's disk cannot be written ({error.strerror or type(error).__name__}).")
        except Exception:
            logger.exception("an import has failed", policy_import=self._row.id)
            fail(self._row, "The platform failed at this import; its log says more. Try again, or tell the operator.")

    def _carry_out(self) -> None:
        source = self._source()
        listing = source.listing()
        self._progress.write(commit=listing.commit)
        small = [source.described(listing.files[name]) for name in small_files(listing)]
        self._fetch(source, small)
        if (reason := unfit_config(inspect_config(self._part))) is not None:
            raise ImportRefused(reason)
        index = self._part / INDEX
        names = weights(listing, index.read_bytes() if index.is_file() else None)
        files = [*small, *(source.described(listing.files[name]) for name in names)]
        self._remove_others(files)
        self._require_room(files)
        self._fetch(source, files)
        digests = self._verify(files)
        self._register(listing, digests)

    def _source(self) -> Source:
        # Loaded where they are used: nothing else of the platform needs these libraries.
        if self._row.source == SourceKind.HUB:
            from dressage.policies.imports.hub import HubSource

            return HubSource(self._row.location, self._row.commit or self._row.revision, hub_token(self._row.team))
        from dressage.policies.imports.bucket import BucketSource

        return BucketSource(self._row.location, bucket_credentials(self._row.team))

    def _remove_others(self, files: list[RemoteFile]) -> None:
        """Remove what an earlier try has fetched and this one does not want."""
        wanted = {file.name for file in files}
        for path in self._part.iterdir():
            if path.name not in wanted:
                path.unlink()

    def _require_room(self, files: list[RemoteFile]) -> None:
        """Require that the policy is within the limits and fits on the disk; tell its size."""
        total = sum(file.size for file in files)
        self._progress.write(bytes_total=total, files_total=len(files))
        if total > settings.IMPORT_GIB * _GIB:
            raise ImportRefused(
                f"It has {_gib(total)}, and {settings.IMPORT_GIB:g} GiB are allowed. Whoever runs this installation "
                "may allow more by POLICY_IMPORT_GIB."
            )
        if settings.TEAM_IMPORTS_GIB is not None and total + _imported(self._row.team) > (
            settings.TEAM_IMPORTS_GIB * _GIB
        ):
            raise ImportRefused(
                f"It has {_gib(total)}, and the team's imports have {_gib(_imported(self._row.team))} of the "
                f"{settings.TEAM_IMPORTS_GIB:g} GiB that they may have (TEAM_POLICIES_GIB)."
            )
        missing = total - sum(min(self._has(file), file.size) for file in files)
        free = shutil.disk_usage(self._part).free - RESERVE_BYTES
        if missing > free:
            raise ImportRefused(
                f"It needs {_gib(missing)} more on the platform's disk, where {_gib(max(0, free))} are free for it. "
                "Have the operator make room, then retry."
            )

    def _has(self, file: RemoteFile) -> int:
        path = self._part / file.name
        return path.stat().st_size if path.is_file() else 0

    def _fetch(self, source: Source, files: list[RemoteFile]) -> None:
        self._progress.begin(ImportState.DOWNLOADING)
        for file in files:
            path = self._part / file.name
            if self._has(file) > file.size:
                path.unlink()
            while True:
                before = self._has(file)
                try:
                    source.fetch(file, path, lambda path=path: self._progress.tick(path))  # type: ignore[misc]
                    break
                except NetworkTrouble:
                    if self._has(file) <= before:
                        raise
            self._progress.bytes += file.size
            self._progress.files += 1
            self._progress.tick()

    def _verify(self, files: list[RemoteFile]) -> dict[str, str]:
        """SHA-256 of each file by its name. A file that is not what was listed is removed, to be fetched anew."""
        self._progress.begin(ImportState.VERIFYING)
        digests: dict[str, str] = {}
        for file in files:
            path = self._part / file.name
            digest = verified_sha256(path, file, lambda count: self._progress.tick(count=count))
            if digest is None:
                path.unlink()
                raise ImportRefused(
                    f"{file.name} came with another content than its checksum says, and was thrown away. Retry "
                    "fetches it again; if that repeats, something between here and the source changes it."
                )
            digests[file.name] = digest
            self._progress.bytes += file.size
            self._progress.files += 1
        self._progress.write()
        return digests

    def _register(self, listing: Listing, digests: dict[str, str]) -> None:
        row, target = self._row, own_root(self._row.team) / self._row.policy_id
        facts = replace(inspect(self._part.resolve(), digests), path=target.resolve())
        origin: PolicyOriginDocument = {
            "source": row.source, "location": row.location, "revision": row.revision, "commit": listing.commit or None,
        }  # fmt: skip
        self._sync()
        with transaction.atomic():
            Team.objects.select_for_update(no_key=True).get(pk=row.team_id)
            if not finish(row):
                raise NotOurs
            store_policy(
                row.team,
                Actor(**row.actor),
                row.slug,
                row.name,
                facts,
                read_from=self._part,
                licence=listing.licence,
                id=row.policy_id,
                origin=origin,
            )
            self._part.rename(target)
            sync_folder(target.parent)

    def _sync(self) -> None:
        """Have the files survive a power cut before the row says that they are there."""
        for path in self._part.iterdir():
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        sync_folder(self._part)

    def _wait(self, error: NetworkTrouble) -> None:
        """Have it tried again in a while; after too many faults in a row it has failed."""
        faults = 0 if _bytes_in(self._part) > self._began_with else self._row.faults + 1
        if faults >= MAX_FAULTS:
            fail(self._row, f"{error} It was tried {MAX_FAULTS} times. Retry goes on behind what was fetched.")
        else:
            give_back(self._row, f"{error} It is tried again in a while.", faults=faults)

    def _leave(self) -> None:
        """Remove what was fetched of a cancelled import; another worker's stays."""
        if PolicyImport.objects.filter(pk=self._row.pk, state=ImportState.CANCELLED).exists():
            shutil.rmtree(self._part, ignore_errors=True)


def _imported(team: Team) -> int:
    """Bytes of the weights of the team's imported policies."""
    imported = Policy.objects.for_team(team).filter(origin__isnull=False)
    return imported.aggregate(total=Sum("bytes"))["total"] or 0


def _bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def _gib(count: int) -> str:
    return f"{count / _GIB:.1f} GiB"
