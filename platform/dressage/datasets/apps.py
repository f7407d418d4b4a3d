"""Django application of datasets."""

from django.apps import AppConfig


class DatasetsConfig(AppConfig):
    """See the package's docstring."""

    name = "dressage.datasets"
    label = "datasets"
