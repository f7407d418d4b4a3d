"""Changes to a run while it trains: staged, grouped, ramped, and their measured effects."""
