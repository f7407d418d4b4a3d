"""Django application of profiles."""

from django.apps import AppConfig


class ProfilesConfig(AppConfig):
    """Holds the tables of profiles."""

    name = "dressage.profiles"
    label = "profiles"

    def ready(self) -> None:
        from dressage.cluster_jobs.registry import register
        from dressage.profiles.kind import ProfileKind

        register(ProfileKind())
