"""References and requirements of a run's spec: references, room, reward versions, and what a policy supports."""
