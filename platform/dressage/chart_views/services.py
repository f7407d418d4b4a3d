"""Writes of saved views. A shared view belongs to the team: editors change it, and the audit log records it."""

from typing import Any

from django.db import transaction

from dressage.chart_views.document import ChartsDocument
from dressage.chart_views.models import ChartView
from dressage.common.actors import Actor
from dressage.common.api.errors import FieldError
from dressage.common.api.problems import Problem, conflict, invalid, not_found
from dressage.common.roles import Role
from dressage.teams.models import Team
from dressage.teams.services import record_audit

MAX_VIEWS = 100
"""Maximum number of views that one person may save in a team."""
_FACTS = ("name", "shared", "default", "charts")


@transaction.atomic
def create_view(
    team: Team, actor: Actor, role: Role, *, name: str, charts: ChartsDocument, shared: bool, default: bool
) -> ChartView:
    """Save a view under a name.

    Raises:
        Problem: 403 if it should be shared and the role does not allow it, 409 if the name is taken or the person has
            reached the limit, 422 for a default that is not shared.
    """
    _lock(team)
    own = ChartView.objects.for_team(team).filter(owner=actor.id)
    if own.count() >= MAX_VIEWS:
        raise conflict(f"You already have {MAX_VIEWS} views. Delete one first.", code="too_many_views")
    view = ChartView(team=team, owner=actor.id, created_by=actor.label)
    fields = {"name": name, "charts": charts, "shared": shared, "default": default}
    _assign(view, role, fields)
    view.save(force_insert=True)
    if view.shared:
        record_audit(team, actor, "view.create", "view", view.id, after=_facts(view))
    return view


@transaction.atomic
def change_view(view: ChartView, actor: Actor, role: Role, fields: dict[str, Any]) -> ChartView:
    """Rename a view, replace its content, share it, or make it the team's default.

    Raises:
        Problem: 404 if it was deleted in the meantime; 403, 409 and 422 as for a new one; 422 for making a view private
            that another person has shared.
    """
    _lock(view.team)
    locked = _locked(view)
    before = _facts(locked)
    if locked.shared:
        _require_editor(role)
    if fields.get("shared") is False and locked.owner != actor.id:
        raise invalid("/shared", f"Only {locked.created_by}, who created this view, can unshare it.")
    _assign(locked, role, fields)
    locked.save()
    if before["shared"] or locked.shared:
        record_audit(locked.team, actor, "view.update", "view", locked.id, before=before, after=_facts(locked))
    return locked


@transaction.atomic
def delete_view(view: ChartView, actor: Actor, role: Role) -> None:
    """Delete a view. Raises a 404 problem if it no longer exists, 403 if it is shared and the actor is no editor."""
    locked = _locked(view)
    if locked.shared:
        _require_editor(role)
        record_audit(locked.team, actor, "view.delete", "view", locked.id, before=_facts(locked))
    locked.delete()


def _assign(view: ChartView, role: Role, fields: dict[str, Any]) -> None:
    view.name = fields.get("name", view.name)
    view.shared, view.default = fields.get("shared", view.shared), fields.get("default", view.default)
    if "charts" in fields:
        view.charts = fields["charts"].model_dump(mode="json")
    if view.shared:
        _require_editor(role)
    if view.default and not view.shared:
        raise invalid("/default", "The team's default is a shared view: share it as well.")
    others = ChartView.objects.filter(team=view.team_id).exclude(pk=view.pk)
    if others.filter(owner=view.owner, name=view.name).exists():
        detail = f"There is already a view {view.name!r}. Choose another name, or change that view."
        raise conflict(detail, code="name_taken", errors=[FieldError(pointer="/name", detail=detail)])
    if view.default:
        others.filter(default=True).update(default=False)


def _require_editor(role: Role) -> None:
    if not role.covers(Role.EDITOR):
        detail = f"Sharing in the team needs the role {Role.EDITOR.value}."
        raise Problem(403, "Not allowed", detail, code="permission_denied")


def _lock(team: Team) -> None:
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)


def _locked(view: ChartView) -> ChartView:
    locked = ChartView.objects.select_for_update(of=("self",)).select_related("team").filter(pk=view.pk).first()
    if locked is None:
        raise not_found("view")
    return locked


def _facts(view: ChartView) -> dict[str, Any]:
    return {name: getattr(view, name) for name in _FACTS}
