"""Django application of the reward bench."""

from django.apps import AppConfig


class BenchConfig(AppConfig):
    """Holds no models: the row of a job, ``BenchJob``, has always been a table of rewards."""

    name = "dressage.bench"
    label = "bench"

    def ready(self) -> None:
        from dressage.bench.kind import BenchKind
        from dressage.cluster_jobs.registry import register

        register(BenchKind())
