"""Reward workers, the pool that distributes completions over them, and the reward versions that they use."""
