"""Reports of a run to the platform: metrics, alerts, rollouts and pass rates."""
