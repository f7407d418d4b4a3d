"""User actions on imports."""

import re
import shutil

from django.conf import settings
from django.db import transaction

from dressage.common.actors import Actor
from dressage.common.api.problems import conflict, invalid
from dressage.common.ids import new_id
from dressage.common.slugs import slug_for
from dressage.jobs.local import end, notify, queue_again
from dressage.jobs.room import require_room
from dressage.policies.folders import own_root
from dressage.policies.leftovers import unfinished
from dressage.policies.models import ACTIVE, OPEN, ImportState, Policy, PolicyImport, SourceKind
from dressage.policies.services import require_free
from dressage.teams.models import Team
from dressage.teams.services import record_audit

MAX_OPEN = 20
"""Maximum number of unfinished imports per team."""
OFFLINE = (
    "This installation is offline (HF_HUB_OFFLINE). Have the operator put the folder into the platform's policies, and"
    " register it there."
)
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.\-]{0,95}(/[A-Za-z0-9][\w.\-]{0,95})?", re.ASCII)
_REVISION = re.compile(r"[\w.\-/]{1,200}", re.ASCII)
_BUCKET = re.compile(r"s3://[a-z0-9][a-z0-9.\-]{1,61}[a-z0-9](/[^\s\\?#]*)?", re.ASCII)


@transaction.atomic
def start_import(
    team: Team, actor: Actor, *, name: str, slug: str | None, source: str, location: str, revision: str = ""
) -> PolicyImport:
    """Start an import. A worker is notified on commit.

    Args:
        team: the owner of the future policy.
        actor: who makes the request.
        name: display name of the policy.
        slug: name of the policy in specs; derived from the name if None.
        source: a value of ``SourceKind``.
        location: ``owner/name`` of a repository, or ``s3://bucket/prefix``.
        revision: a branch, tag or commit of the repository; empty for the main branch.

    Raises:
        Problem: 422 if the name is invalid; 409 if the slug is taken; 429 if the team has too many open imports.
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
    notify(row)
    return row


@transaction.atomic
def cancel_import(team: Team, actor: Actor, row: PolicyImport) -> PolicyImport:
    """Cancel an import, or dismiss a failed one. Its files are removed.

    Raises:
        Problem: 409 if it has already ended in another way.
    """
    locked = PolicyImport.objects.select_for_update().get(pk=row.pk)
    if locked.state not in (*OPEN, ImportState.FAILED):
        raise conflict(f"The import has ended: it is {locked.state}.", code="import_is_over")
    was_active = locked.state in ACTIVE
    end(locked, ImportState.CANCELLED)
    record_audit(team, actor, "policy.import_cancel", "policy_import", row.id, after={"slug": row.slug})
    if not was_active:  # otherwise the worker that has it removes it
        part = unfinished(own_root(team) / row.policy_id)
        transaction.on_commit(lambda: shutil.rmtree(part, ignore_errors=True))
    return locked


@transaction.atomic
def retry_import(team: Team, actor: Actor, row: PolicyImport) -> PolicyImport:
    """Retry an import that failed or was cancelled. Files that are still on disk are not fetched again.

    Raises:
        Problem: 409 if it is not over, is ready, or its slug has been taken; 429 as for a new import.
    """
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    locked = PolicyImport.objects.select_for_update().get(pk=row.pk)
    if locked.state not in (ImportState.FAILED, ImportState.CANCELLED):
        raise conflict(f"The import is {locked.state}: there is nothing to retry.", code="import_cannot_be_retried")
    require_free(team, locked.slug)
    _require_room(team)
    queue_again(locked, faults=0, bytes_total=0)  # its size counts again once its files are listed
    record_audit(team, actor, "policy.import_retry", "policy_import", row.id, after={"slug": row.slug})
    return locked


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
        raise invalid("/location", "Give a repository name as on the hub, such as Qwen/Qwen3-0.6B.")
    if revision and not _REVISION.fullmatch(revision):
        raise invalid("/revision", "Give a branch, a tag or a commit hash, or leave it empty for the main branch.")


def _require_room(team: Team) -> None:
    found = PolicyImport.objects.for_team(team).filter(state__in=OPEN)
    require_room(found, team, MAX_OPEN, plural="imports", code="too_many_imports", retry_s=30)
