"""Django application of the reward bench."""

from django.apps import AppConfig


class BenchConfig(AppConfig):
    """Holds no models: a job's row, ``BenchJob``, is one of rewards, whose table it has always been."""

    name = "dressage.bench"
    label = "bench"

    def ready(self) -> None:
        from dressage.bench.kind import BenchKind
        from dressage.cluster_jobs.registry import register

        register(BenchKind())
