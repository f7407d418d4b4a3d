"""Nodes of a cluster that die: the shortest of the cases, which `make test-cluster` runs all of."""

import sys

import pytest

from tests.support.installation import ROOT
from tests.support.own_network import LOOPBACK, OWN, refusal, run_cases

CASES = ROOT / "tests" / "cluster" / "cases"


@pytest.mark.expensive(
    80, "trains a run on a cluster of several nodes", about=("deploy", "kernels", "platform", "trainer_core", "worker")
)
@pytest.mark.skipif(sys.platform != "linux", reason="nodes on one machine need Linux: its namespaces, or its loopback")
def test_a_run_trains_through_the_death_of_an_engines_node() -> None:
    network = OWN if refusal() is None else LOOPBACK
    ran = run_cases(str(CASES / "engine_node_killed.py"), timeout_s=280, network=network)
    assert ran.returncode == 0, ran.stdout[-8000:]
    assert "1 passed" in ran.stdout
