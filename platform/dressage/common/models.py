"""Model bases: prefixed ids, and rows that belong to a team."""

from functools import partial
from typing import Any, ClassVar, Self

from django.db import models
from django.utils import timezone

from dressage.common.ids import new_id


class PrefixedIdField(models.CharField):
    """Primary key filled with ``new_id(<the model's id_prefix>)``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs |= {"max_length": 40, "primary_key": True, "editable": False}
        super().__init__(*args, **kwargs)

    def contribute_to_class(self, cls: type[models.Model], name: str, private_only: bool = False) -> None:
        prefix = getattr(cls, "id_prefix", None)
        if prefix:
            self.default = partial(new_id, prefix)
        super().contribute_to_class(cls, name, private_only)

    def deconstruct(self) -> Any:
        """Leave out what the constructor sets itself, and the default, which depends on the model."""
        name, path, args, kwargs = super().deconstruct()
        for key in ("default", "max_length", "primary_key", "editable"):
            kwargs.pop(key, None)
        return name, path, args, kwargs


class PrefixedModel(models.Model):
    """A row with a prefixed id and its time of creation. Subclasses set ``id_prefix``."""

    id_prefix: ClassVar[str]

    id = PrefixedIdField()
    created_at = models.DateTimeField(default=timezone.now, editable=False, db_index=True)

    class Meta:
        abstract = True


class TeamQuerySet(models.QuerySet):
    """Rows that belong to a team, directly or through ``team_path``."""

    def for_team(self, team: models.Model) -> Self:
        """Only the rows of a ``dressage.teams.models.Team``. Every read and write of the API starts here."""
        return self.filter(**{getattr(self.model, "team_path", "team"): team})


class TeamModel(PrefixedModel):
    """A row of a team. The API uses it only through ``Model.objects.for_team(team)``."""

    team_path: ClassVar[str] = "team"

    team = models.ForeignKey("teams.Team", on_delete=models.CASCADE, related_name="+")

    objects = TeamQuerySet.as_manager()

    class Meta:
        abstract = True


class StoredResponse(TeamModel):
    """The response to a request that carried an Idempotency-Key, stored for a day."""

    id_prefix = "idem"

    path = models.CharField(max_length=300)
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField()
    body = models.JSONField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "path", "key"], name="one_response_per_key")]
