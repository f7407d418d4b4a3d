"""Django application of monitoring."""

from django.apps import AppConfig


class MonitoringConfig(AppConfig):
    """Holds no models: the data is stored by telemetry and runs."""

    name = "dressage.monitoring"
    label = "monitoring"
