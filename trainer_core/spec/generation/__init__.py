"""Parameters of generation: rollouts, thinking, lengths."""
