"""Views of a run for its users: charts, events and rollouts, by REST and as a live stream."""
