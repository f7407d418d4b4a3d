"""Writes of shares: one team offers, another accepts, the first may revoke."""

import secrets
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem, conflict, not_found
from dressage.common.roles import Role
from dressage.common.secrets import secret_hash
from dressage.datasets.models import Dataset, DatasetShare
from dressage.datasets.services import require_free
from dressage.datasets.sharing.guests import shares_with
from dressage.datasets.sharing.selectors import offered, share, shares
from dressage.teams.accounts.services import hold_teams
from dressage.teams.models import Team
from dressage.teams.selectors import is_admin
from dressage.teams.services import record_audit

GOOD_FOR = timedelta(days=7)
"""Time for which an offer can be accepted."""
MAX_SHARES = 100
"""Offers and shares of one dataset."""
_TOKEN_BYTES = 32


@transaction.atomic
def offer(dataset: Dataset, actor: Actor, *, note: str = "") -> tuple[DatasetShare, str]:
    """Offer another team to read a dataset.

    Returns:
        The offer, and the link that is to be handed to an admin of that team. It is good for one team.

    Raises:
        Problem: 403 for who is no admin; 404 where the dataset was deleted meanwhile; 409 for too many shares.
    """
    _hold_as_admin(dataset.team, actor)
    locked = Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
    if locked.deleted_at is not None:
        raise not_found("dataset")
    if shares(locked).count() >= MAX_SHARES:
        raise conflict(f"The dataset has {MAX_SHARES} shares and offers. Revoke one first.", code="too_many_shares")
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    made = DatasetShare.objects.create(
        team=dataset.team,
        dataset=locked,
        sha256=secret_hash(token),
        note=note,
        created_by=actor.label,
        created_by_id=actor.id,
        expires_at=timezone.now() + GOOD_FOR,
    )
    after = {"share": made.id, "slug": locked.slug, "note": note, "expires_at": made.expires_at}
    record_audit(dataset.team, actor, "dataset.share.offer", "dataset", locked.id, after=after)
    return made, f"{settings.PUBLIC_URL}/dataset-offers/{token}"


@transaction.atomic
def accept(team: Team, actor: Actor, token: str, *, slug: str) -> DatasetShare:
    """Accept an offer for a team, under a slug that its specs will name.

    Raises:
        Problem: 404 for a token that is good for nothing; 409 for the team of the dataset itself, for a team that reads
            it already, and for a slug that is taken.
    """
    owner = offered(token).team
    hold_teams([owner.pk, team.pk])
    found = offered(token)  # another request may just have used or withdrawn it
    if not is_admin(team, actor.id):
        raise Problem(403, "Not allowed", f"This needs the role {Role.ADMIN.value}.", code="permission_denied")
    if owner.pk == team.pk:
        raise conflict("The dataset belongs to your own team. The link is for another one.", code="own_dataset")
    if shares_with(team).filter(dataset=found.dataset_id).exists():
        raise conflict("Your team reads this dataset already.", code="already_shared")
    require_free(team, slug, shared=found.dataset_id)
    found.guest, found.slug, found.accepted_at = team, slug, timezone.now()
    found.save(update_fields=["guest", "slug", "accepted_at"])
    after = {"slug": slug, "from": owner.slug, "share": found.id}
    record_audit(team, actor, "dataset.share.accept", "dataset", found.dataset_id, after=after)
    # The owner learns which team it was, and not who in it.
    guest = Actor.system(f"team {team.slug}")
    record_audit(owner, guest, "dataset.share.accept", "dataset", found.dataset_id, after={"share": found.id})
    return found


@transaction.atomic
def revoke(dataset: Dataset, actor: Actor, share_id: str) -> None:
    """Withdraw an offer, or end a share. What the other team has begun with the rows goes on to its end.

    Raises:
        Problem: 403 for who is no admin; 404 where it was revoked meanwhile.
    """
    _hold_as_admin(dataset.team, actor)
    share(dataset, share_id)
    # Behind all who hold it: what they begin is a use of before.
    locked = DatasetShare.objects.select_for_update(no_key=True, of=("self",)).select_related("guest").get(pk=share_id)
    locked.revoked_at, locked.revoked_by = timezone.now(), actor.label
    locked.save(update_fields=["revoked_at", "revoked_by"])
    before = {"share": locked.id, "guest": locked.guest.slug if locked.guest else None}
    record_audit(dataset.team, actor, "dataset.share.revoke", "dataset", dataset.id, before=before)


def _hold_as_admin(team: Team, actor: Actor) -> None:
    """Lock the team, then look whether the actor is an admin still."""
    hold_teams([team.pk])
    if not is_admin(team, actor.id):
        raise Problem(403, "Not allowed", f"This needs the role {Role.ADMIN.value}.", code="permission_denied")
