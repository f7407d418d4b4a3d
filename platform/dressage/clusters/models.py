"""Clusters: what the operator has configured, and what their workers have reported."""

from django.db import models


class Cluster(models.Model):
    """One cluster by its name. ``settings.CLUSTERS`` lists the current clusters; any other row is history."""

    name = models.CharField(max_length=63, primary_key=True)
    places = models.PositiveIntegerField(null=True)
    """Runs that may train on it at the same time; null: MAX_ACTIVE_RUNS."""
    most_cpus = models.FloatField(null=True)
    """CPUs up to which its autoscaler may let it grow; null if it does not grow."""
    most_gpus = models.FloatField(null=True)
    """GPUs up to which its autoscaler may let it grow; null if it does not grow."""
    report = models.JSONField(null=True)
    """The newest ``trainer_core.link.cluster.ClusterReport`` that states a size."""
    reported_at = models.DateTimeField(null=True)
    """Time of that report, by the database's clock."""
    fault = models.CharField(max_length=500, blank=True)
    """The reason its worker could not report a size when it was last asked; empty if it could."""
    asked_at = models.DateTimeField(null=True)
    """Time at which its worker was last asked."""
    answered_at = models.DateTimeField(null=True)
    """Time of the last message from its worker."""
    demand = models.JSONField(default=list)
    """The demand last passed to its autoscaler: a list of ``trainer_core.link.cluster.ResourceBundle``."""
