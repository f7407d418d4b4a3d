"""Optimizers, their step size, and the DeepSpeed engine."""
