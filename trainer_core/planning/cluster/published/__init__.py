"""Published figures of other systems, which the simulation is compared with. ``docs/simulation.md`` shows them."""

from trainer_core.planning.cluster.published.claim import Claim
from trainer_core.planning.cluster.published.loops import LOOPS
from trainer_core.planning.cluster.published.transfers import TRANSFERS

CLAIMS: tuple[Claim, ...] = (*LOOPS, *TRANSFERS)
"""All published figures."""
