"""Fixtures of telemetry's tests."""

from tests.platform.runs.fixtures import launch, make_run, nouns, reachable_link, run_root

__all__ = ["launch", "make_run", "nouns", "reachable_link", "run_root"]
