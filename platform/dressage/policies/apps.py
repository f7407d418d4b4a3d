"""Django application of policies."""

from django.apps import AppConfig


class PoliciesConfig(AppConfig):
    """See the package's docstring."""

    name = "dressage.policies"
    label = "policies"
