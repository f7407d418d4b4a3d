"""Answers of the platform as typed objects.

The platform may send more than this version knows. Such fields are no error: they stay readable as attributes, and are
part of ``model_dump()``. States are plain strings for the same reason.
"""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict


class ApiModel(BaseModel):
    """Base of all answers."""

    model_config = ConfigDict(extra="allow", frozen=True, protected_namespaces=(), use_attribute_docstrings=True)


class RunProgress(ApiModel):
    """Current activity of a run."""

    phase: str
    done: int
    total: int
    """Parts of the phase; 0 if it has none that can be counted."""
    step: int | None
    at: datetime
    """Time of the latest report."""


class RunSummary(ApiModel):
    """Key figures of a run."""

    reward: float | None
    """Mean reward of the last step."""
    eval: float | None
    """Mean score of the last evaluation."""
    loss: float | None = None
    """Loss of the last step; None for a run that learns from rewards."""
    eval_loss: float | None = None
    """Mean held-out loss of the last evaluation, in nats per token; None without one."""
    tokens_total: int
    seconds_per_step: float | None
    eta_seconds: float | None
    """Expected time until it ends; None unless it is active."""


class RunHealth(ApiModel):
    """Whether a run's guards object."""

    state: str
    """``ok``, ``warn`` or ``error``."""


class RunParent(ApiModel):
    """The run that a run began from."""

    run: str
    name: str
    checkpoint: str | None
    step: int | None


class RunCheckpoint(ApiModel):
    """The newest checkpoint of a run."""

    id: str
    step: int
    created_at: datetime
    reason: str


class RunCost(ApiModel):
    """Cost of a run so far."""

    place_hours: float
    """Hours for which it held a slot on a cluster."""
    gpu_hours: float
    price: float | None
    """None if the installation sets no price."""
    currency: str | None


class RunLedger(ApiModel):
    """Fates of the prompts that a run has drawn. ``handed_out`` is the sum of the figures behind it."""

    step: int
    """The step after which it was counted."""
    handed_out: int
    trained: int
    rejected: dict[str, int]
    """Prompts that a filter left out, by its name."""
    dropped: dict[str, int]
    """Prompts that were not trained on for another reason, by reason."""
    pending: int
    earlier: int
    """Prompts settled before the run had a ledger."""


class Run(ApiModel):
    """A run as lists show it, without its spec."""

    id: str
    name: str
    notes: str
    state: str
    """``draft``, ``queued``, ``starting``, ``running``, ``paused``, ``suspended``, ``succeeded``, ``failed`` or
    ``cancelled``."""
    desired_state: str
    state_reason: str
    """Reason for this state, or what a queued run waits for; may be empty."""
    health: RunHealth
    queue_position: int | None
    """Position in the team's queue, from 1; None unless it is queued."""
    cluster: str | None
    """The cluster that was chosen for it; None: the platform chooses."""
    placed_on: str | None
    """The cluster of its newest attempt."""
    step: int
    """Steps that it has learned."""
    total_steps: int
    revision: int
    """Number of its newest control."""
    attempt: int
    progress: RunProgress | None
    policy: str
    objective: str = "rl"
    """``rl``, ``sft`` or ``preference``."""
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    created_by: str
    parent: RunParent | None
    summary: RunSummary
    ledger: RunLedger | None = None
    """None before the first step, and from platforms and workers of earlier releases."""
    last_checkpoint: RunCheckpoint | None


class RunDetails(Run):
    """A run with its spec and its cost."""

    cost: RunCost
    spec: dict[str, Any]
    """The spec that it was created with. ``RunSpec.model_validate`` reads it."""
    effective_spec: dict[str, Any]
    """The spec with all controls that were applied."""


class RunPage(ApiModel):
    """One page of a list of runs."""

    data: tuple[Run, ...]
    next: str | None
    """Id to continue after; None on the last page."""
