"""Queries for shares."""

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from dressage.common.api.problems import Problem, not_found
from dressage.common.roles import Role
from dressage.common.secrets import secret_hash
from dressage.datasets.models import Dataset, DatasetShare
from dressage.teams.models import Membership


def shares(dataset: Dataset) -> QuerySet[DatasetShare]:
    """Offers and shares of a dataset that were not revoked, including expired offers."""
    return DatasetShare.objects.filter(dataset=dataset, revoked_at=None).select_related("guest")


def share(dataset: Dataset, share_id: str) -> DatasetShare:
    """One offer or share. Raises a 404 problem."""
    found = shares(dataset).filter(pk=share_id).first()
    if found is None:
        raise not_found("share")
    return found


def offered(token: str) -> DatasetShare:
    """The offer for a token, while it can be accepted and its author is still an admin of their team.

    Raises:
        Problem: 404, the same for a token that never existed and for one that is no longer valid.
    """
    admins = Membership.objects.filter(role=Role.ADMIN, user__is_active=True)
    inviters = admins.filter(team=OuterRef("team"), user=OuterRef("created_by_id"))
    open_ones = DatasetShare.objects.select_related("team", "dataset__written_card").filter(
        Exists(inviters), guest=None, revoked_at=None, dataset__deleted_at=None, expires_at__gt=timezone.now()
    )
    found = open_ones.filter(sha256=secret_hash(token)).first()
    if found is None:
        detail = (
            "There is no such offer: it was accepted or withdrawn, has expired, or its link is not whole. "
            "Ask the team that has offered it for another."
        )
        raise Problem(404, "Not found", detail, code="not_found")
    return found
