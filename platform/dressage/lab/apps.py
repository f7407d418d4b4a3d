"""Django application of the lab."""

from django.apps import AppConfig


class LabConfig(AppConfig):
    """Django app of the lab; the package docstring says more."""

    name = "dressage.lab"
    label = "lab"

    def ready(self) -> None:
        from dressage.datasets.versions.pins import register_finder_of_pins
        from dressage.lab.asking.endpoints import job_that_asks
        from dressage.lab.pins import open_jobs
        from dressage.rewards.judges.usage import register_user_of_judges

        register_finder_of_pins(open_jobs)
        register_user_of_judges(job_that_asks)
