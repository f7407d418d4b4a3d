"""Shapes of what the API tells of policies beside their columns."""

from typing import Annotated

from typing_extensions import TypedDict

from dressage.common.openapi.document_schema import OneOf
from dressage.policies.facts import ContentsDocument
from dressage.policies.models import SourceKind


class PolicyOriginDocument(TypedDict):
    """Where a policy was imported from."""

    source: Annotated[str, OneOf(SourceKind)]
    location: str
    """Name of the repository, or the address of the folder in a bucket."""
    revision: str
    """Branch, tag or commit that was asked for; empty for the main branch."""
    commit: str | None
    """The commit that it was at the time; null in a bucket."""


class FitDocument(TypedDict):
    """One part of the platform, and whether it works with a policy."""

    part: str
    """Name of the part, such as `LoRA`."""
    works: bool
    note: str
    """What is slower or missing, and what to do; empty where there is nothing to say."""


class NeedDocument(TypedDict):
    """Memory that one kind of training takes, for one learner rank and one engine."""

    training: str
    """What is trained, and in which numbers."""
    learner_bytes: int
    """Bytes of a learner rank at its worst moment."""
    engine_bytes: int
    """Bytes of an engine: weights and cache."""


class PolicyFactsDocument(TypedDict):
    """What is known of a policy beside its columns."""

    contents: ContentsDocument | None
    """What its files say; null where they cannot be read."""
    fault: str
    """Why they cannot be read; else empty."""
    refusal: str
    """Why it cannot be trained, and what to do; else empty."""
    fits: list[FitDocument]
    """Empty for an architecture that was never tried."""
    remarks: list[str]
    """What is known of its architecture beside that."""
    needs: list[NeedDocument]
    """Empty where its sizes are not known."""
    needs_note: str
    """The run that the memory is told for."""
