"""Home: the most important facts for a team, in one response."""
