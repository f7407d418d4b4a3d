"""Copies and downloads that did not become policies because a process was killed, or a transaction or import failed."""

import math
import re
import shutil
from pathlib import Path

import structlog
from django.conf import settings
from django.db.models import Q

from dressage.policies.models import OPEN, Policy, PolicyImport

logger = structlog.get_logger(__name__)

SPARED_S = 86_400
"""A folder that was changed within this time may belong to a copy in progress."""
_UNFINISHED = ".part"
_OURS = re.compile(rf"({Policy.id_prefix}_[A-Za-z0-9]{{22}})(?:{re.escape(_UNFINISHED)})?")
"""Names of copies. Anything else in a team's folder was put there by an operator."""


def unfinished(target: Path) -> Path:
    """The folder next to ``target`` that contains a policy's files until its database row is written."""
    return target.with_name(target.name + _UNFINISHED)


def sweep(now: float) -> list[Path]:
    """Remove folders of policies without a database row, unless they may belong to a copy in progress.

    Args:
        now: seconds since 1970.

    Returns:
        The removed folders. Those that cannot be removed are logged and left.
    """
    return [folder for folder in _leftovers(now) if _remove(folder)]


def _leftovers(now: float) -> list[Path]:
    found = [
        (folder, name[1])
        for folder in Path(settings.TEAM_POLICY_ROOT).glob(f"*/{Policy.id_prefix}_*")
        if (name := _OURS.fullmatch(folder.name)) and folder.is_dir() and not folder.is_symlink()
    ]
    return [folder for folder, policy in found if _changed(folder) < now - SPARED_S and not _is_used(folder, policy)]


def _changed(folder: Path) -> float:
    try:
        facts = folder.stat()
    except FileNotFoundError:  # its copy has failed, or it has been renamed, in the meantime
        return math.inf
    return max(facts.st_mtime, facts.st_ctime)  # the latter also reflects a rename


def _is_used(folder: Path, policy: str) -> bool:
    """Whether the policy exists or is still being created, or another policy was registered with this path."""
    if PolicyImport.objects.filter(policy_id=policy, state__in=OPEN).exists():
        return True
    return Policy.objects.filter(Q(pk=policy) | Q(path__startswith=str(folder.resolve()))).exists()


def _remove(folder: Path) -> bool:
    try:
        shutil.rmtree(folder)
    except OSError:
        logger.exception("a policy's leftover cannot be removed", folder=str(folder))
        return False
    logger.info("a policy's leftover was removed", folder=str(folder))
    return True
