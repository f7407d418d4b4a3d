"""Shapes of what the API tells of places that policies are imported from."""

from typing_extensions import TypedDict

from dressage.common.openapi.document_schema import Moment


class PolicySourceDocument(TypedDict):
    """A place that policies may be imported from."""

    endpoint: str | None
    """The address that the operator has set; null for Amazon's own."""
    available: bool
    """Whether the installation asks it at all."""
    has_credentials: bool
    """Whether the team has credentials for it; they are never shown."""
    set_by: str | None
    set_at: Moment | None


class PolicySourcesDocument(TypedDict):
    """The places beside folders that policies may be imported from."""

    hub: PolicySourceDocument
    bucket: PolicySourceDocument
