"""Writes of reports. Each creates a revision, which can be restored; a write based on an older revision is refused."""

import json
from itertools import accumulate
from typing import Any

from django.db import transaction
from django.utils import timezone

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem, conflict, not_found
from dressage.reports.document import ReportContent
from dressage.reports.models import Report, ReportRevision
from dressage.teams.models import Team
from dressage.teams.services import record_audit

MAX_REPORTS = 1000
"""Maximum number of reports in a team."""
KEPT_REVISIONS = 200
"""Revisions that are stored per report; older ones are deleted."""
KEPT_CHARACTERS = 10_000_000
"""Characters of all of them together, written as JSON. Above this limit the oldest are deleted; the newest stays."""


@transaction.atomic
def create_report(team: Team, actor: Actor, *, title: str, content: ReportContent) -> Report:
    """Create a report. Raises a 409 problem if the team has reached its limit."""
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    if Report.objects.for_team(team).count() >= MAX_REPORTS:
        raise conflict(f"The team already has {MAX_REPORTS} reports. Delete one first.", code="too_many_reports")
    report = Report(team=team, title=title, content=content.model_dump(mode="json"), created_by=actor.label)
    report.updated_at, report.updated_by = report.created_at, actor.label
    report.save(force_insert=True)
    _keep_revision(report)
    record_audit(team, actor, "report.create", "report", report.id, after=_facts(report))
    return report


@transaction.atomic
def change_report(report: Report, actor: Actor, revision: int, fields: dict[str, Any]) -> Report:
    """Change the title or the blocks of a report. Nothing is saved if nothing changes.

    Args:
        report: the report.
        actor: who requests it.
        revision: the revision that they have seen.
        fields: ``title`` and ``content``, or one of them.

    Raises:
        Problem: 404 if it was deleted in the meantime; 412 with the current ``revision`` if someone else was faster.
    """
    locked = _locked(report)
    if revision != locked.revision:
        detail = f"{locked.updated_by} has changed the report since you loaded it. Review the changes, then save again."
        now = {"revision": locked.revision}
        raise Problem(412, "Precondition failed", detail, code="stale_revision", extra=now)
    title = fields.get("title", locked.title)
    content = fields["content"].model_dump(mode="json") if "content" in fields else locked.content
    if (title, content) == (locked.title, locked.content):
        return locked
    before = _facts(locked)
    locked.title, locked.content, locked.revision = title, content, revision + 1
    locked.updated_at, locked.updated_by = timezone.now(), actor.label
    locked.save()
    _keep_revision(locked)
    record_audit(locked.team, actor, "report.update", "report", locked.id, before=before, after=_facts(locked))
    return locked


@transaction.atomic
def delete_report(report: Report, actor: Actor) -> None:
    """Delete a report with its revisions. Raises a 404 problem if it was deleted in the meantime."""
    locked = _locked(report)
    record_audit(locked.team, actor, "report.delete", "report", locked.id, before=_facts(locked))
    locked.delete()


def _keep_revision(report: Report) -> None:
    kept = ReportRevision.objects.create(
        report=report,
        number=report.revision,
        title=report.title,
        content=report.content,
        size=len(json.dumps(report.content, ensure_ascii=False)),
        created_at=report.updated_at,
        created_by=report.updated_by,
    )
    older = ReportRevision.objects.filter(report=report, number__lt=kept.number).order_by("-number")
    sizes = accumulate(older.values_list("size", flat=True)[:KEPT_REVISIONS], initial=kept.size)
    fitting = sum(size <= KEPT_CHARACTERS for size in sizes)
    ReportRevision.objects.filter(
        report=report, number__lte=kept.number - min(max(fitting, 1), KEPT_REVISIONS)
    ).delete()


def _locked(report: Report) -> Report:
    locked = Report.objects.select_for_update(of=("self",)).select_related("team").filter(pk=report.pk).first()
    if locked is None:
        raise not_found("report")
    return locked


def _facts(report: Report) -> dict[str, Any]:
    return {"title": report.title, "revision": report.revision, "blocks": len(report.content["blocks"])}
