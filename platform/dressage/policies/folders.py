"""Folders from which a team may use weights. Checked when a policy is registered, and again at every use."""

import os
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from dressage.policies.models import Policy
from dressage.teams.models import Team


class ClosedFolder(ValueError):
    """The team may not use weights from there. The message states the reason, and names no path on the machine."""


OUTSIDE = (
    "The path is not in a policy folder open to this team. Ask the operator (POLICY_ROOTS), or register a checkpoint by"
    " its id."
)


def own_root(team: Team) -> Path:
    """The team's own folder: for policies created from its checkpoints, and for what an operator puts there for it."""
    return Path(settings.TEAM_POLICY_ROOT) / team.id


def require_open(team: Team, path: Path) -> Path:
    """The folder at ``path`` with links resolved, if its files may be used as the team's policy.

    Raises:
        ClosedFolder: the path, or the target of a link in it, is outside the team's roots. The message is the same for
            a missing path outside them.
    """
    roots = [root.resolve() for root in (*settings.POLICY_ROOTS, own_root(team))]
    folder = _resolved(path)
    if not path.is_absolute() or not _under(folder, roots) or _is_closed(folder, [own_root(team)]):
        raise ClosedFolder(OUTSIDE)
    _require_own_files(folder, roots, [own_root(team)])
    return folder


def require_still_open(policy: Policy) -> None:
    """Check a registered folder again, since it or a link to it may have been replaced. A missing folder passes.

    Raises:
        ClosedFolder: the policy's team may not, or no longer, use weights from the folder.
    """
    path, team = Path(policy.path), policy.team
    own = [own_root(team), *([Path(settings.RUN_ROOT) / policy.run] if policy.run else [])]
    roots = [root.resolve() for root in (*settings.POLICY_ROOTS, *own)]
    folder = _resolved(path)
    # A folder stays usable if an operator removes its root from the list, but not if it has become another folder.
    if _is_closed(folder, own) or not (folder == path or _under(folder, roots)):
        raise ClosedFolder("its folder does not belong to this team")
    _require_own_files(folder, [*roots, *_parts(folder)], own)


def _parts(folder: Path) -> list[Path]:
    """The folder; for a snapshot in a Hugging Face cache also the blobs of its repository, which its files link to."""
    return [folder, *([folder.parent.parent / "blobs"] if folder.parent.name == "snapshots" else [])]


def _require_own_files(folder: Path, roots: list[Path], own: list[Path]) -> None:
    try:
        _look_into(folder, roots, own)
    except OSError as error:  # its own message would reveal the path
        raise ClosedFolder(f"its folder cannot be read ({error.strerror or type(error).__name__})") from error


def _look_into(folder: Path, roots: list[Path], own: list[Path]) -> None:
    if not folder.is_dir():
        return
    shared = []
    for file in folder.iterdir():
        resolved = _resolved(file)
        if not _under(resolved, roots) or _is_closed(resolved, own):
            raise ClosedFolder(f"{file.name} leads to a file outside this team's folders")
        facts = resolved.stat() if resolved.is_file() else None
        if facts is not None and facts.st_nlink > 1:
            shared.append((file.name, (facts.st_dev, facts.st_ino)))
    if shared:
        closed = set(_files_of_others(own))
        for name, identity in shared:
            if identity in closed:
                raise ClosedFolder(f"{name} is a file that does not belong to this team")


def _is_closed(path: Path, own: list[Path]) -> bool:
    """Whether the path is among data written by teams, and outside the team's own part of it."""
    return _under(path, _written_by_teams()) and not _under(path, [root.resolve() for root in own])


def _written_by_teams() -> list[Path]:
    return [Path(root).resolve() for root in (settings.RUN_ROOT, settings.TEAM_POLICY_ROOT, settings.DATASET_ROOT)]


def _files_of_others(own: list[Path]) -> Iterator[tuple[int, int]]:
    """(device, inode) of every file that a hard link could expose. Only called for files with several names."""
    mine = [root.resolve() for root in own]
    for root in _written_by_teams():
        for place, folders, names in os.walk(root):
            folders[:] = [name for name in folders if not _under(Path(place, name), mine)]
            for name in names:
                try:
                    facts = os.lstat(Path(place, name))
                except FileNotFoundError:
                    continue  # a worker has deleted it in the meantime
                if facts.st_nlink > 1:
                    yield facts.st_dev, facts.st_ino


def _under(path: Path, roots: list[Path]) -> bool:
    return any(path.is_relative_to(root) for root in roots)


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise ClosedFolder("The path cannot be read.") from error
