"""Problems: errors for the client. ``problem_responses`` renders them."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Literal, TypeVar

from pydantic import BaseModel
from pydantic import ValidationError as PydanticError
from typing_extensions import TypedDict

from dressage.common.api.errors import FieldError
from trainer_core.spec.faults import join, pydantic_errors

M = TypeVar("M", bound=BaseModel)


class OpenAIErrorDocument(TypedDict):
    """A problem in the form that OpenAI's clients understand."""

    message: str
    type: Literal["invalid_request_error", "server_error"]
    param: str | None
    code: str


class ProblemDocument(TypedDict):
    """RFC 9457 problem document; ``error`` repeats it in OpenAI's form."""

    type: str
    """Stable URN of the kind of problem."""
    title: str
    status: int
    detail: str
    """What happened and what to do."""
    instance: str
    errors: list[FieldError]
    error: OpenAIErrorDocument


class Problem(Exception):
    """An error for the client. Raise it anywhere below a view; the transaction rolls back."""

    def __init__(
        self,
        status: int,
        title: str,
        detail: str = "",
        *,
        errors: Sequence[FieldError] = (),
        code: str = "",
        headers: dict[str, str] | None = None,
        extra: dict[str, Any] | None = None,
    ) -> None:
        """
        Args:
            status: HTTP status.
            title: kind of problem, the same for every occurrence.
            detail: what happened here and what to do.
            errors: faults of the request body with their JSON pointers.
            code: stable name for programs, such as ``stale_revision``; by default derived from the status.
            headers: additional response headers.
            extra: additional members of the document, such as the other person's change in a 412.
        """
        super().__init__(detail or title)
        self.status, self.title, self.detail = int(status), title, detail or title
        self.errors = list(errors)
        self.code = code or HTTPStatus(status).phrase.lower().replace(" ", "_")
        self.headers = headers or {}
        self.extra = extra or {}


def invalid(pointer: str, detail: str, *, code: str = "invalid") -> Problem:
    """422 for one fault of the body."""
    return Problem(422, "Invalid request", detail, errors=[FieldError(pointer=pointer, detail=detail)], code=code)


def validated(model: type[M], data: Any, *path: str | int) -> M:
    """``model.model_validate(data)``; raises a 422 problem whose pointers start at ``path``, such as ``/spec/data``."""
    try:
        return model.model_validate(data)
    except PydanticError as error:
        found = pydantic_errors(error, data, model)
        raise unprocessable([FieldError(pointer=join(*path, *where), detail=text) for where, text in found]) from error


def not_found(what: str = "resource") -> Problem:
    """404; the same whether the thing does not exist or belongs to another team."""
    return Problem(404, "Not found", f"There is no such {what} in this team.", code="not_found")


def conflict(detail: str, *, code: str = "conflict", errors: Sequence[FieldError] = ()) -> Problem:
    """409: the request conflicts with the current state."""
    return Problem(409, "Conflict", detail, code=code, errors=errors)


def unprocessable(errors: Sequence[FieldError]) -> Problem:
    """422 for several faults of the body; the detail describes the first one."""
    return Problem(422, "Invalid request", summary(errors), errors=errors, code="invalid")


def summary(errors: Sequence[FieldError]) -> str:
    """One sentence for several faults: the first one with its location, and how many more there are."""
    if not errors:
        return "The request is invalid."
    first = errors[0]
    where = f"{first['pointer']}: " if first["pointer"] else ""
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"{where}{first['detail']}{more}"
