"""Django application of datasets."""

from django.apps import AppConfig


class DatasetsConfig(AppConfig):
    """Django app of the package; its docstring says more."""

    name = "dressage.datasets"
    label = "datasets"
