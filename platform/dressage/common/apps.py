"""Django application of the shared parts."""

from django.apps import AppConfig


class CommonConfig(AppConfig):
    """Sets up structured logs, and how drf-spectacular describes problems and pydantic models."""

    name = "dressage.common"
    label = "common"

    def ready(self) -> None:
        from django.conf import settings

        from dressage.common.logs import configure
        from dressage.common.openapi import schema  # noqa: F401  (registers the extensions)

        configure(as_json=settings.LOG_FORMAT == "json")
