"""Django application of servings."""

from django.apps import AppConfig


class ServingConfig(AppConfig):
    """Holds the tables of servings and their questions."""

    name = "dressage.serving"
    label = "serving"

    def ready(self) -> None:
        from dressage.cluster_jobs.registry import register
        from dressage.serving.kind import ServingKind

        register(ServingKind())
