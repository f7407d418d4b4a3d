"""Django application of monitoring."""

from django.apps import AppConfig


class MonitoringConfig(AppConfig):
    """Holds no models: what is watched is kept by telemetry and runs."""

    name = "dressage.monitoring"
    label = "monitoring"
