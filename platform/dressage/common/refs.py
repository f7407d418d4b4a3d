"""References to versions as specs write them: ``slug@number``."""

import re

_REF = re.compile(r"^([a-z0-9][a-z0-9_\-]{0,62})@([1-9][0-9]{0,8})$")


def parse_ref(ref: str) -> tuple[str, int]:
    """(slug, version number). Raises ValueError for anything else."""
    match = _REF.match(ref)
    if match is None:
        raise ValueError(f"{ref!r} is not of the form slug@version.")
    return match[1], int(match[2])
