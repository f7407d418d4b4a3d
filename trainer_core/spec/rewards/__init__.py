"""Parameters of the reward and of what watches it."""
