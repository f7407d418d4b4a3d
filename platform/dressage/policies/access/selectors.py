"""Queries for a team's credentials. People only see whether they exist; imports get the credentials themselves."""

import json

from django.conf import settings

from dressage.common.sealing import UnsealError, unseal
from dressage.imports.remote import ImportRefused
from dressage.policies.access.documents import PolicySourceDocument, PolicySourcesDocument
from dressage.policies.models import SourceAccess, SourceKind
from dressage.teams.models import Team


def sources(team: Team) -> PolicySourcesDocument:
    """The places that policies may be imported from, and whether the team has credentials for each."""
    held = {access.kind: access for access in SourceAccess.objects.for_team(team)}
    return {
        "hub": _described(settings.HUB_ENDPOINT, not settings.HUB_OFFLINE, held.get(SourceKind.HUB)),
        "bucket": _described(settings.BUCKET_ENDPOINT or None, True, held.get(SourceKind.BUCKET)),
    }


def hub_token(team: Team) -> str | None:
    """The team's token; None if it has none. For imports only. Raises ImportRefused if it cannot be decrypted."""
    held = _credentials(team, SourceKind.HUB)
    return held["token"] if held else None


def bucket_credentials(team: Team) -> dict[str, str] | None:
    """``access_key_id`` and ``secret_access_key`` of the team; see ``hub_token``."""
    return _credentials(team, SourceKind.BUCKET)


def _credentials(team: Team, kind: SourceKind) -> dict[str, str] | None:
    access = SourceAccess.objects.for_team(team).filter(kind=kind).first()
    if access is None:
        return None
    try:
        return _opened(access.credentials_sealed)
    except UnsealError:
        # A rotation may have re-encrypted them since the row was read, and dropped the old key.
        access.refresh_from_db()
    try:
        return _opened(access.credentials_sealed)
    except UnsealError as error:
        raise ImportRefused("The team's credentials can no longer be read: an admin must enter them again.") from error


def _opened(sealed: str) -> dict[str, str]:
    return {str(name): str(value) for name, value in json.loads(unseal(sealed)).items()}


def _described(endpoint: str | None, available: bool, access: SourceAccess | None) -> PolicySourceDocument:
    return {
        "endpoint": endpoint,
        "available": available,
        "has_credentials": access is not None,
        "set_by": access.set_by if access else None,
        "set_at": access.set_at.isoformat() if access else None,
    }
