"""Changes of a run while it trains: staged, grouped, ramped, and their measured effects."""
