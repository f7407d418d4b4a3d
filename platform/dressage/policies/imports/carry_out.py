"""An import, carried out by a worker of the platform: list, look at the small files, fetch, compare, register.

It may be killed anywhere. Then the next worker lists the same commit, goes on behind what lies on the disk, and
compares everything in the end.
"""

import fcntl
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Q, Sum

from dressage.common.actors import Actor
from dressage.common.problems import Problem
from dressage.embedded.private_files import sync_folder
from dressage.policies.access.selectors import bucket_credentials, hub_token
from dressage.policies.documents import PolicyOriginDocument
from dressage.policies.folders import own_root
from dressage.policies.imports.progress import NotOurs, Progress, Stopping
from dressage.policies.imports.remote import ImportRefused, Listing, NetworkTrouble, RemoteFile, Source
from dressage.policies.imports.selection import INDEX, small_files, weights
from dressage.policies.imports.services import MAX_ACTIVE, claim, fail, finish, give_back
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
_PLACES = threading.BoundedSemaphore(MAX_ACTIVE)
"""Imports that this process works on. One whose network hangs writes nothing and has its thread all the same."""


def carry_out(import_id: str) -> None:
    """Go on with an import, unless it is over, another worker has it, or it is not its turn."""
    row = PolicyImport.objects.select_related("team").filter(pk=import_id).first()
    if row is None or row.state not in OPEN:
        return
    if not _PLACES.acquire(blocking=False):
        return  # the sweep asks again; the other threads of this worker are for runs
    try:
        _go_on(row)
    finally:
        _PLACES.release()


def _go_on(row: PolicyImport) -> None:
    part = _workplace(own_root(row.team) / row.policy_id)
    if part is None:
        return
    with _alone(part) as alone:
        claimed = claim(row.id) if alone else None
        if claimed is not None:
            _Import(claimed, part).run()


def _workplace(target: Path) -> Path | None:
    """The folder of what was fetched; None while another worker registers it, and when it was registered.

    It may have got its last name before its worker was killed; then it gets the former one again.
    """
    part = unfinished(target)
    if target.is_dir():
        with _alone(target) as alone:
            if not alone or Policy.objects.filter(pk=target.name).exists():
                return None
            if part.is_dir() and not any(part.iterdir()):  # an earlier release made it beside the other
                part.rmdir()
            if not part.exists():
                target.rename(part)
    part.mkdir(parents=True, exist_ok=True, mode=0o700)
    return part


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Whether the folder is there and no other worker has it. The kernel gives it back when this process is killed."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        yield False
        return
    try:
        yield _is_held(descriptor, folder)
    finally:
        os.close(descriptor)


def _is_held(descriptor: int, folder: Path) -> bool:
    """Take the lock of an open folder: False when another has it, or has removed or renamed the folder meanwhile."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(descriptor), os.stat(folder))
    except (BlockingIOError, FileNotFoundError):
        return False


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
        if total > settings.IMPORT_GIB * _GIB:
            raise ImportRefused(
                f"It has {_gib(total)}, and {settings.IMPORT_GIB:g} GiB are allowed. Whoever runs this installation "
                "may allow more by POLICY_IMPORT_GIB."
            )
        with transaction.atomic():
            # Under the team's lock: of two at once that only fit one by one, the second finds the first's size.
            Team.objects.select_for_update(no_key=True).get(pk=self._row.team_id)
            self._require_share(total)
            self._progress.write(bytes_total=total, files_total=len(files))
        missing = total - sum(min(self._has(file), file.size) for file in files)
        free = shutil.disk_usage(self._part).free - RESERVE_BYTES
        if missing > free:
            raise ImportRefused(
                f"It needs {_gib(missing)} more on the platform's disk, where {_gib(max(0, free))} are free for it. "
                "Have the operator make room, then retry."
            )

    def _require_share(self, total: int) -> None:
        """Require that the team may have so many bytes more."""
        if settings.TEAM_IMPORTS_GIB is None:
            return
        taken = _imported(self._row.team) + _on_the_way(self._row)
        if total + taken > settings.TEAM_IMPORTS_GIB * _GIB:
            raise ImportRefused(
                f"It has {_gib(total)}, and the team's imports have {_gib(taken)}, with those that are not over, of "
                f"the {settings.TEAM_IMPORTS_GIB:g} GiB that they may have (TEAM_POLICIES_GIB). Cancel imports that "
                "nobody needs, or have whoever runs this installation allow more."
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


def _on_the_way(row: PolicyImport) -> int:
    """Bytes of the team's other imports: the sizes of those that are open, and what failed ones have left to retry."""
    root = own_root(row.team)
    kept = {part.stem: _on_disk(part) for part in root.glob(unfinished(root / "*").name)}
    others = PolicyImport.objects.for_team(row.team).exclude(pk=row.pk)
    others = others.filter(Q(state__in=OPEN) | Q(state=ImportState.FAILED, policy_id__in=[*kept]))
    return sum(
        max(other.bytes_total if other.state in OPEN else 0, kept.get(other.policy_id, 0))
        for other in others.only("state", "bytes_total", "policy_id")
    )


def _on_disk(folder: Path) -> int:
    """Bytes in a folder that another worker may be removing."""
    total = 0
    with suppress(FileNotFoundError):
        for path in folder.iterdir():
            total += path.stat().st_size
    return total


def _bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def _gib(count: int) -> str:
    return f"{count / _GIB:.1f} GiB"
