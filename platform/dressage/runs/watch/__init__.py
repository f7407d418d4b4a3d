"""What is wrong with runs, and what they hold: incidents, judges, dataset versions."""
