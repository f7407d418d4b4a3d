"""Presets of published sizes and hyperparameters, for real models on named machines."""
