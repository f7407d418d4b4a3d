"""The buffer between generation and learning: groups on their way, and the batches that are made of them.

Staleness of a token is (learner's version before the update) − (version that sampled it). The bound is enforced twice:
the ledger admits and chooses groups so that it holds, and every sampled token is checked when a batch is taken out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from trainer_core.spec import RunSpec
from trainer_core.steering.staleness import StalenessError, StalenessLedger, State
from trainer_core.trajectory import Group
from worker.engine import Sampling
from worker.loop.steering import Control
from worker.messages.jobs import Ask, GroupJob, Parked


@dataclass(slots=True)
class Ticket:
    """One group on its way through the loop, pinned at dispatch."""

    group: Group
    prompt: NDArray[np.int32]
    """Token ids, shape [P]."""
    spec: RunSpec
    """As it was at dispatch: sampling, thinking budget, lengths."""
    samples: int
    sampling: Sampling
    parked: Parked | None = None
    """What there is of it, after it was stopped."""
    asks: tuple[Ask, ...] = ()
    """How each sample is asked, where they differ."""
    hint: str = ""
    """Beginning of the reference solution that the prompt shows."""
    shadows: tuple[str, ...] = ()
    """Reward versions that score it beside the one that its group is pinned to."""

    @property
    def rewards(self) -> tuple[str, ...]:
        """Reward versions that score it: the one that is trained on, then the shadows."""
        return self.group.reward_ref, *self.shadows

    @property
    def name(self) -> str:
        return self.group.group_id

    def job(self) -> GroupJob:
        """For the engines."""
        return GroupJob(self.name, self.prompt, self.samples, self.sampling, self.parked, self.asks)

    @property
    def prompts(self) -> list[NDArray[np.int32]]:
        """Token ids of each sample's prompt."""
        return [ask.prompt for ask in self.asks] or [self.prompt] * self.samples


@dataclass(slots=True)
class Batch:
    """The groups that one step learns from, or those of one evaluation."""

    step: int
    tickets: list[Ticket]
    controls: tuple[Control, ...] = ()
    """Controls of the optimizer step, which this batch is the first to be learned under."""
    revision: int = 0
    """Newest steering revision that has touched it."""

    @property
    def groups(self) -> list[Group]:
        return [ticket.group for ticket in self.tickets]

    @property
    def spec(self) -> RunSpec:
        """The newest spec that any of its groups was dispatched under."""
        return max(self.tickets, key=lambda ticket: ticket.group.steering_revision).spec


@dataclass(slots=True)
class TrajectoryBuffer:
    """Tickets by name, and the ledger that knows where each is. Used by the loop's thread alone."""

    ledger: StalenessLedger
    tickets: dict[str, Ticket] = field(default_factory=dict)

    def add(self, ticket: Ticket) -> None:
        """A group that waits for its dispatch."""
        self.ledger.add(ticket.name)
        self.tickets[ticket.name] = ticket

    def held(self, *states: State) -> list[Ticket]:
        """Tickets in any of ``states`` (none given: all), oldest first."""
        return [self.tickets[name] for name in self.ledger.names(*states)]

    def renew(self, ticket: Ticket) -> None:
        """Put a ticket of the same name in the place of one that is dispatched afresh."""
        self.tickets[ticket.name] = ticket

    def park(self, parked: dict[str, Parked], keep: bool) -> None:
        """Take back groups that were stopped; without ``keep`` their tokens are dropped."""
        for name, prefix in parked.items():
            if keep:
                self.ledger.park(name)
                self.tickets[name].parked = prefix
            else:
                self.reset(name)

    def reset(self, name: str) -> None:
        """Drop a group's tokens, to have it generated afresh."""
        self.ledger.reset(name)
        self.tickets[name].parked = None
        self.tickets[name].group.trajectories.clear()

    def report(self, ticket: Ticket) -> None:
        """Let a group go that is not trained on. Whoever calls tells so."""
        self.ledger.report(ticket.name)
        del self.tickets[ticket.name]

    def take(self, step: int) -> Batch:
        """The batch of ``step``, oldest groups first.

        Raises:
            StalenessError: there is none yet, or it holds a token that is too old.
        """
        tickets = [self.tickets.pop(name) for name in self.ledger.take()]
        age = largest_staleness((ticket.group for ticket in tickets), step - 1)
        if age > self.ledger.max_staleness:
            raise StalenessError(f"step {step} holds tokens {age} versions old: bound {self.ledger.max_staleness}")
        revision = max(ticket.group.steering_revision for ticket in tickets)
        return Batch(step, tickets, revision=revision)


def largest_staleness(groups: Iterable[Group], version: int) -> int:
    """Largest distance between ``version`` and the versions that sampled the tokens; 0 for none."""
    oldest = [t.versions[t.sampled].min() for group in groups for t in group.trajectories if t.sampled.any()]
    return int(version - min(oldest)) if oldest else 0
