"""Writes of service accounts."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from dressage.common.actors import Actor
from dressage.common.api.problems import conflict
from dressage.common.roles import Role
from dressage.teams.models import ServiceAccount, Team
from dressage.teams.services import record_audit


@transaction.atomic
def create_service_account(team: Team, actor: Actor, *, name: str, role: Role) -> ServiceAccount:
    """A new account for programs. Raises a 409 problem if the name is taken."""
    _require_free(team, name)
    account = ServiceAccount.objects.create(team=team, name=name, role=role, created_by=actor.label)
    record_audit(team, actor, "service_account.create", "service_account", account.id, after=_facts(account))
    return account


@transaction.atomic
def update_service_account(
    team: Team, actor: Actor, account: ServiceAccount, changes: dict[str, Any]
) -> ServiceAccount:
    """Change name, role or whether it is ``disabled``; its tokens follow on their next use.

    Raises:
        Problem: 409 if the name is taken.
    """
    account = ServiceAccount.objects.select_for_update().get(team=team, pk=account.pk)
    before = _facts(account)
    if changes.get("name", account.name) != account.name:
        _require_free(team, changes["name"])
    account.name = changes.get("name", account.name)
    account.role = changes.get("role", account.role)
    if "disabled" in changes:
        account.disabled_at = (account.disabled_at or timezone.now()) if changes["disabled"] else None
    after = _facts(account)
    if after != before:
        account.save(update_fields=["name", "role", "disabled_at"])
        kind = "service_account"
        record_audit(team, actor, "service_account.update", kind, account.id, before=before, after=after)
    return account


def _require_free(team: Team, name: str) -> None:
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)  # serializes concurrent requests with the same name
    if ServiceAccount.objects.filter(team=team, name=name).exists():
        raise conflict(f"There is already a service account {name!r}.", code="name_taken")


def _facts(account: ServiceAccount) -> dict[str, object]:
    """Facts about an account, for the audit log."""
    return {"name": account.name, "role": account.role, "disabled": account.disabled_at is not None}
