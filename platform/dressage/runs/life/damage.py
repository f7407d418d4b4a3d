"""Damage to checkpoints: found by names, sizes and hashes of their files, stored with the row, and told by the file.

The worker verifies a checkpoint before it continues from it. The platform does so before it gives the files away: to a
child run, a download or an export. Hashes are kept for as long as a file is unchanged, because a checkpoint is asked
for again, for each range of a download for example.
"""

import hashlib
import threading
from collections.abc import Iterable
from contextlib import nullcontext
from errno import ENOENT
from pathlib import Path

from dressage.common.api.problems import Problem, conflict
from dressage.common.lengthy import FILES
from dressage.runs.models import Checkpoint
from trainer_core.link.events import MAX_FAULT
from trainer_core.update.saving.manifest import MANIFEST, DamagedFile, sha256_of, verify_manifest

KEPT_HASHES = 4096
"""Files whose hashes a process keeps."""
_kept: dict[tuple[int, ...], str] = {}
"""SHA-256 by what ``_facts`` returns for the file, oldest first."""
_keeping = threading.Lock()


def visible_damage(folder: Path, manifest_sha256: str) -> str | None:
    """Fault of the folder by its manifest and its files' names and sizes, without reading the files.

    Raises:
        OSError: the folder cannot be read.
    """
    return _damage(folder, manifest_sha256, by_content=False)


def damage(folder: Path, manifest_sha256: str) -> str | None:
    """Fault of the folder, as the worker would find it. None: every file is as it was written.

    Raises:
        OSError: a file cannot be read.
    """
    return _damage(folder, manifest_sha256, by_content=True)


def is_whole(checkpoint: Checkpoint) -> bool:
    """Whether every file is as it was written. Stores the answer; a file that was put back is no damage any more.

    Raises:
        OSError: a file cannot be read.
    """
    folder = checkpoint.folder.resolve(strict=True)
    if not folder.is_relative_to(checkpoint.run.run_dir.resolve()):
        raise FileNotFoundError(ENOENT, "it is not in the folder of its run")
    found = damage(folder, checkpoint.manifest_sha256)
    store_damage(checkpoint, found or "")
    return found is None


def require_whole(checkpoint: Checkpoint) -> None:
    """Require that every file of an existing checkpoint is as it was written. Reads all of them, the first time.

    Raises:
        Problem: 409 with the name of a damaged file; 410 if the files cannot be read.
    """
    try:
        if not is_whole(checkpoint):
            raise damaged(checkpoint)
    except OSError as error:
        detail = f"The files of the checkpoint of step {checkpoint.step} cannot be read: {error.strerror}."
        raise Problem(410, "Gone", detail, code="checkpoint_gone") from error


def require_whole_for_request(checkpoint: Checkpoint) -> None:
    """The same for a request, which takes one of the slots for long requests if files must be read.

    Raises:
        Problem: as ``require_whole``; 429 or 503 if too many files are being read.
    """
    try:
        slot = FILES.place(checkpoint.run.team_id) if _needs_reading(checkpoint.folder) else nullcontext()
    except OSError:
        slot = nullcontext()  # a file went away: told below
    with slot:
        require_whole(checkpoint)


def store_damage(checkpoint: Checkpoint, fault: str) -> None:
    """Mark a checkpoint as damaged, or as whole with an empty ``fault``. Repeating it changes nothing."""
    fault = fault[:MAX_FAULT]
    if fault != checkpoint.damage:
        checkpoint.damage = fault
        checkpoint.save(update_fields=["damage"])


def damaged(checkpoint: Checkpoint) -> Problem:
    """The refusal of a damaged checkpoint."""
    detail = f"The checkpoint of step {checkpoint.step} is damaged: {checkpoint.damage}."
    return conflict(detail, code="checkpoint_damaged")


def damage_sentence(checkpoints: Iterable[Checkpoint]) -> str:
    """Clauses that say of each checkpoint why it cannot be used."""
    return "; ".join(f"the checkpoint of step {one.step} {_state(one)}" for one in checkpoints)


def _state(checkpoint: Checkpoint) -> str:
    return f"is damaged ({checkpoint.damage})" if checkpoint.damage else "is no longer on the disk"


def _damage(folder: Path, manifest_sha256: str, *, by_content: bool) -> str | None:
    try:
        text = (folder / MANIFEST).read_bytes()
    except FileNotFoundError:
        return f"{MANIFEST} is missing"
    if hashlib.sha256(text).hexdigest() != manifest_sha256:
        return f"{MANIFEST} was changed after the checkpoint was written"
    try:
        verify_manifest(folder, _kept_sha256 if by_content else None)
    except DamagedFile as found:
        # The manifest is the one that the worker has announced. If its format is not known here, the worker decides.
        return None if found.name == MANIFEST else found.fault
    return None


def _kept_sha256(path: Path) -> str:
    facts = _facts(path)
    found = _kept.get(facts)
    if found is None:
        found = sha256_of(path)
        with _keeping:
            _kept[facts] = found
            if len(_kept) > KEPT_HASHES:
                del _kept[next(iter(_kept))]
    return found


def _facts(path: Path) -> tuple[int, ...]:
    """Facts that change with the content of a file."""
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _needs_reading(folder: Path) -> bool:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)
    return any(_facts(path) not in _kept for path in files)
