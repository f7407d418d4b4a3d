"""Rollout: engines in actors, the router over them, and the stage that connects them to the rewards."""
