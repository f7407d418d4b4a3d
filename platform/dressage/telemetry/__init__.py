"""Telemetry: metrics, sampled rollouts and events; how they come in, are asked for, and stream to browsers."""
