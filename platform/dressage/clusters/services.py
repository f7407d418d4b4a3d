"""Writes of clusters: what their workers tell, what they are asked, and what the operator sets."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models.functions import Now

from dressage.clusters.models import Cluster
from trainer_core.link.cluster import ClusterReport, ResourceBundle


def take_report(name: str, report: ClusterReport) -> None:
    """Keep what a worker tells of its cluster. A fault leaves the last known size as it is."""
    if report.fault is not None:
        told: dict[str, Any] = {"fault": report.fault}
    else:
        told = {"fault": "", "report": report.model_dump(mode="json"), "reported_at": Now()}
    Cluster.objects.update_or_create(name=name, defaults={**told, "answered_at": Now()})


def note_question(name: str, demand: Sequence[ResourceBundle]) -> None:
    """Note that a worker is asked for the size now, and what its autoscaler is told."""
    told = [bundle.model_dump(mode="json") for bundle in demand]
    Cluster.objects.update_or_create(name=name, defaults={"asked_at": Now(), "demand": told})


def set_limits(name: str, changes: Mapping[str, float | None]) -> None:
    """Set places or what the cluster may grow to; keys are columns of ``Cluster``."""
    Cluster.objects.update_or_create(name=name, defaults=changes)
