"""Writes of imports, by people and by the worker that carries one out."""

import re
import shutil
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from dressage.common.actors import Actor
from dressage.common.ids import new_id
from dressage.common.problems import Problem, conflict, invalid
from dressage.common.slugs import slug_for
from dressage.policies.folders import own_root
from dressage.policies.imports.enqueue import enqueue_import
from dressage.policies.leftovers import unfinished
from dressage.policies.models import ACTIVE, OPEN, ImportState, Policy, PolicyImport, SourceKind
from dressage.policies.services import require_free
from dressage.teams.models import Team
from dressage.teams.services import record_audit

SILENT_S = 15
"""Seconds after which a worker that has not written is believed dead."""
MAX_ACTIVE = 2
"""Imports that are worked on at once in the installation; the others wait for their turn."""
MAX_OPEN = 20
"""Imports of one team that are not over."""
OFFLINE = (
    "This installation never asks the hub (HF_HUB_OFFLINE). Have the operator put the folder among the platform's "
    "policies, and register it from there."
)
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.\-]{0,95}(/[A-Za-z0-9][\w.\-]{0,95})?", re.ASCII)
_REVISION = re.compile(r"[\w.\-/]{1,200}", re.ASCII)
_BUCKET = re.compile(r"s3://[a-z0-9][a-z0-9.\-]{1,61}[a-z0-9](/[^\s\\?#]*)?", re.ASCII)


@transaction.atomic
def start_import(
    team: Team, actor: Actor, *, name: str, slug: str | None, source: str, location: str, revision: str = ""
) -> PolicyImport:
    """A new import; a worker is told on commit.

    Args:
        team: the owner of the policy to be.
        actor: who asks.
        name: what people call the policy.
        slug: how specs name it; made from the name when None.
        source: a value of ``SourceKind``.
        location: ``owner/name`` of a repository, or ``s3://bucket/prefix``.
        revision: a branch, tag or commit of the repository; empty for the main branch.

    Raises:
        Problem: 422 for what is no such name, 409 when the slug is taken, 429 when too many of the team are open.
    """
    slug = slug_for(name, slug)
    _check_place(source, location, revision)
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    require_free(team, slug)
    _require_room(team)
    row = PolicyImport.objects.create(
        team=team,
        name=name,
        slug=slug,
        source=source,
        location=location,
        revision=revision,
        policy_id=new_id(Policy.id_prefix),
        actor={"kind": actor.kind, "id": actor.id, "name": actor.name},
        created_by=actor.label,
    )
    after = {"slug": slug, "source": source, "location": location, "revision": revision}
    record_audit(team, actor, "policy.import", "policy_import", row.id, after=after)
    enqueue_import(row)
    return row


@transaction.atomic
def cancel_import(team: Team, actor: Actor, row: PolicyImport) -> PolicyImport:
    """End an import, or put one away that has failed; what it has fetched is removed.

    Raises:
        Problem: 409 when it is over otherwise.
    """
    locked = PolicyImport.objects.select_for_update().get(pk=row.pk)
    if locked.state not in (*OPEN, ImportState.FAILED):
        raise conflict(f"The import is over: it is {locked.state}.", code="import_is_over")
    was_active = locked.state in ACTIVE
    _end(locked, ImportState.CANCELLED, "")
    record_audit(team, actor, "policy.import_cancel", "policy_import", row.id, after={"slug": row.slug})
    if not was_active:  # a worker that has it removes it
        part = unfinished(own_root(team) / row.policy_id)
        transaction.on_commit(lambda: shutil.rmtree(part, ignore_errors=True))
    return locked


@transaction.atomic
def retry_import(team: Team, actor: Actor, row: PolicyImport) -> PolicyImport:
    """Try an import again that has failed or was cancelled; files that are still there are not fetched again.

    Raises:
        Problem: 409 when it is not over, is ready, or its slug was taken meanwhile; 429 as for a new one.
    """
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    locked = PolicyImport.objects.select_for_update().get(pk=row.pk)
    if locked.state not in (ImportState.FAILED, ImportState.CANCELLED):
        raise conflict(f"The import is {locked.state}: there is nothing to try again.", code="import_cannot_be_retried")
    require_free(team, locked.slug)
    _require_room(team)
    locked.state, locked.error, locked.finished_at, locked.faults = ImportState.QUEUED, "", None, 0
    locked.bytes_total = 0  # it counts among the team's when its files are listed, as a new one does
    locked.save(update_fields=["state", "error", "finished_at", "faults", "bytes_total"])
    record_audit(team, actor, "policy.import_retry", "policy_import", row.id, after={"slug": row.slug})
    enqueue_import(locked)
    return locked


@transaction.atomic
def claim(import_id: str) -> PolicyImport | None:
    """Take an import for the calling worker; None when it is over, another has it, or it is not its turn."""
    row = PolicyImport.objects.select_for_update(of=("self",)).select_related("team").filter(pk=import_id).first()
    if row is None or row.state not in OPEN:
        return None
    fresh = Q(state__in=ACTIVE, heard_at__gte=Now() - timedelta(seconds=SILENT_S))
    if row.state in ACTIVE and PolicyImport.objects.filter(fresh, pk=row.pk).exists():
        return None
    if PolicyImport.objects.filter(fresh).exclude(pk=row.pk).count() >= MAX_ACTIVE:
        return None
    row.state, row.attempt, row.error = ImportState.DOWNLOADING, row.attempt + 1, ""
    row.started_at = row.started_at or timezone.now()
    row.save(update_fields=["state", "attempt", "error", "started_at"])
    PolicyImport.objects.filter(pk=row.pk).update(heard_at=Now())
    return row


def report(row: PolicyImport, **fields: Any) -> bool:
    """Write what the worker of this attempt has done. False: the import was ended, or is another worker's."""
    mine = PolicyImport.objects.filter(pk=row.pk, attempt=row.attempt, state__in=ACTIVE)
    return mine.update(heard_at=Now(), **fields) == 1


def give_back(row: PolicyImport, reason: str = "", *, faults: int = 0) -> None:
    """Queue an import again whose worker ends, or whose network has failed; the sweep asks a worker soon."""
    mine = PolicyImport.objects.filter(pk=row.pk, attempt=row.attempt, state__in=ACTIVE)
    mine.update(state=ImportState.QUEUED, error=reason, rung_at=Now(), faults=faults)


@transaction.atomic
def fail(row: PolicyImport, reason: str) -> None:
    """End an import with a sentence, unless it is another worker's or over."""
    locked = PolicyImport.objects.select_for_update().get(pk=row.pk)
    if locked.attempt == row.attempt and locked.state in ACTIVE:
        _end(locked, ImportState.FAILED, reason)


def finish(row: PolicyImport) -> bool:
    """Mark an import as ready, in the transaction that stores the policy. False as for ``report``."""
    locked = PolicyImport.objects.select_for_update().get(pk=row.pk)
    if locked.attempt != row.attempt or locked.state not in ACTIVE:
        return False
    _end(locked, ImportState.READY, "")
    return True


def _end(row: PolicyImport, state: ImportState, reason: str) -> None:
    row.state, row.error, row.finished_at = state, reason[:2000], timezone.now()
    row.save(update_fields=["state", "error", "finished_at"])


def _check_place(source: str, location: str, revision: str) -> None:
    if source == SourceKind.BUCKET:
        if not _BUCKET.fullmatch(location):
            raise invalid("/location", "Give the address of a folder in a bucket, such as s3://bucket/folder.")
        if revision:
            raise invalid("/revision", "A bucket has no revisions: leave it empty.")
        return
    if settings.HUB_OFFLINE:
        raise invalid("/source", OFFLINE, code="hub_is_offline")
    if not _REPOSITORY.fullmatch(location) or "--" in location or ".." in location:
        raise invalid("/location", "Give the name of a repository as the hub has it, such as Qwen/Qwen3-0.6B.")
    if revision and not _REVISION.fullmatch(revision):
        raise invalid("/revision", "Give a branch, a tag or a commit hash, or leave it empty for the main branch.")


def _require_room(team: Team) -> None:
    if PolicyImport.objects.for_team(team).filter(state__in=OPEN).count() >= MAX_OPEN:
        detail = f"{MAX_OPEN} imports of this team are not over yet. Cancel one, or wait for one."
        raise Problem(429, "Too many requests", detail, code="too_many_imports", headers={"Retry-After": "30"})
