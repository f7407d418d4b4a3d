"""Dataset cards in the form that readers get."""

from datetime import datetime

from typing_extensions import TypedDict

from dressage.datasets.cards import licences
from dressage.datasets.models import Dataset, DatasetCard


class CardOwner(TypedDict):
    """The member who is responsible for a dataset."""

    id: str
    """Id of the membership."""
    email: str
    name: str


class DatasetCardDocument(TypedDict):
    """What people should know about a dataset. Texts that have not been written are empty."""

    source: str
    """Origin of the rows."""
    licence: str
    """SPDX identifier, or free text."""
    licence_is_spdx: bool
    """Whether the licence is a known SPDX identifier, or several of them joined by AND or OR."""
    purpose: str
    caveats: str
    owner: CardOwner | None
    keep_days: int | None
    """Days after which a replaced version that no run has read is deleted. Null keeps all versions."""
    last_owner: str
    """Address of the owner who has left the team. Empty if there is an owner, or never was one."""
    revision: int
    """0 until somebody writes the card. Changes must send it as ``If-Match``."""
    updated_at: datetime | None
    updated_by: str


def card_of(dataset: Dataset) -> DatasetCardDocument:
    """The card of a dataset. Empty if none was written."""
    card: DatasetCard | None = getattr(dataset, "written_card", None)
    if card is None:
        return DatasetCardDocument(
            source="",
            licence="",
            licence_is_spdx=False,
            purpose="",
            caveats="",
            owner=None,
            keep_days=None,
            last_owner="",
            revision=0,
            updated_at=None,
            updated_by="",
        )
    owner = card.owner
    return DatasetCardDocument(
        source=card.source,
        licence=card.licence,
        licence_is_spdx=licences.is_expression(card.licence),
        purpose=card.purpose,
        caveats=card.caveats,
        owner=None if owner is None else CardOwner(id=owner.id, email=owner.user.email, name=owner.user.name),
        keep_days=card.keep_days,
        last_owner="" if owner is not None else card.owner_name,
        revision=card.revision,
        updated_at=card.updated_at,
        updated_by=card.updated_by,
    )
