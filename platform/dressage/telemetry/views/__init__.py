"""REST views of telemetry."""
