"""Kinds of jobs, wherever they are done."""

from abc import ABC, abstractmethod


class Kind(ABC):
    """One kind of job."""

    name: str

    @abstractmethod
    def sweep(self) -> None:
        """Bring back what has lost its worker or its message. Must be safe to repeat, and to run twice at once."""


_KINDS: dict[str, Kind] = {}


def register(kind: Kind) -> None:
    """Have a kind swept that ``local.local_kinds`` does not find. For ``AppConfig.ready``; repeating it is harmless."""
    _KINDS.setdefault(kind.name, kind)


def kinds() -> tuple[Kind, ...]:
    """All kinds that are registered."""
    return tuple(_KINDS.values())
