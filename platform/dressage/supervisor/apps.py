"""Django application of the supervisor."""

from django.apps import AppConfig


class SupervisorConfig(AppConfig):
    """Holds the commands ``up`` and ``demo``, and checks of the deployment."""

    name = "dressage.supervisor"

    def ready(self) -> None:
        from dressage.supervisor import exposure, production  # noqa: F401  (they register their checks)
