"""How a run continues: attempts, checkpoints, forks and rewinds, places given back, and acts of guards."""
