"""Shapes of the API's documents about places that datasets are imported from."""

from typing_extensions import TypedDict


class DatasetHub(TypedDict):
    """The Hugging Face hub."""

    endpoint: str
    has_credentials: bool
    """Whether the team has a token for it. The token is never shown."""
    refusal: str
    """Why the hub cannot be used. Empty if it can."""


class AllowedPlaces(TypedDict):
    """Places of one kind that the installation allows."""

    allowed: list[str]
    """URL prefixes or folders."""
    refusal: str
    """Why there are none, and what to do. Empty if there are some."""


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
    """Files that form one version, in reading order."""

    config: str
    """Name of the config; ``default`` if there are none."""
    split: str
    bytes: int
    files: list[ListedFile]


class ListedPlace(TypedDict):
    """What can be imported from a place."""

    commit: str | None
    """The commit that the revision points to now. Null if the place has no commits."""
    licence: str
    """Licence named by the repository's card. Empty if it names none."""
    choices: list[ListedChoice]
    """Empty if there are no data files."""
