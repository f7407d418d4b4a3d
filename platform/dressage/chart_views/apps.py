"""Django application of saved views."""

from django.apps import AppConfig


class ChartViewsConfig(AppConfig):
    """Django app of the package; its docstring says more."""

    name = "dressage.chart_views"
    label = "chart_views"
