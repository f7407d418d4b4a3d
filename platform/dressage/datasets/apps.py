"""Django application of datasets."""

from django.apps import AppConfig


class DatasetsConfig(AppConfig):
    """Django app of datasets; the package docstring says more."""

    name = "dressage.datasets"
    label = "datasets"
