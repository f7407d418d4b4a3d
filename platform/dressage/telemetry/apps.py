"""Django application of telemetry."""

from django.apps import AppConfig


class TelemetryConfig(AppConfig):
    """Metrics, rollouts, events."""

    name = "dressage.telemetry"
    label = "telemetry"
