"""Shapes of what the API tells of places that datasets are imported from."""

from typing_extensions import TypedDict


class DatasetHub(TypedDict):
    """The hub."""

    endpoint: str
    has_credentials: bool
    """Whether the team has a token for it, which is never shown."""
    refusal: str
    """Why it is not asked; empty where it is."""


class AllowedPlaces(TypedDict):
    """Places of a kind that the installation allows."""

    allowed: list[str]
    """Beginnings of addresses, or folders."""
    refusal: str
    """Why there are none, and what to do; empty where there are some."""


class DatasetSourcesDocument(TypedDict):
    """Places that datasets may be imported from."""

    hub: DatasetHub
    url: AllowedPlaces
    folder: AllowedPlaces


class ListedFile(TypedDict):
    """A data file."""

    path: str
    bytes: int


class ListedChoice(TypedDict):
    """Files that become one version, read in this order."""

    config: str
    """Name of the config; ``default`` where there are none."""
    split: str
    bytes: int
    files: list[ListedFile]


class ListedPlace(TypedDict):
    """What can be imported from a place."""

    commit: str | None
    """The commit that the revision stands for now; null where there are none."""
    licence: str
    """Licence that the repository's card names; empty where it names none."""
    choices: list[ListedChoice]
    """Empty where there are no data files."""
