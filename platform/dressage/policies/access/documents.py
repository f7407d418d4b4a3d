"""Shapes of the API's documents about places that policies are imported from."""

from typing_extensions import TypedDict

from dressage.common.openapi.document_schema import Moment


class PolicySourceDocument(TypedDict):
    """A place that policies may be imported from."""

    endpoint: str | None
    """The URL set by the operator; null for Amazon's own endpoint."""
    available: bool
    """Whether the installation uses it at all."""
    has_credentials: bool
    """Whether the team has credentials for it. They are never shown."""
    set_by: str | None
    set_at: Moment | None


class PolicySourcesDocument(TypedDict):
    """The places other than folders that policies may be imported from."""

    hub: PolicySourceDocument
    bucket: PolicySourceDocument
