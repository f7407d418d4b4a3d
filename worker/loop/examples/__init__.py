"""Runs that learn from rows: rows become examples."""

from worker.loop.examples.encoder import ExampleEncoder

__all__ = ["ExampleEncoder"]
