"""What a run reports to the platform: metrics, alerts, rollouts and pass rates."""
