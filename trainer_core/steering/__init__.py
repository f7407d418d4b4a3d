"""Steering: what people may change while a run goes, and the guards that watch it."""
