"""What people watch of a run: charts, events and rollouts, by REST and as a live stream."""
