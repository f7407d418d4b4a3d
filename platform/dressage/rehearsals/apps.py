"""Django application of rehearsals."""

from django.apps import AppConfig


class RehearsalsConfig(AppConfig):
    """Holds the table of rehearsals."""

    name = "dressage.rehearsals"
    label = "rehearsals"

    def ready(self) -> None:
        from dressage.datasets.pins import register_finder_of_pins
        from dressage.rehearsals.dataset_pins import rehearsals_with_rows

        register_finder_of_pins(rehearsals_with_rows)
