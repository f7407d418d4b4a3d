"""Groups on their way through the loop, and the batches built from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trainer_core.episodes import Group
from trainer_core.spec import RunSpec
from trainer_core.spec.data.prompt_format import PLAIN, PromptFormat
from worker.engine import Sampling
from worker.messages.control import AppliedControl
from worker.messages.episode import EpisodeTask
from worker.messages.jobs import Ask, GroupJob, Parked


@dataclass(slots=True)
class Ticket:
    """One group on its way through the loop, pinned at dispatch."""

    group: Group
    prompt: NDArray[np.int32]
    """Token ids, shape [P]."""
    spec: RunSpec
    """Spec as it was at dispatch: sampling, thinking budget, lengths."""
    samples: int
    sampling: Sampling
    parked: Parked | None = None
    """Its completions so far, if it was stopped."""
    asks: tuple[Ask, ...] = ()
    """Ask of each sample, if they differ."""
    hint: str = ""
    """Beginning of the reference solution that the prompt shows."""
    applications: int = 0
    """Number of spec changes in effect when it was dispatched. Revisions may take effect in another order."""
    form: PromptFormat = PLAIN
    """Format in which its source presents the row."""
    shadows: tuple[str, ...] = ()
    """Reward versions that score it in addition to the one its group is pinned to."""
    ordinal: int | None = None
    """Number of its prompt among all that the curriculum handed out; None for an evaluation's."""

    @property
    def rewards(self) -> tuple[str, ...]:
        """Reward versions that score it: the one that is trained on, then the shadows."""
        return self.group.reward_ref, *self.shadows

    @property
    def name(self) -> str:
        return self.group.group_id

    def job(self) -> GroupJob:
        """The ticket as a job for the engines."""
        environment = self.spec.rollout.environment
        episode = None if environment is None else EpisodeTask(environment, self.group.item, self.form)
        return GroupJob(self.name, self.prompt, self.samples, self.sampling, self.parked, self.asks, episode)

    @property
    def prompts(self) -> list[NDArray[np.int32]]:
        """Token ids of each sample's prompt."""
        return [ask.prompt for ask in self.asks] or [self.prompt] * self.samples


@dataclass(slots=True)
class Batch:
    """The groups that one step learns from, or those of one evaluation."""

    step: int
    tickets: list[Ticket]
    controls: tuple[AppliedControl, ...] = ()
    """Optimizer-step controls that first apply to this batch."""
    revision: int = 0
    """Newest steering revision that has affected it."""

    @property
    def groups(self) -> list[Group]:
        return [ticket.group for ticket in self.tickets]

    @property
    def spec(self) -> RunSpec:
        """The newest spec that any of its groups was dispatched under."""
        return max(self.tickets, key=lambda ticket: ticket.applications).spec

    @property
    def applications(self) -> int:
        """Fewest spec changes in effect when one of its groups was dispatched."""
        return min(ticket.applications for ticket in self.tickets)
