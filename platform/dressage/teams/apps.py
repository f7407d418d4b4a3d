"""Django application of teams."""

from django.apps import AppConfig


class TeamsConfig(AppConfig):
    """Users, teams, roles, tokens, audit."""

    name = "dressage.teams"
    label = "teams"

    def ready(self) -> None:
        from dressage.teams import schema  # noqa: F401  (registers the authentication schemes)
