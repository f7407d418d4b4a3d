"""Optimizers, their step size, and DeepSpeed around the policy."""
