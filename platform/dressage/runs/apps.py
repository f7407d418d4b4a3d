"""Django application of runs."""

from django.apps import AppConfig


class RunsConfig(AppConfig):
    """Lifecycle, controls, checkpoints, the link."""

    name = "dressage.runs"
    label = "runs"

    def ready(self) -> None:
        from dressage.datasets.versions.pins import register_finder_of_pins, register_finder_of_readers
        from dressage.rewards.judges.usage import register_user_of_judges
        from dressage.runs.needs import checks  # noqa: F401  (registers itself)
        from dressage.runs.watch.dataset_pins import read_by_runs, runs_with_rows
        from dressage.runs.watch.judge_usage import run_that_asks

        register_user_of_judges(run_that_asks)
        register_finder_of_pins(runs_with_rows)
        register_finder_of_readers(read_by_runs)
