"""Registered kinds of cluster jobs: each app registers its own."""

from typing import Any

from dressage.cluster_jobs.kinds import ClusterKind
from dressage.cluster_jobs.sweep import sweep
from dressage.datasets.versions.pins import register_finder_of_pins
from dressage.jobs.kinds import Kind
from dressage.jobs.kinds import register as register_for_sweep

_KINDS: dict[str, ClusterKind[Any]] = {}


def register(kind: ClusterKind[Any]) -> None:
    """Register a kind. For ``AppConfig.ready``; a second call is harmless."""
    if kind.names.name not in _KINDS:
        _KINDS[kind.names.name] = kind
        register_finder_of_pins(kind.pins)
        register_for_sweep(_Swept(kind))


def kinds() -> tuple[ClusterKind[Any], ...]:
    """All registered kinds."""
    return tuple(_KINDS.values())


class _Swept(Kind):
    """Adapter that lets the sweep of all jobs call a kind of cluster job."""

    def __init__(self, kind: ClusterKind[Any]) -> None:
        self.name = kind.names.name
        self._kind = kind

    def sweep(self) -> None:
        """Implements ``Kind.sweep``."""
        sweep(self._kind)
