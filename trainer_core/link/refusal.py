"""Error answers of the platform, as far as a worker goes by them: a subset of RFC 9457's problem documents."""

from typing import Any, Final

from trainer_core.link.base import Message

FENCED: Final = frozenset({401, 403, 409})
"""Statuses after which a worker ends itself: the token is revoked, or the attempt or job is another's by now."""
FENCED_OR_GONE: Final = FENCED | {404}
"""``FENCED``, where the address itself may be gone: that of a bundle or of a bench job."""
LINK_VERSION_CODE: Final = "link_version"
"""Code of the 409 that refuses a worker of another version of the link."""


class Refusal(Message):
    """The body of an error answer."""

    detail: str = ""
    """Sentence that says what happened and what to do."""
    error: dict[str, Any] = {}
    """OpenAI's member, whose ``code`` is a stable name for programs."""

    @property
    def code(self) -> str:
        """The refusal's name; empty when it has none."""
        return str(self.error.get("code") or "")
