"""Django application of rewards."""

from django.apps import AppConfig


class RewardsConfig(AppConfig):
    """Django app of the package; its docstring says more."""

    name = "dressage.rewards"
    label = "rewards"
