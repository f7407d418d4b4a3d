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
"""Seconds after which a cluster whose worker has said nothing counts as silent: more than two questions."""


def cluster_names() -> tuple[str, ...]:
    """The clusters of the installation, in the order of its settings."""
    return tuple(settings.CLUSTERS)


def known_as(name: str) -> str:
    """The name of the cluster on which an attempt is: those from before clusters had names hold none."""
    return name or DEFAULT_CLUSTER


def sizes(taken: Mapping[str, int]) -> list[ClusterSize]:
    """The size of every cluster; ``taken`` says how many runs hold a place on each."""
    away = Q(answered_at__lt=Now() - timedelta(seconds=SILENT_S)) | ~Q(fault="")
    found = Cluster.objects.annotate(away=ExpressionWrapper(away, output_field=BooleanField()))
    rows = {row["name"]: row for row in found.values(*SIZE_COLUMNS, "away")}
    return [size_of(name, rows.get(name), taken.get(name, 0)) for name in cluster_names()]


def size(name: str) -> ClusterSize:
    """The size of one cluster, whoever holds its places."""
    return size_of(name, Cluster.objects.filter(name=name).values(*SIZE_COLUMNS).first(), 0)
