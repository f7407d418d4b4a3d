"""Django application of the reward bench."""

from django.apps import AppConfig


class BenchConfig(AppConfig):
    """Holds no models: a job's row, ``BenchJob``, is one of rewards, whose table it has always been."""

    name = "dressage.bench"
    label = "bench"

    def ready(self) -> None:
        from dressage.bench.dataset_pins import bench_jobs_with_rows
        from dressage.datasets.pins import register_finder_of_pins

        register_finder_of_pins(bench_jobs_with_rows)
