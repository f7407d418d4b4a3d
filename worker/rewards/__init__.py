"""Reward workers, the pool that spreads completions over them, and the versions they score by."""
