"""Rollout: engines in actors, the router over them, and the stage that joins them with the rewards."""
