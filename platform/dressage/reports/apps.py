"""Django application of reports."""

from django.apps import AppConfig


class ReportsConfig(AppConfig):
    """Django app of the package; its docstring says more."""

    name = "dressage.reports"
    label = "reports"
