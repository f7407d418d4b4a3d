"""All cases of several nodes, one after the other: a dozen minutes on two cores."""

import sys

from tests.support.installation import ROOT
from tests.support.own_network import refusal, run_cases

ALL = ("engine_node_killed", "four_nodes", "cut_off", "slowed", "added", "closed", "left_open")

if __name__ == "__main__":
    if (reason := refusal()) is not None:
        sys.exit(f"Each node wants network and process namespaces of its own, which are not allowed here: {reason}")
    failed = []
    for name in sys.argv[1:] or ALL:
        # One process each: Ray reads how a cluster is closed once.
        ran = run_cases(str(ROOT / "tests" / "cluster" / "cases" / f"{name}.py"), "-v", "-s", timeout_s=900)
        print(ran.stdout, flush=True)
        if ran.returncode:
            failed.append(name)
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)
