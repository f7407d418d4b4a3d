"""Changes to saved mappings."""

from collections.abc import Iterable
from typing import Any

from django.db import transaction

from dressage.common.actors import Actor
from dressage.common.api.errors import FieldError
from dressage.common.api.problems import conflict, not_found
from dressage.datasets.mapping.selectors import saved_mappings
from dressage.datasets.models import SavedMapping
from dressage.teams.models import Team
from dressage.teams.services import record_audit
from trainer_core.datasets.mapping import DatasetMapping

MAX_SAVED = 500
"""Maximum number of saved mappings per team."""


@transaction.atomic
def save_mapping(
    team: Team, actor: Actor, *, name: str, mapping: DatasetMapping, columns: Iterable[str]
) -> SavedMapping:
    """Save a mapping under a name, for files with these columns.

    Raises:
        Problem: 409 if the name is taken, or the team has reached its limit.
    """
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    _require_free(team, name)
    if saved_mappings(team).count() >= MAX_SAVED:
        raise conflict(f"The team keeps {MAX_SAVED} mappings already. Delete one first.", code="too_many_mappings")
    saved = SavedMapping.objects.create(
        team=team,
        name=name,
        mapping=mapping.model_dump(mode="json"),
        columns=sorted(set(columns)),
        created_by=actor.label,
    )
    record_audit(team, actor, "dataset_mapping.create", "dataset_mapping", saved.id, after=_facts(saved))
    return saved


@transaction.atomic
def change_mapping(saved: SavedMapping, actor: Actor, fields: dict[str, Any]) -> SavedMapping:
    """Rename a mapping, or replace its content. Versions created with it keep the content of that time.

    Raises:
        Problem: 404 if it has been deleted, 409 if the name is taken.
    """
    Team.objects.select_for_update(no_key=True).get(pk=saved.team_id)
    locked = _locked(saved)
    before = _facts(locked)
    if fields.get("name", locked.name) != locked.name:
        _require_free(locked.team, fields["name"])
        locked.name = fields["name"]
    if "mapping" in fields:
        locked.mapping = fields["mapping"].model_dump(mode="json")
    locked.save()
    record_audit(
        locked.team, actor, "dataset_mapping.update", "dataset_mapping", locked.id, before=before, after=_facts(locked)
    )
    return locked


@transaction.atomic
def delete_mapping(saved: SavedMapping, actor: Actor) -> None:
    """Delete a mapping. Versions created with it keep their copy.

    Raises:
        Problem: 404 if it has already been deleted.
    """
    locked = _locked(saved)
    record_audit(locked.team, actor, "dataset_mapping.delete", "dataset_mapping", locked.id, before=_facts(locked))
    locked.delete()


def _locked(saved: SavedMapping) -> SavedMapping:
    locked = SavedMapping.objects.select_for_update().filter(pk=saved.pk).first()
    if locked is None:
        raise not_found("dataset mapping")
    return locked


def _require_free(team: Team, name: str) -> None:
    if saved_mappings(team).filter(name=name).exists():
        detail = f"There is already a mapping {name!r}. Choose another name, or change that one."
        raise conflict(detail, code="name_taken", errors=[FieldError(pointer="/name", detail=detail)])


def _facts(saved: SavedMapping) -> dict[str, Any]:
    return {"name": saved.name, "mapping": saved.mapping}
