"""Models that the cluster serves while a job of the platform sends them questions."""
