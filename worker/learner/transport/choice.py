"""Chooses the transport that carries a run's weights, and states the reason."""

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
    """The requested weight transport: what the run's spec requests, on the topology that it started with."""

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
        """Remove what the run has left at its end. What cannot be removed is logged and does not fail the run."""
        try:
            TRANSPORTS[self.name].clean(travel.topology)
        except RuntimeError as error:
            log.warning("weights of %s were not removed: %s", travel.topology.folder, error)


def choose(travel: Travel) -> ChosenTransport:
    """The transport for a run. Chosen before anything of the run has started, and again when its hosts have changed.

    ``_by_itself`` chooses for a run whose spec names none. All other transports are used only if the spec names them.

    Raises:
        StartError: the transport that the spec names cannot serve this topology.
    """
    asked, topology = travel.asked, travel.topology
    if asked == AUTO:
        return _by_itself(topology)
    reason = TRANSPORTS[asked].refusal(topology)
    if reason is not None:
        serving = [name for name, other in TRANSPORTS.items() if other.refusal(topology) is None]
        raise StartError(
            f"Weights cannot be sent by {asked} (rollout.weight_transport) here: {reason}. Possible for this run: auto,"
            f" {', '.join(serving)}."
        )
    return ChosenTransport(asked, "the run's spec names it")


def _by_itself(topology: Topology) -> ChosenTransport:
    """The transport of a run whose spec leaves it open.

    On one host, shared memory: it is the faster of the two transports that need nothing but the host
    (``docs/benchmarks.md``), and only memory limits its segments. On several hosts whose models have a GPU each, NCCL:
    one broadcast over the links between the GPUs serves all engines that ask together; through Ray's store each host
    would fetch separately. Otherwise Ray's store, which serves every present and future host and encrypts if Ray does.
    """
    reason = TRANSPORTS["shared_memory"].refusal(topology)
    if reason is None:
        return ChosenTransport("shared_memory", "all models of the run are on one host")
    if topology.hosts > 1 and topology.own_gpus:
        refused = TRANSPORTS["distributed"].refusal(topology)
        if refused is None:
            why = f"the run's models may be on {topology.hosts} hosts with a GPU each, between which NCCL broadcasts"
            return ChosenTransport("distributed", why)
        reason = f"{reason}, and not by NCCL: {refused}"
    return ChosenTransport(OBJECT_STORE, reason)
