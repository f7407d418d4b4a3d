"""Django application of the supervisor."""

from django.apps import AppConfig


class SupervisorConfig(AppConfig):
    """Holds the commands ``up`` and ``demo``, and a check of the deployment."""

    name = "dressage.supervisor"

    def ready(self) -> None:
        from dressage.supervisor import exposure  # noqa: F401  (registers its check)
