"""Metrics, sampled rollouts and events of runs: how they are stored and asked for. Knows runs by their ids alone."""
