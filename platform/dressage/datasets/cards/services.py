"""Changes to cards."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem, invalid, not_found
from dressage.datasets.cards import licences
from dressage.datasets.cards.documents import card_of
from dressage.datasets.models import Dataset, DatasetCard
from dressage.teams.models import Membership
from dressage.teams.services import record_audit

MAX_CAVEATS = 20_000
"""Maximum length of the caveats, in characters."""
MAX_DAYS = 3650
"""Maximum number of days to keep replaced versions, unless they are kept forever."""
_TEXTS = {"source": 2000, "purpose": 2000, "caveats": MAX_CAVEATS}


def begin_card(dataset: Dataset, actor: Actor, *, licence: str = "", source: str = "") -> DatasetCard:
    """Create the card of a new dataset. Its owner is the creator if that is a member."""
    owner = None
    if actor.kind == "user":
        owner = Membership.objects.select_related("user").filter(team=dataset.team_id, user=actor.id).first()
    return DatasetCard.objects.create(
        dataset=dataset,
        source=source,
        licence=licences.tidy(licence),
        owner=owner,
        owner_name=owner.user.email if owner else "",
        updated_by=actor.label,
    )


def fill_card(dataset: Dataset, *, licence: str, source: str) -> None:
    """Fill in what an import knows, in fields that are empty. Text written by people stays."""
    card = DatasetCard.objects.filter(dataset=dataset).first()
    if card is None:
        return
    licence, source = card.licence or licences.tidy(licence), card.source or source
    if (licence, source) != (card.licence, card.source):
        card.licence, card.source, card.revision = licence, source, card.revision + 1
        card.save(update_fields=["licence", "source", "revision"])


@transaction.atomic
def change_card(dataset: Dataset, actor: Actor, revision: int, fields: dict[str, Any]) -> DatasetCard:
    """Replace what a card says.

    Args:
        dataset: the dataset.
        actor: who makes the change.
        revision: revision of the card that they last saw; 0 for none.
        fields: ``source``, ``licence``, ``purpose``, ``caveats``, ``owner`` (the id of a membership, or None) and, only
            if it changes, ``keep_days``.

    Raises:
        Problem: 404 if the dataset has been deleted; 412 with the current ``revision`` if somebody else changed the
            card first; 422 if the owner is not a member. Nothing changes then.
    """
    locked = Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
    if locked.deleted_at is not None:
        raise not_found("dataset")
    card = DatasetCard.objects.select_related("owner__user").filter(dataset=locked).first()
    if revision != (card.revision if card else 0):
        raise _was_quicker(card)
    owner = _owner(locked, fields["owner"])
    before = _facts(card)
    if card is None:
        card = DatasetCard(dataset=locked, revision=0)
    for name in _TEXTS:
        setattr(card, name, fields[name])
    card.licence = licences.tidy(fields["licence"])
    card.keep_days = fields.get("keep_days", card.keep_days)
    if owner is not None:
        card.owner, card.owner_name = owner, owner.user.email
    elif card.owner is not None:  # the last owner stays after leaving
        card.owner, card.owner_name = None, ""
    card.revision += 1
    card.updated_at, card.updated_by = timezone.now(), actor.label
    card.save()
    record_audit(locked.team, actor, "dataset.card", "dataset", locked.id, before=before, after=_facts(card))
    return card


def carry_card(dataset: Dataset, sources: Sequence[Dataset], *, new: bool) -> None:
    """Merge into a dataset's card what the cards of its source datasets say.

    Licences carry over: rows from several sources come under all of their licences. If one is unknown, so is the
    licence of the whole. Text that people have written about the dataset itself stays.

    Args:
        dataset: the dataset, locked.
        sources: other datasets whose rows it now contains.
        new: whether all its rows come from them.
    """
    card = DatasetCard.objects.select_related("owner__user").filter(dataset=dataset).first()
    if card is None or not sources:
        return
    before = _facts(card)
    others = [card_of(one) for one in sources]
    card.licence = licences.together([*([] if new else [card.licence]), *(other["licence"] for other in others)])
    for name, most in _TEXTS.items():
        texts = [getattr(card, name), *(str(other[name]) for other in others)]  # type: ignore[literal-required]
        found = "\n\n".join(dict.fromkeys(text for text in texts if text))
        if len(found) <= most:  # otherwise only the lineage shows it
            setattr(card, name, found)
    if _facts(card) != before:
        card.revision += 0 if new else 1
        card.save()


def _owner(dataset: Dataset, wanted: str | None) -> Membership | None:
    if wanted is None:
        return None
    found = Membership.objects.for_team(dataset.team).select_related("user").filter(pk=wanted).first()
    if found is None:
        raise invalid("/owner", "There is no such member in this team.", code="no_such_member")
    return found


def _was_quicker(card: DatasetCard | None) -> Problem:
    who = card.updated_by if card else "Somebody"
    detail = f"{who} has changed the card since you looked. Look at what it says now, then change it again."
    now = {"revision": card.revision if card else 0}
    return Problem(412, "Precondition failed", detail, code="stale_revision", extra=now)


def _facts(card: DatasetCard | None) -> dict[str, Any] | None:
    if card is None:
        return None
    return {
        "source": card.source,
        "licence": card.licence,
        "purpose": card.purpose,
        "caveats": card.caveats,
        "owner": card.owner.user.email if card.owner else None,
        "keep_days": card.keep_days,
    }
