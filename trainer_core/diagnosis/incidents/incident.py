"""An incident: what is wrong with a run, since when, why, with what evidence, and what to do."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "failure",
    "stuck",
    "restart",
    "weights",
    "not_finite",
    "mismatch",
    "template",
    "reward_errors",
    "no_signal",
    "entropy",
    "length",
    "answers",
    "judge_bias",
    "held_out",
    "collapse",
    "gradient",
    "not_saved",
    "slow",
    "guard",
]
Severity = Literal["warn", "error"]
Confidence = Literal["known", "likely", "unknown"]
"""``known``: measured, or reported by the part that failed; ``likely``: a guess that the evidence supports;
``unknown``: nothing that the run reports shows the cause."""
Act = Literal["control", "roll_back", "resume", "guard", "samples", "tokens", "measure_noise"]
"""Action in the console: open a control; fork from a checkpoint before it began; resume the run; open the guard; look
at the samples of a step, or at its worst tokens; measure the noise between engine and learner again."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """One thing to do."""

    text: str
    """A sentence."""
    act: Act | None = None
    """Act by which the console does it; None where it has none."""
    target: str | None = None
    """Path of the steerable field, for a control; which groups, for samples: ``dead``, ``cut`` or ``error``."""


@dataclass(frozen=True, slots=True)
class MetricEvidence:
    """A metric that supports the incident."""

    metric: str
    value: float | None
    """Value while it lasts; None if it is not finite."""
    usual: float | None
    """Median of the steps before; None if too few were reported."""
    low: float | None = None
    """Lower bound of the guard on it."""
    high: float | None = None
    """Upper bound."""


@dataclass(frozen=True, slots=True)
class Told:
    """A family's description of an episode."""

    title: str
    cause: str
    """Sentences. A guess says that it is one."""
    confidence: Confidence
    metrics: tuple[str, ...] = ()
    """Metrics that are shown as evidence, most informative first; metrics that were not reported are left out."""
    advice: tuple[Remedy, ...] = ()
