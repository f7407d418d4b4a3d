"""Fixtures of the gateway's tests."""

from tests.platform.runs.fixtures import make_run, nouns, run_root

__all__ = ["make_run", "nouns", "run_root"]
