"""Kinds of jobs, wherever they run."""

from abc import ABC, abstractmethod


class Kind(ABC):
    """One kind of job."""

    name: str

    @abstractmethod
    def sweep(self) -> None:
        """Recover jobs that have lost their worker or message. Must be safe to repeat, and to run twice in parallel."""


_KINDS: dict[str, Kind] = {}


def register(kind: Kind) -> None:
    """Add a kind to the sweep that ``local.local_kinds`` does not find. For ``AppConfig.ready``; may be repeated."""
    _KINDS.setdefault(kind.name, kind)


def kinds() -> tuple[Kind, ...]:
    """All registered kinds."""
    return tuple(_KINDS.values())
