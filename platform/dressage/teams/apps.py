"""Django application of teams."""

from django.apps import AppConfig


class TeamsConfig(AppConfig):
    """Users, teams, roles, tokens, audit."""

    name = "dressage.teams"
    label = "teams"

    def ready(self) -> None:
        from dressage.common.sealing import register_sealed
        from dressage.teams import schema  # noqa: F401  (registers the authentication schemes)
        from dressage.teams.two_factor.services import seal_secrets_anew

        register_sealed(seal_secrets_anew)
