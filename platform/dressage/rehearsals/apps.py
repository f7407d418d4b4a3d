"""Django application of rehearsals."""

from django.apps import AppConfig


class RehearsalsConfig(AppConfig):
    """Holds the table of rehearsals."""

    name = "dressage.rehearsals"
    label = "rehearsals"

    def ready(self) -> None:
        from dressage.cluster_jobs.registry import register
        from dressage.rehearsals.kind import RehearsalKind

        register(RehearsalKind())
