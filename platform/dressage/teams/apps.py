"""Django application of teams."""

from django.apps import AppConfig


class TeamsConfig(AppConfig):
    """Users, teams, roles, tokens, audit."""

    name = "dressage.teams"
    label = "teams"
