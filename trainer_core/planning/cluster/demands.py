"""Load of the platform while runs go on a cluster: events, bytes, rollouts and syncs in a second."""

from dataclasses import dataclass

from trainer_core.planning.cluster.simulate import BatchWork, ClusterRun
from trainer_core.planning.lengths import strata

EVENTS_PER_STEP = 2
"""A step's metrics, and the completions of it that are shown."""
CHARACTERS_PER_TOKEN = 4.0


@dataclass(frozen=True, slots=True)
class Reporting:
    """Habits of reporting runs. Sizes are those of a short run's journal, ``tests/data/link/short_run.jsonl``."""

    longest_text: int
    """Characters of a completion that travel."""
    metrics: int = 60
    step_bytes: int = 3127
    """Size of a step's event."""
    row_bytes: int = 400
    """Size of a shown completion beside its text."""
    groups_shown: int = 4
    """Groups of a step whose completions travel."""
    seconds_between_syncs: float = 0.5


@dataclass(frozen=True, slots=True)
class Demand:
    """Load of all runs together, in a second."""

    runs: int
    rollouts: float
    """Completions generated; they stay on the cluster, but for those that are shown."""
    tokens: float
    """Completion tokens learned."""
    events: float
    points: float
    """Values of metrics."""
    bytes: float
    syncs: float


def demand(run: ClusterRun, batch: BatchWork, runs: int, reporting: Reporting) -> Demand:
    """Load that ``runs`` runs like ``run`` put on the platform."""
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
