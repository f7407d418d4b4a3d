"""Django application of the lab."""

from django.apps import AppConfig


class LabConfig(AppConfig):
    """Django app of the package; its docstring says more."""

    name = "dressage.lab"
    label = "lab"

    def ready(self) -> None:
        from dressage.datasets.pins import register_finder_of_pins
        from dressage.lab.pins import open_jobs

        register_finder_of_pins(open_jobs)
