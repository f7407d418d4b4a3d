"""The buffer between generation and learning: groups in progress, and the batches built from them.

Staleness of a token is (learner's version before the update) − (version that sampled it). The bound is enforced twice:
the ledger admits and chooses groups so that it holds, and every sampled token is checked when a batch is taken out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from trainer_core.episodes import Group
from trainer_core.steering.staleness import GroupState, StalenessError, StalenessLedger
from worker.messages.jobs import Parked
from worker.messages.ticket import Batch, Ticket


@dataclass(slots=True)
class TrajectoryBuffer:
    """Tickets by name, and the ledger that tracks where each is. Used only by the loop's thread."""

    ledger: StalenessLedger
    tickets: dict[str, Ticket] = field(default_factory=dict)

    def add(self, ticket: Ticket) -> None:
        """Add a group that waits to be dispatched."""
        self.ledger.add(ticket.name)
        self.tickets[ticket.name] = ticket

    def held(self, *states: GroupState) -> list[Ticket]:
        """Tickets in any of ``states`` (none given: all), oldest first."""
        return [self.tickets[name] for name in self.ledger.names(*states)]

    def renew(self, ticket: Ticket) -> None:
        """Replace the ticket of a group that is dispatched again. The name stays the same."""
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
        """Drop a group's tokens so that it is generated again."""
        self.ledger.reset(name)
        self.tickets[name].parked = None
        self.tickets[name].group.trajectories.clear()

    def report(self, ticket: Ticket) -> None:
        """Remove a group that is not trained on. The caller reports it."""
        self.ledger.report(ticket.name)
        del self.tickets[ticket.name]

    def take(self, step: int, version: int | None = None) -> Batch:
        """The batch of ``step``, oldest groups first.

        ``version`` is that of the weights that learn it; None if every step before has updated them.

        Raises:
            StalenessError: the batch is not complete yet, or it holds a token that is too old.
        """
        tickets = [self.tickets.pop(name) for name in self.ledger.take()]
        age = largest_staleness((ticket.group for ticket in tickets), step - 1 if version is None else version)
        if age > self.ledger.max_staleness:
            raise StalenessError(f"step {step} has tokens {age} versions old: bound {self.ledger.max_staleness}")
        revision = max(ticket.group.steering_revision for ticket in tickets)
        return Batch(step, tickets, revision=revision)


def largest_staleness(groups: Iterable[Group], version: int) -> int:
    """Largest distance between ``version`` and the versions that sampled the tokens; 0 for none."""
    oldest = [t.versions[t.sampled].min() for group in groups for t in group.trajectories if t.sampled.any()]
    return int(version - min(oldest)) if oldest else 0
