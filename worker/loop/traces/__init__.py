"""Traces: the rollouts of each step with one value per token, chosen, written as files and handed to the platform."""
