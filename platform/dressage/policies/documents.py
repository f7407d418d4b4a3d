"""Shapes of the API's documents about policies, besides their database columns."""

from typing import Annotated

from typing_extensions import TypedDict

from dressage.common.openapi.document_schema import OneOf
from dressage.policies.facts import ContentsDocument
from dressage.policies.models import SourceKind


class PolicyOriginDocument(TypedDict):
    """The place that a policy was imported from."""

    source: Annotated[str, OneOf(SourceKind)]
    location: str
    """Name of the repository, or URL of the folder in a bucket."""
    revision: str
    """Requested branch, tag or commit; empty for the main branch."""
    commit: str | None
    """The commit at the time of the import; null for a bucket."""


class FitDocument(TypedDict):
    """A feature of the platform, and whether it works with a policy."""

    part: str
    """Name of the feature, such as `LoRA`."""
    works: bool
    note: str
    """What is slower or missing, and what to do. Empty if there is nothing to say."""


class NeedDocument(TypedDict):
    """Memory needed for one kind of training, per learner rank and per engine."""

    training: str
    """What is trained, and in which number format."""
    learner_bytes: int
    """Peak memory of a learner rank, in bytes."""
    engine_bytes: int
    """Memory of an engine, in bytes: weights and cache."""


class PolicyFactsDocument(TypedDict):
    """What is known about a policy besides its database columns."""

    contents: ContentsDocument | None
    """What its files contain; null if they cannot be read."""
    fault: str
    """Why the files cannot be read; otherwise empty."""
    refusal: str
    """Why the policy cannot be trained, and what to do; otherwise empty."""
    fits: list[FitDocument]
    """Empty if the architecture has never been tested."""
    remarks: list[str]
    """Other remarks about its architecture."""
    needs: list[NeedDocument]
    """Empty if its sizes are unknown."""
    needs_note: str
    """The run for which the memory is estimated."""
