"""Every metric: name, unit, formula. Names are verl's if verl has the metric; aliases cover TRL's and prime-rl's.

A name may hold placeholders, such as ``train/pass_rate/<source>``: ``find`` resolves a reported name to its entry.
"""

import re

from trainer_core.metrics import (
    batches,
    critic,
    data,
    examples,
    judges,
    learner,
    lengths,
    mismatch,
    rewards,
    routing,
    speed,
)
from trainer_core.metrics.metric import Metric

_FILES = (rewards, judges, batches, data, learner, examples, routing, critic, lengths, mismatch, speed)

METRICS: dict[str, Metric] = {metric.name: metric for file in _FILES for metric in file.ENTRIES}
"""The registry, by name."""

_PATTERNS = [
    (re.compile(re.sub(r"<(\w+)>", r"(?P<\1>[^/<>]+)", metric.name)), metric)
    for metric in METRICS.values()
    if "<" in metric.name
]


def find(name: str) -> Metric | None:
    """The entry of a reported name, placeholders resolved; None if it is unknown."""
    if "<" not in name and name in METRICS:
        return METRICS[name]
    return next((metric for pattern, metric in _PATTERNS if pattern.fullmatch(name)), None)


def placeholders(name: str) -> dict[str, str]:
    """Values in a reported name for its entry's placeholders, such as ``{"source": "add_sub"}``."""
    found = (pattern.fullmatch(name) for pattern, _ in _PATTERNS)
    return next((match.groupdict() for match in found if match), {})
