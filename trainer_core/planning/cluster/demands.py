"""Load on the platform while runs execute on a cluster: events, bytes, rollouts and syncs per second."""

from dataclasses import dataclass

from trainer_core.planning.cluster.simulate import BatchWork, ClusterRun
from trainer_core.planning.lengths import strata

EVENTS_PER_STEP = 2
"""A step's metrics, and its shown completions."""
CHARACTERS_PER_TOKEN = 4.0


@dataclass(frozen=True, slots=True)
class Reporting:
    """Reporting habits of runs. Sizes are those of a short run's journal, ``tests/data/link/short_run.jsonl``."""

    longest_text: int
    """Characters of a completion that are sent."""
    metrics: int = 60
    step_bytes: int = 3127
    """Size of a step's event."""
    row_bytes: int = 400
    """Size of a shown completion without its text."""
    groups_shown: int = 4
    """Groups of a step whose completions are sent."""
    seconds_between_syncs: float = 0.5


@dataclass(frozen=True, slots=True)
class Demand:
    """Load of all runs together, per second."""

    runs: int
    rollouts: float
    """Completions generated. They stay on the cluster, except those that are shown."""
    tokens: float
    """Completion tokens learned."""
    events: float
    points: float
    """Metric values."""
    bytes: float
    syncs: float


def demand(run: ClusterRun, batch: BatchWork, runs: int, reporting: Reporting) -> Demand:
    """Load on the platform from ``runs`` runs like ``run``."""
    steps = runs / run.step_seconds
    tokens = strata(batch.lengths, 64, batch.max_tokens)
    text = sum(min(reporting.longest_text, CHARACTERS_PER_TOKEN * length) for length in tokens) / len(tokens)
    shown = min(reporting.groups_shown, batch.prompts) * batch.group_size
    return Demand(
        runs=runs,
        rollouts=runs * run.samples_per_s,
        tokens=runs * run.tokens_per_s,
        events=steps * EVENTS_PER_STEP,
        points=steps * reporting.metrics,
        bytes=steps * (reporting.step_bytes + shown * (reporting.row_bytes + text)),
        syncs=runs / reporting.seconds_between_syncs,
    )
