"""Text without visible characters: white space, and characters of zero width."""

import re

_INVISIBLE = re.compile(
    "[\\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0]*"
)


def is_blank(text: str) -> bool:
    """Whether a text has no visible characters."""
    return not text or _INVISIBLE.fullmatch(text) is not None
