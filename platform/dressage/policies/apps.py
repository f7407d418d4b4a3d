"""Django application of policies."""

from django.apps import AppConfig


class PoliciesConfig(AppConfig):
    """Django app of the package; its docstring says more."""

    name = "dressage.policies"
    label = "policies"
