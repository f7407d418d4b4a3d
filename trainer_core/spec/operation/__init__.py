"""Parameters of how a run is operated: schedule, checkpoints, evaluation, guards."""
