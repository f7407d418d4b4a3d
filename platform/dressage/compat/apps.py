"""Django application of the compatible endpoints."""

from django.apps import AppConfig


class CompatConfig(AppConfig):
    """See the package's docstring."""

    name = "dressage.compat"
    label = "compat"
