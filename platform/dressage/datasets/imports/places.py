"""Places that datasets are imported from: which are allowed, and what one of them contains."""

import re

from django.conf import settings

from dressage.common.api.problems import Problem, invalid
from dressage.common.lengthy import LongRequests
from dressage.datasets.imports.allowed_urls import is_address
from dressage.datasets.imports.choices import choices
from dressage.datasets.imports.documents import DatasetSourcesDocument, ListedChoice, ListedPlace
from dressage.datasets.models import DatasetSourceKind
from dressage.imports.remote import ImportRefused, NetworkTrouble, Source
from dressage.policies.access.selectors import hub_token, sources
from dressage.teams.models import Team

HUB_OFFLINE = "This installation never asks the hub (HF_HUB_OFFLINE). Whoever runs it may allow that, or a mirror."
NO_URLS = "No address may be asked. Whoever runs this installation may allow some by DATASET_IMPORT_URLS."
NO_FOLDERS = "No folder may be read. Whoever runs this installation may allow some by DATASET_IMPORT_FOLDERS."
LISTINGS = LongRequests(
    "requests that ask the hub or another machine",
    places=4,
    per_team=2,
    code="listings_busy",
    team_code="too_many_listings",
    retry_s=5,
)
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.\-]{0,95}(/[A-Za-z0-9][\w.\-]{0,95})?", re.ASCII)
_REVISION = re.compile(r"[\w.\-/]{1,200}", re.ASCII)


def dataset_sources(team: Team) -> DatasetSourcesDocument:
    """The places that datasets may be imported from, and why others are not available."""
    hub = sources(team)["hub"]
    urls, folders = settings.DATASET_IMPORT_URLS, settings.DATASET_IMPORT_FOLDERS
    return {
        "hub": {
            "endpoint": hub["endpoint"] or "",
            "has_credentials": hub["has_credentials"],
            "refusal": "" if hub["available"] else HUB_OFFLINE,
        },
        "url": {"allowed": list(urls), "refusal": "" if urls else NO_URLS},
        "folder": {"allowed": [str(folder) for folder in folders], "refusal": "" if folders else NO_FOLDERS},
    }


def require_place(source: str, location: str, revision: str) -> None:
    """Require that a place is named correctly and that its kind is allowed. Raises a 422 problem."""
    if source != DatasetSourceKind.HUB and revision:
        raise invalid("/revision", "Only repositories of the hub have revisions: leave it empty.")
    if source == DatasetSourceKind.HUB:
        if settings.HUB_OFFLINE:
            raise invalid("/source", HUB_OFFLINE, code="hub_is_offline")
        if not _REPOSITORY.fullmatch(location) or "--" in location or ".." in location:
            raise invalid("/location", "Give the name of a dataset as the hub has it, such as openai/gsm8k.")
        if revision and not _REVISION.fullmatch(revision):
            raise invalid("/revision", "Give a branch, a tag or a commit hash, or leave it empty for the main branch.")
        return
    if source == DatasetSourceKind.URL:
        if not settings.DATASET_IMPORT_URLS:
            raise invalid("/source", NO_URLS, code="source_not_allowed")
        if not is_address(location):
            raise invalid(
                "/location", "Give an address with http or https, without a name, a password or dots for steps."
            )
    elif not settings.DATASET_IMPORT_FOLDERS:
        raise invalid("/source", NO_FOLDERS, code="source_not_allowed")
    try:
        source_of(source, location, "", None)
    except ImportRefused as error:
        raise invalid("/location", str(error), code="source_not_allowed") from error


def source_of(source: str, location: str, revision: str, token: str | None) -> Source:
    """The source for a place. Raises ImportRefused if the place is not allowed."""
    # Imported lazily: nothing else in the platform needs these libraries.
    if source == DatasetSourceKind.HUB:
        from dressage.imports.hub import HubSource

        return HubSource(location, revision, token, kind="dataset")
    if source == DatasetSourceKind.URL:
        from dressage.datasets.imports.url import UrlSource

        return UrlSource(location)
    from dressage.datasets.imports.folder import FolderSource

    return FolderSource(location)


def listed(team: Team, *, source: str, location: str, revision: str) -> ListedPlace:
    """List what can currently be chosen at a place.

    Raises:
        Problem: 422 if it is not allowed, does not exist or is not accessible to the team; 429 or 503 if there are too
            many requests at the same time; 503 if the other side cannot be reached.
    """
    require_place(source, location, revision)
    try:
        token = hub_token(team) if source == DatasetSourceKind.HUB else None
        with LISTINGS.place(team.id):
            listing = source_of(source, location, revision, token).listing()
    except ImportRefused as error:
        raise invalid("/location", str(error), code="source_refused") from error
    except NetworkTrouble as error:
        detail = f"{error} Try again in a while."
        raise Problem(
            503, "Service unavailable", detail, code="source_unreachable", headers={"Retry-After": "10"}
        ) from error
    found: list[ListedChoice] = [
        {
            "config": one.config,
            "split": one.split,
            "bytes": one.bytes,
            "files": [{"path": file.name, "bytes": file.size} for file in one.files],
        }
        for one in choices(listing)
    ]
    return {"commit": listing.commit or None, "licence": listing.licence, "choices": found}
