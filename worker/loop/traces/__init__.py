"""Traces: chosen rollouts of each step with one value per token, written to files and uploaded to the platform."""
