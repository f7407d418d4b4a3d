"""Django application of the shared parts."""

from django.apps import AppConfig


class CommonConfig(AppConfig):
    """Sets up structured logs and tells drf-spectacular how clients sign in."""

    name = "dressage.common"
    label = "common"

    def ready(self) -> None:
        from dressage.common import schema  # noqa: F401  (registers the authentication schemes)
        from dressage.common.logs import configure

        configure()
