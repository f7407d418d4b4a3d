"""Clusters: what the operator has set of each, and what its worker has told."""

from django.db import models


class Cluster(models.Model):
    """One cluster by its name. ``settings.CLUSTERS`` says which there are; a row of any other is history."""

    name = models.CharField(max_length=63, primary_key=True)
    places = models.PositiveIntegerField(null=True)
    """Runs that may train on it at once; null is MAX_ACTIVE_RUNS."""
    most_cpus = models.FloatField(null=True)
    """CPUs to which its autoscaler may let it grow; null where it does not grow."""
    most_gpus = models.FloatField(null=True)
    """GPUs to which its autoscaler may let it grow; null where it does not grow."""
    report = models.JSONField(null=True)
    """The newest ``trainer_core.link.cluster.ClusterReport`` that tells a size."""
    reported_at = models.DateTimeField(null=True)
    """Time of that report, by the database's clock."""
    fault = models.CharField(max_length=500, blank=True)
    """Why its worker could tell no size when it was last asked; empty where it could."""
    asked_at = models.DateTimeField(null=True)
    """Time at which its worker was last asked."""
    answered_at = models.DateTimeField(null=True)
    """Time at which its worker last said anything."""
    demand = models.JSONField(default=list)
    """The demand that its autoscaler was last handed: a list of ``trainer_core.link.cluster.ResourceBundle``."""
