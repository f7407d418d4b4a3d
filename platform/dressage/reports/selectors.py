"""Queries for reports."""

from django.db.models import QuerySet

from dressage.common.api.problems import not_found
from dressage.reports.models import Report, ReportRevision
from dressage.teams.models import Team


def reports(team: Team) -> QuerySet[Report]:
    """All reports of a team, without their content."""
    return Report.objects.for_team(team).defer("content")


def report(team: Team, report_id: str) -> Report:
    """One report with its content. Raises a 404 problem."""
    found = Report.objects.for_team(team).select_related("team").filter(id=report_id).first()
    if found is None:
        raise not_found("report")
    return found


def revisions(found: Report) -> QuerySet[ReportRevision]:
    """The stored revisions of a report, without their content."""
    return ReportRevision.objects.filter(report=found).defer("content")


def revision(found: Report, number: int) -> ReportRevision:
    """One revision with its content. Raises a 404 problem, also for one that is no longer stored."""
    kept = ReportRevision.objects.filter(report=found, number=number).first()
    if kept is None:
        raise not_found("revision")
    return kept
