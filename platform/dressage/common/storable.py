"""Text that PostgreSQL can store: a policy may sample anything."""

import re
from typing import Any

# The JSON decoder has joined whole surrogate pairs: what remains are halves.
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def clean(value: Any) -> Any:
    """``value`` with text that PostgreSQL can store."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, list):
        return [clean(item) for item in value]
    if isinstance(value, dict):
        return {clean(key): clean(item) for key, item in value.items()}
    return value
