"""The result of a check."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is amiss."""

    id: str
    """Name that stays, for machines and for searching."""
    what: str
    """Sentence that says what is amiss, and where."""
    remedy: str
    """Sentence that says what to do."""
    level: Literal["error", "warning"] = "error"
    """``warning``: it works, for now or less well."""
