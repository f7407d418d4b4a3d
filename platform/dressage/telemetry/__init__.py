"""Metrics, sampled rollouts and events of runs: storage and queries. Knows runs only by their ids."""
