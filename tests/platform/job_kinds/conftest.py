"""Fixtures of all that a job of any kind is made of."""

from tests.platform.bench.fixtures import start_bench
from tests.platform.jobs import enqueued
from tests.platform.runs.fixtures import nouns, reachable_link, run_root

__all__ = ["enqueued", "nouns", "reachable_link", "run_root", "start_bench"]
