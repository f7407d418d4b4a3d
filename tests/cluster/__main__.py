"""Cases of several nodes, one after the other: ten minutes on two cores.

    python -m tests.cluster [--loopback] [CASE ...]

Nodes meet in a network of their own, each in its namespace; on the loopback where the machine allows none, or when told
to. What a node's own link is needed for is left out there.
"""

import sys

from tests.support.installation import ROOT
from tests.support.own_network import LOOPBACK, OWN, refusal, run_cases

ANYWHERE: tuple[str, ...] = (
    "engine_node_killed",
    "node_back",
    "four_nodes",
    "slowed",
    "added",
    "wide_engine",
    "transports",
)
ON_LINKS = ("cut_off", "closed", "left_open", "slow_link")


def main(asked: list[str]) -> str | None:
    """Sentence about what has failed; None where all has passed."""
    network, possible = OWN, ANYWHERE + ON_LINKS
    if (reason := "as you asked" if "--loopback" in asked else refusal()) is not None:
        network, possible = LOOPBACK, ANYWHERE
        print(f"Nodes meet on the loopback ({reason}), which leaves out: {', '.join(ON_LINKS)}.", flush=True)
    names = [name for name in asked if name != "--loopback"] or list(possible)
    if unknown := [name for name in names if name not in possible]:
        return f"There is no such case here: {', '.join(unknown)}. There are {', '.join(possible)}."
    failed = []
    for name in names:
        # One process each: Ray reads how a cluster is closed once.
        case = str(ROOT / "tests" / "cluster" / "cases" / f"{name}.py")
        ran = run_cases(case, "-v", "-s", timeout_s=900, network=network)
        print(ran.stdout, flush=True)
        if ran.returncode:
            failed.append(name)
    return f"failed: {', '.join(failed)}" if failed else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
