"""Refusals in the form that clients of OpenAI's API expect."""

from __future__ import annotations

from typing import Any


class ApiError(Exception):
    """A request is refused. The message is a sentence that says what to do."""

    def __init__(self, status: int, message: str, *, code: str | None = None, param: str | None = None) -> None:
        """
        Args:
            status: HTTP status.
            message: what is wrong, and what to do.
            code: OpenAI's name for the reason, if it has one.
            param: the part of the body that is refused, such as ``messages[0].role``.
        """
        super().__init__(message)
        self.status, self.message, self.code, self.param = status, message, code, param

    def document(self) -> dict[str, Any]:
        """The body of the response."""
        return {"error": {"message": self.message, "type": self._type, "param": self.param, "code": self.code}}

    @property
    def _type(self) -> str:
        if self.status >= 500:
            return "server_error"
        return "rate_limit_error" if self.status == 429 else "invalid_request_error"


def refused(message: str, param: str | None = None, code: str | None = None) -> ApiError:
    """A body that cannot be served as it is."""
    return ApiError(400, message, code=code, param=param)
