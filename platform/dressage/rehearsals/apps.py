"""Django application of rehearsals."""

from django.apps import AppConfig


class RehearsalsConfig(AppConfig):
    """Holds the table of rehearsals."""

    name = "dressage.rehearsals"
    label = "rehearsals"
