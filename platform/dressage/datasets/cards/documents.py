"""Cards as readers get them."""

from datetime import datetime

from typing_extensions import TypedDict

from dressage.datasets.cards import licences
from dressage.datasets.models import Dataset, DatasetCard


class CardOwner(TypedDict):
    """The member who answers for a dataset."""

    id: str
    """Id of the membership."""
    email: str
    name: str


class DatasetCardDocument(TypedDict):
    """What people should know of a dataset. All texts are empty where nobody has said."""

    source: str
    """Where the rows are from."""
    licence: str
    """SPDX identifier, else free text."""
    licence_is_spdx: bool
    """Whether it is an identifier of SPDX that is known here, or several of them joined by AND or OR."""
    purpose: str
    caveats: str
    owner: CardOwner | None
    keep_days: int | None
    """Days after which a version goes that a newer one has replaced, where no run has ever read it; null keeps all."""
    last_owner: str
    """Address of the owner who has left the team; empty where there is an owner, or never was one."""
    revision: int
    """0 as long as nobody has written the card. A change names it as ``If-Match``."""
    updated_at: datetime | None
    updated_by: str


def card_of(dataset: Dataset) -> DatasetCardDocument:
    """The card of a dataset, empty where none was written."""
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
