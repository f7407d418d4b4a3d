"""Django application of clusters."""

from django.apps import AppConfig


class ClustersConfig(AppConfig):
    """Names, sizes and limits of the clusters."""

    name = "dressage.clusters"
    label = "clusters"
