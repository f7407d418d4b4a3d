"""Django application of rewards."""

from django.apps import AppConfig


class RewardsConfig(AppConfig):
    """See the package's docstring."""

    name = "dressage.rewards"
    label = "rewards"
