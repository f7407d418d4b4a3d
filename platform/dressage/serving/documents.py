"""The JSON documents of served policies."""

from typing import Annotated

from typing_extensions import TypedDict

from dressage.common.openapi.document_schema import Moment, OneOf
from dressage.common.times import iso
from dressage.serving.models import Serving, ServingState


class ServingDocument(TypedDict):
    """A policy that the cluster serves over HTTP."""

    id: str
    state: Annotated[str, OneOf(ServingState)]
    error: str | None
    """Reason it failed, and what to do."""
    policy: str
    """Slug of the policy, which is the `model` of requests."""
    policy_id: str
    base_url: str | None
    """Address of its API for clients, up to the version; null while it is not served. It changes if the cluster has to
    start the policy again."""
    cluster: str | None
    """The cluster that people chose for it; null: the platform chooses."""
    placed_on: str | None
    """The cluster that was asked to serve it; null before that."""
    created_at: Moment
    started_at: Moment | None
    finished_at: Moment | None
    created_by: str


class NewServingDocument(ServingDocument):
    """A policy that was just asked to be served, with the key for its clients."""

    key: str
    """Shown this once. Clients send it as `Authorization: Bearer …`, to the API of this policy only."""


def serving_document(serving: Serving) -> ServingDocument:
    """The document of a served policy."""
    assert serving.policy is not None
    return {
        "id": serving.id,
        "state": serving.state,
        "error": serving.error,
        "policy": serving.policy.slug,
        "policy_id": serving.policy.id,
        "base_url": (serving.progress or {}).get("base_url"),
        "cluster": serving.cluster or None,
        "placed_on": serving.placed_on or None,
        "created_at": iso(serving.created_at),
        "started_at": iso(serving.started_at),
        "finished_at": iso(serving.finished_at),
        "created_by": serving.created_by,
    }


def new_serving_document(serving: Serving, key: str) -> NewServingDocument:
    """The document of a served policy with its key, for the response to its creation alone."""
    return {**serving_document(serving), "key": key}
