"""Rates of a loop on a cluster, for its simulation: peak, bandwidth and links at the shares that software attains."""

from dataclasses import dataclass

from trainer_core.planning import attained
from trainer_core.planning.attained import Attained, decode_table
from trainer_core.planning.cluster.hardware import Cluster
from trainer_core.planning.cluster.layout import EngineLayout, LearnerLayout
from trainer_core.planning.cluster.scale import Scale
from trainer_core.planning.lengths import Lengths, LognormalLengths, longest, strata
from trainer_core.planning.rates import EngineRates, LearnerRates

SHARES = Attained(learner=0.3, compute=0.5, bandwidth=0.4)
"""Shares that the published systems attain, by the fit: less than usual on one host."""
ENDLESS = 10**7
"""Limit for a distribution of slowness that must not be truncated."""


@dataclass(frozen=True, slots=True)
class ClusterAttained:
    """Shares of the vendors' figures that software attains: one set for all systems; see docs/simulation.md."""

    shares: Attained = SHARES
    """Shares of peak and bandwidth; the learner's share is for very wide matrices."""
    half_width: float = 1500.0
    """Width of the learner's matrices at which half of its share is attained: narrow matrices use a GPU less well."""
    links: float = 0.8
    """Share of a link's bandwidth."""
    layer_seconds: float = 100e-6
    """Minimum time of a layer in a decoding step, however little it computes: launches, scheduling, sampling."""
    step_seconds: float = 1.0
    """Time of a step outside its phases: handovers, rewards, advantages."""
    turn_seconds: float = 30.0
    """Time per step for engines and learner that share GPUs to swap, both ways."""
    apply_bandwidth: float = 90e9
    """Bytes per second at which an engine extracts whole weights from received data."""
    gather_bandwidth: float = 4.6e9
    """Bytes per second at which one rank assembles whole weights from shards."""
    scan_bandwidth: float = 10.5e9
    """Bytes of whole weights per second at which ranks find changed weights, and engines write them."""


FITTED = ClusterAttained()


def engine_rates(
    cluster: Cluster,
    scale: Scale,
    layout: EngineLayout,
    context: float,
    most: int,
    at: ClusterAttained = FITTED,
    *,
    taken: float = 0.0,
    slow: float = 1.0,
) -> EngineRates:
    """Rates of one engine.

    Args:
        cluster: the cluster that it runs on.
        scale: the size of the policy.
        layout: its GPUs.
        context: mean cached tokens of a running sequence.
        most: sequences that may run at the same time, if the cache holds them.
        at: shares of the makers' figures that are reached.
        taken: bytes of each GPU that something else occupies at the same time.
        slow: slowdown factor of its host.

    Raises:
        PlanError: the engine does not fit, or its cache does not hold one sequence.
    """
    machine, gpus = cluster.node.machine, layout.tensor
    per_sequence = scale.cached_numbers * layout.width * context
    room = layout.cache_bytes(cluster, scale, taken)
    running = max(1, min(most, int(room / per_sequence)))
    link = cluster.between(gpus)
    # Two all-reduces over the GPUs of the engine in each layer.
    waits = scale.layers * (at.layer_seconds + (2 * link.latency if gpus > 1 else 0.0))
    peak, bandwidth = machine.peak * gpus / slow, machine.bandwidth * gpus / slow

    def step(load: float) -> float:
        read = scale.read_parameters(load) * layout.width + load * per_sequence
        summed = 4 * scale.layers * scale.hidden * layout.width * load if gpus > 1 else 0.0
        own = attained.decode_seconds(read, scale.working(context), load, peak, bandwidth, at.shares)
        return own + slow * waits + summed / (link.bandwidth * at.links)

    return EngineRates(
        decode=decode_table(running, step),
        prefill_tokens_per_s=min(1e9, attained.prefill_tokens_per_s(scale.working(context), peak, at.shares)),
        gpus=gpus,
    )


def learner_rates(
    cluster: Cluster,
    scale: Scale,
    layout: LearnerLayout,
    context: float,
    at: ClusterAttained = FITTED,
    *,
    microbatches: float | None = None,
    slow: float = 1.0,
) -> LearnerRates:
    """Rates of one copy of the learner.

    Args:
        cluster: the cluster that it runs on.
        scale: the size of the policy.
        layout: its GPUs.
        context: mean number of earlier tokens that a token attends to.
        at: shares of the makers' figures that are reached.
        microbatches: number of micro-batches of one copy in an update, which fill its pipeline; None for so many that
            filling costs nothing.
        slow: slowdown factor of the slowest host, for which all others wait.
    """
    machine, hidden = cluster.node.machine, scale.hidden * 2
    seconds = 1.0 / learner_tokens_per_s(scale, context, machine.peak * layout.gpus / slow, at)
    if microbatches is not None:
        seconds *= (microbatches + layout.pipeline - 1) / microbatches
    if layout.tensor > 1:
        # Two all-reduces over the GPUs in each layer, forward and backward; each GPU sends and receives its data once.
        inside = cluster.node.inside.bandwidth * at.links
        seconds += 4 * scale.layers * 2 * hidden / inside / (layout.gpus / layout.tensor)
    if layout.expert > 1 and scale.experts > 1:
        # Each token goes to its experts and back, forward and backward.
        away = cluster.between(layout.expert * layout.tensor).bandwidth * at.links
        seconds += 4 * scale.layers * scale.experts_per_token * hidden / away / layout.gpus
    return LearnerRates(
        tokens_per_s=min(1e9, 1.0 / seconds),
        seconds_per_update=all_reduce_seconds(cluster, scale.parameters * 2 / (layout.tensor * layout.pipeline), at),
        gpus=layout.gpus,
    )


def learner_tokens_per_s(scale: Scale, context: float, peak: float, at: ClusterAttained) -> float:
    """Update tokens per second, at a share of the peak that grows with the width of the matrices."""
    reached = scale.width / (scale.width + at.half_width)
    return attained.learner_tokens_per_s(scale.working(context), peak * reached, at.shares)


def all_reduce_seconds(cluster: Cluster, size: float, at: ClusterAttained) -> float:
    """Time of an all-reduce of ``size`` bytes per GPU: first in each host, whose GPUs then send a part each. It does
    not overlap with the backward pass."""
    if cluster.gpus == 1:
        return 0.0
    inside, network = cluster.node.inside, cluster.node.network
    seconds = 2 * inside.seconds(size, at.links)
    return seconds + (2 * network.seconds(size / cluster.node.machine.gpus, at.links) if cluster.nodes > 1 else 0.0)


def slowest(cluster: Cluster, hosts: float) -> float:
    """Expected slowdown of the slowest of ``hosts`` hosts."""
    slowness = cluster.reliability.slowness
    return 1.0 if slowness == 0 else longest(LognormalLengths(median=1.0, sigma=slowness), hosts, ENDLESS)


def mean_context(prompt_tokens: float, lengths: Lengths, max_tokens: int) -> float:
    """Mean number of tokens before a completion token: longer completions count more, and each is half grown on
    average."""
    tokens = strata(lengths, 64, max_tokens)
    return prompt_tokens + sum(length * length for length in tokens) / sum(tokens) / 2
