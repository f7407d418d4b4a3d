"""Django application of runs."""

from django.apps import AppConfig


class RunsConfig(AppConfig):
    """Lifecycle, controls, checkpoints, the link."""

    name = "dressage.runs"
    label = "runs"
