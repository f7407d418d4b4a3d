"""Revisions in ``If-Match``: the client states the revision it has seen, so that no other change is overwritten."""

import re

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from dressage.common.api.problems import Problem

_ETAG = re.compile(r'^(?:W/)?"?([0-9]{1,9})"?$')


def if_match(what: str, *, required: bool = True) -> OpenApiParameter:
    """The header as the OpenAPI document has it; ``what`` is a noun such as ``run``."""
    return OpenApiParameter(
        "If-Match",
        OpenApiTypes.STR,
        OpenApiParameter.HEADER,
        required=required,
        description=f"The {what}'s revision as last seen.",
    )


def seen_revision(request: Request, what: str) -> int:
    """The revision in ``If-Match``. Raises a 428 problem if the header is missing or not a revision."""
    match = _ETAG.match(request.headers.get("If-Match", "").strip())
    if match is None:
        detail = f"Send the {what}'s revision as If-Match, so that no other change is overwritten."
        raise Problem(428, "Precondition required", detail, code="revision_required")
    return int(match[1])
