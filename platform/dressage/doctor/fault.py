"""The result of a check."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault."""

    id: str
    """Stable name, for machines and for searching."""
    what: str
    """Sentence that describes the fault and its location."""
    remedy: str
    """Sentence that says what to do."""
    level: Literal["error", "warning"] = "error"
    """``warning``: it works, but only for now or less well."""
