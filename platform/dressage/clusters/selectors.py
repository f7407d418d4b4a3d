"""Reads of clusters."""

from collections.abc import Mapping
from datetime import timedelta

from django.conf import settings
from django.db.models import BooleanField, ExpressionWrapper, Q
from django.db.models.functions import Now

from dressage.clusters.models import Cluster
from dressage.clusters.sizes import ClusterSize, size_of
from trainer_core.link.celery_queue import DEFAULT_CLUSTER

SIZE_COLUMNS = ("name", "places", "report", "most_cpus", "most_gpus")
SILENT_S = 150
"""Seconds without a message from its worker after which a cluster counts as silent: more than two questions."""


def cluster_names() -> tuple[str, ...]:
    """The clusters of the installation, in the order of its settings."""
    return tuple(settings.CLUSTERS)


def known_as(name: str) -> str:
    """The name of an attempt's cluster. Attempts from before clusters had names store an empty name."""
    return name or DEFAULT_CLUSTER


def sizes(taken: Mapping[str, int]) -> list[ClusterSize]:
    """The size of every cluster; ``taken`` gives the number of runs that hold a slot on each."""
    away = Q(answered_at__lt=Now() - timedelta(seconds=SILENT_S)) | ~Q(fault="")
    found = Cluster.objects.annotate(away=ExpressionWrapper(away, output_field=BooleanField()))
    rows = {row["name"]: row for row in found.values(*SIZE_COLUMNS, "away")}
    return [size_of(name, rows.get(name), taken.get(name, 0)) for name in cluster_names()]


def size(name: str) -> ClusterSize:
    """The size of one cluster, not counting the slots that are taken."""
    return size_of(name, Cluster.objects.filter(name=name).values(*SIZE_COLUMNS).first(), 0)
