"""Bench jobs: samples scored under one or two definitions, by the same code that scores rollouts."""
