"""Changes to shares: one team offers, another accepts, and the first can revoke."""

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
"""How long an offer can be accepted."""
MAX_SHARES = 100
"""Maximum number of offers and shares per dataset."""
_TOKEN_BYTES = 32


@transaction.atomic
def offer(dataset: Dataset, actor: Actor, *, note: str = "") -> tuple[DatasetShare, str]:
    """Offer another team access to read a dataset.

    Returns:
        The offer, and the link to give to an admin of that team. It works for one team.

    Raises:
        Problem: 403 if the actor is not an admin; 404 if the dataset has been deleted; 409 if there are too many
            shares.
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
    """Accept an offer for a team, under a slug that the team's specs will use.

    Raises:
        Problem: 404 if the token is not valid; 409 for the team that owns the dataset, for a team that already reads
            it, and if the slug is taken.
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
    # The owner learns which team it was, but not who in it.
    guest = Actor.system(f"team {team.slug}")
    record_audit(owner, guest, "dataset.share.accept", "dataset", found.dataset_id, after={"share": found.id})
    return found


@transaction.atomic
def revoke(dataset: Dataset, actor: Actor, share_id: str) -> None:
    """Withdraw an offer, or end a share. Work that the other team has already begun with the rows continues.

    Raises:
        Problem: 403 if the actor is not an admin; 404 if it has already been revoked.
    """
    _hold_as_admin(dataset.team, actor)
    share(dataset, share_id)
    # After everyone who holds the lock: what they begin counts as use before the revocation.
    locked = DatasetShare.objects.select_for_update(no_key=True, of=("self",)).select_related("guest").get(pk=share_id)
    locked.revoked_at, locked.revoked_by = timezone.now(), actor.label
    locked.save(update_fields=["revoked_at", "revoked_by"])
    before = {"share": locked.id, "guest": locked.guest.slug if locked.guest else None}
    record_audit(dataset.team, actor, "dataset.share.revoke", "dataset", dataset.id, before=before)


def _hold_as_admin(team: Team, actor: Actor) -> None:
    """Lock the team, then check that the actor is still an admin."""
    hold_teams([team.pk])
    if not is_admin(team, actor.id):
        raise Problem(403, "Not allowed", f"This needs the role {Role.ADMIN.value}.", code="permission_denied")
