"""The choice of the transport that carries a run's weights, with its reason."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from worker.errors import StartError
from worker.learner.transport import OBJECT_STORE, TRANSPORTS
from worker.learner.transport.topology import Topology

log = logging.getLogger(__name__)

AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Travel:
    """The way that weights shall travel: what the run's spec asks for, on the topology that it has begun with."""

    asked: str
    """Name of a transport, or ``AUTO``."""
    topology: Topology


@dataclass(frozen=True, slots=True)
class ChosenTransport:
    """The transport that carries the weights."""

    name: str
    why: str
    """Reason, as a clause."""

    def clean(self, travel: Travel) -> None:
        """Remove what the run has left at its end; what cannot be removed is told in the log and fails no run."""
        try:
            TRANSPORTS[self.name].clean(travel.topology)
        except RuntimeError as error:
            log.warning("weights of %s were left behind: %s", travel.topology.folder, error)


def choose(travel: Travel) -> ChosenTransport:
    """The transport for a run, before anything of it has started, or again when its hosts have changed.

    Left to itself, a run on one host takes shared memory: there it is the quicker of the two that need nothing but the
    host (``docs/benchmarks.md``), and its segments are bounded by nothing but memory. Elsewhere it takes Ray's store,
    which serves every host that there is or will be. All others are taken where the spec names them.

    Raises:
        StartError: the transport that the spec names cannot serve this topology.
    """
    asked, topology = travel.asked, travel.topology
    if asked == AUTO:
        reason = TRANSPORTS["shared_memory"].refusal(topology)
        if reason is None:
            return ChosenTransport("shared_memory", "all models of the run are on one host")
        return ChosenTransport(OBJECT_STORE, reason)
    reason = TRANSPORTS[asked].refusal(topology)
    if reason is not None:
        serving = [name for name, other in TRANSPORTS.items() if other.refusal(topology) is None]
        raise StartError(
            f"Weights cannot travel by {asked} (rollout.weight_transport) here: {reason}. "
            f"Those that can serve this run: auto, {', '.join(serving)}."
        )
    return ChosenTransport(asked, "the run's spec names it")
