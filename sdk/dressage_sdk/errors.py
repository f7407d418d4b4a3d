"""The client's only exception."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FieldError:
    """A fault in one field of a request."""

    pointer: str
    """Its place in the request, as a JSON pointer such as ``/spec/optimizer/learning_rate``."""
    detail: str
    """A sentence about it."""


class DressageError(Exception):
    """A request that failed: refused by the platform, never answered, or faulty before it was sent.

    Attributes:
        status: HTTP status; None if the platform did not answer or was not asked.
        title: kind of problem, the same for every occurrence.
        detail: what happened and what to do.
        code: stable name of the kind for programs, such as ``not_found``; empty if there is none.
        errors: faults of single fields.
        request_id: name of the request in the platform's log; None without an answer.
    """

    def __init__(
        self,
        title: str,
        detail: str,
        *,
        status: int | None = None,
        code: str = "",
        errors: Sequence[FieldError] = (),
        request_id: str | None = None,
    ) -> None:
        super().__init__(title, detail)
        self.status = status
        self.title = title
        self.detail = detail
        self.code = code
        self.errors = tuple(errors)
        self.request_id = request_id

    def __str__(self) -> str:
        head = self.title if self.status is None else f"{self.status} {self.title}"
        faults = [f"{error.pointer}: {error.detail}" if error.pointer else error.detail for error in self.errors]
        if faults and self.detail.startswith(faults[0]):  # the platform's detail repeats the first fault
            return "\n  ".join([f"{head}:", *faults])
        return "\n  ".join([f"{head}: {self.detail}" if self.detail else head, *faults])
