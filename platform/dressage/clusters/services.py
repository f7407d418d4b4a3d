"""Writes of clusters: what their workers report, what they are asked, and what the operator sets."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models.functions import Now

from dressage.clusters.models import Cluster
from trainer_core.link.cluster import ClusterReport, ResourceBundle


def take_report(name: str, report: ClusterReport) -> None:
    """Store a worker's report on its cluster. A report of a fault leaves the last known size unchanged."""
    if report.fault is not None:
        told: dict[str, Any] = {"fault": report.fault}
    else:
        told = {"fault": "", "report": report.model_dump(mode="json"), "reported_at": Now()}
    Cluster.objects.update_or_create(name=name, defaults={**told, "answered_at": Now()})


def note_question(name: str, demand: Sequence[ResourceBundle]) -> None:
    """Record that a worker is now asked for the size, and the demand that its autoscaler is given."""
    told = [bundle.model_dump(mode="json") for bundle in demand]
    Cluster.objects.update_or_create(name=name, defaults={"asked_at": Now(), "demand": told})


def set_limits(name: str, changes: Mapping[str, float | None]) -> None:
    """Set the slots, or the limits of growth; keys are columns of ``Cluster``."""
    Cluster.objects.update_or_create(name=name, defaults=changes)
