"""Django application of the compatible endpoints."""

from django.apps import AppConfig


class CompatConfig(AppConfig):
    """Django app of the package; its docstring says more."""

    name = "dressage.compat"
    label = "compat"
