"""Django application of the supervisor."""

from django.apps import AppConfig


class SupervisorConfig(AppConfig):
    """Holds the commands ``up`` and ``demo``."""

    name = "dressage.supervisor"
