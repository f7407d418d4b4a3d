"""Fixtures of bench jobs, and of runs, whose rollouts they score anew."""

from tests.platform.bench.fixtures import read_bench, start_bench
from tests.platform.jobs import enqueued
from tests.platform.runs.fixtures import launch, make_run, nouns, reachable_link, run_root

__all__ = ["enqueued", "launch", "make_run", "nouns", "reachable_link", "read_bench", "run_root", "start_bench"]
