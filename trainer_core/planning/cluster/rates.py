"""Rates of a loop on a cluster, for the simulation of the loop: peak, bandwidth and links, at the shares of them that
software attains."""

from dataclasses import dataclass

from trainer_core.planning import attained
from trainer_core.planning.attained import Attained, decode_table
from trainer_core.planning.cluster.hardware import Cluster
from trainer_core.planning.cluster.layout import EngineLayout, LearnerLayout
from trainer_core.planning.cluster.scale import Scale
from trainer_core.planning.lengths import Lengths, LognormalLengths, longest, strata
from trainer_core.planning.rates import EngineRates, LearnerRates

SHARES = Attained(learner=0.3, compute=0.5, bandwidth=0.4)
"""Shares that the published systems attain, by the fit: less than those that are usual on one host."""
ENDLESS = 10**7
"""Limit of a law of slowness, of which nothing is to be cut."""


@dataclass(frozen=True, slots=True)
class ClusterAttained:
    """Shares of the makers' figures that software reaches: one set for all systems; see docs/simulation.md."""

    shares: Attained = SHARES
    """Shares of peak and bandwidth; the learner's is that of very wide matrices."""
    half_width: float = 1500.0
    """Width of the learner's matrices at which half of its share is reached: narrow ones keep a GPU less busy."""
    links: float = 0.8
    """Share of a link's bandwidth."""
    layer_seconds: float = 100e-6
    """Time that a layer of a decoding step takes however little it computes: launches, scheduling, sampling."""
    step_seconds: float = 1.0
    """Time of a step beside its phases: hand-overs, rewards, advantages."""
    turn_seconds: float = 30.0
    """Time of a step in which engines and learner that share GPUs change places, there and back."""
    apply_bandwidth: float = 90e9
    """Bytes per second at which an engine takes whole weights out of what arrives."""
    gather_bandwidth: float = 4.6e9
    """Bytes per second at which one rank assembles whole weights from shards."""
    scan_bandwidth: float = 10.5e9
    """Bytes of whole weights per second at which ranks find those that have changed, and engines write them."""


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
        cluster: where it stands.
        scale: the size of the policy.
        layout: its GPUs.
        context: mean tokens that a running sequence has in the cache.
        most: sequences that may run at once, if the cache holds them.
        at: shares of the makers' figures that are reached.
        taken: bytes of each GPU that something else occupies meanwhile.
        slow: factor on the time of its host.

    Raises:
        PlanError: the engine does not fit, or its cache does not hold one sequence.
    """
    machine, gpus = cluster.node.machine, layout.tensor
    per_sequence = scale.cached_numbers * layout.width * context
    room = layout.cache_bytes(cluster, scale, taken)
    running = max(1, min(most, int(room / per_sequence)))
    link = cluster.between(gpus)
    # Two sums over the GPUs of the engine in each layer.
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
        cluster: where it stands.
        scale: the size of the policy.
        layout: its GPUs.
        context: mean number of earlier tokens that a token attends to.
        at: shares of the makers' figures that are reached.
        microbatches: the number of those of one copy in an update, which fill its pipeline; None for so many that
            filling costs nothing.
        slow: factor on the time of the slowest host, for which all others wait.
    """
    machine, hidden = cluster.node.machine, scale.hidden * 2
    seconds = 1.0 / learner_tokens_per_s(scale, context, machine.peak * layout.gpus / slow, at)
    if microbatches is not None:
        seconds *= (microbatches + layout.pipeline - 1) / microbatches
    if layout.tensor > 1:
        # Two sums over the GPUs in each layer, forward and backward; each sends and receives what it sums once.
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
    """Tokens of an update in a second, at a share of the peak that grows with the width of the matrices."""
    reached = scale.width / (scale.width + at.half_width)
    return attained.learner_tokens_per_s(scale.working(context), peak * reached, at.shares)


def all_reduce_seconds(cluster: Cluster, size: float, at: ClusterAttained) -> float:
    """Time in which all GPUs sum ``size`` bytes that each of them has: in each host first, whose GPUs then send a part
    each. Not hidden behind the backward pass."""
    if cluster.gpus == 1:
        return 0.0
    inside, network = cluster.node.inside, cluster.node.network
    seconds = 2 * inside.seconds(size, at.links)
    return seconds + (2 * network.seconds(size / cluster.node.machine.gpus, at.links) if cluster.nodes > 1 else 0.0)


def slowest(cluster: Cluster, hosts: float) -> float:
    """Expected slowness of the slowest of ``hosts`` hosts."""
    slowness = cluster.reliability.slowness
    return 1.0 if slowness == 0 else longest(LognormalLengths(median=1.0, sigma=slowness), hosts, ENDLESS)


def mean_context(prompt_tokens: float, lengths: Lengths, max_tokens: int) -> float:
    """Mean tokens before a token of a completion: longer ones have more of them, and each is half grown in the mean."""
    tokens = strata(lengths, 64, max_tokens)
    return prompt_tokens + sum(length * length for length in tokens) / sum(tokens) / 2
