"""Staleness control: how far generation may run ahead, and which groups a batch must hold. Pure bookkeeping.

Step s is learned by version s − 1 and makes version s. With η versions of staleness and B groups per batch, a group may
be dispatched while the number of groups accepted or in progress is below (η + version + 1) · B (AReaL, arXiv
2505.24298, §5.1). That alone does not bound the age of a straggler that every batch leaves behind. So a batch of
version u is taken, oldest groups first, only if for every k at most k · B of the groups that it leaves behind were
started by version u − η + k or older: as many as the next k batches can hold before these groups are too old. Then the
bound holds in any order of completion, and a batch waits only for groups that would break it.

    waiting ──► dispatched ──► running ──► scored ──► taken          (trained on, once)
       ▲            ▲             │ │         │
       │            └── crash ────┘ └─► parked│                      (parked: stopped, its tokens are kept)
       └──────────── tokens dropped ◄─────────┘─► reported           (not trained on, and said so)
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate


class StalenessError(RuntimeError):
    """A group would be learned from weights older than the bound allows: a bug that must never be ignored."""


class GroupState(StrEnum):
    """State in the life of a group. ``taken`` and ``reported`` groups have left the ledger."""

    WAITING = "waiting"
    DISPATCHED = "dispatched"
    RUNNING = "running"
    PARKED = "parked"
    SCORED = "scored"


@dataclass(slots=True)
class _Entry:
    state: GroupState
    order: int
    version: int | None
    """Oldest weights that any of its tokens may come from; None while it has no tokens."""
    tokens: int = 0
    """Tokens of its completions, once it is scored."""


class StalenessLedger:
    """The groups between dispatch and learning.

    Attributes:
        version: version of the weights that sample newly dispatched groups, and that the learner holds.
        taken: groups that have been or are being learned.
    """

    def __init__(
        self,
        max_staleness: int,
        batch: int,
        version: int = 0,
        *,
        renews: bool = False,
        token_budget: int | None = None,
    ) -> None:
        """Start empty.

        Args:
            max_staleness: η.
            batch: groups in a batch; the maximum if there is a token budget.
            version: above 0 for a resumed run: all earlier batches have been accepted.
            renews: the caller that takes a batch resets the groups it leaves behind, so no batch waits for a straggler.
            token_budget: tokens of scored groups with which a batch is complete, however few they are (C3PO++, arXiv
                2510.18855, algorithm 1). It counts as a whole batch, and takes further groups if those left behind
                would become too old.
        """
        self.token_budget = token_budget
        self.max_staleness, self.batch, self.version, self._renews = max_staleness, batch, version, renews
        self.taken = version * batch
        self._entries: dict[str, _Entry] = {}
        self._order = 0

    def __len__(self) -> int:
        """Number of groups in the ledger."""
        return len(self._entries)

    def names(self, *states: GroupState) -> list[str]:
        """Groups in any of ``states`` (none given: all), oldest first."""
        found = [name for name, entry in self._entries.items() if not states or entry.state in states]
        return sorted(found, key=self._age)

    def state(self, name: str) -> GroupState:
        """State of the group. Raises ``KeyError`` if it has left."""
        return self._entries[name].state

    def capacity(self, max_running: int | None = None) -> int:
        """New groups that may be dispatched now; below 0 after a batch was over-provisioned.

        Args:
            max_running: most groups that may be on the engines; None for any number.
        """
        free = (self.max_staleness + self.version + 1) * self.batch - self.taken - len(self._entries)
        if max_running is None:
            return free
        return min(max_running - len(self.names(GroupState.DISPATCHED, GroupState.RUNNING)), free)

    # ── life of a group ──

    def add(self, name: str) -> None:
        """Add a new group, which waits for its dispatch. Raises ``ValueError`` if it is already known."""
        if name in self._entries:
            raise ValueError(f"group {name} is already in flight")
        self._order += 1
        self._entries[name] = _Entry(GroupState.WAITING, self._order, None)

    def dispatch(self, name: str) -> None:
        """Send a group to the engines: for the first time, from the start again, or (parked) to continue."""
        entry = self._expect(name, GroupState.WAITING, GroupState.PARKED)
        entry.state = GroupState.DISPATCHED
        entry.version = self.version if entry.version is None else entry.version

    def run(self, name: str) -> None:
        """Record that a worker has the group."""
        self._expect(name, GroupState.DISPATCHED).state = GroupState.RUNNING

    def park(self, name: str) -> None:
        """Record that the group was stopped; its tokens are kept, and keep their age."""
        self._expect(name, GroupState.DISPATCHED, GroupState.RUNNING).state = GroupState.PARKED

    def reset(self, name: str) -> None:
        """Record that its tokens are dropped and will be generated again: it no longer has an age."""
        entry = self._expect(name, GroupState.DISPATCHED, GroupState.RUNNING, GroupState.PARKED, GroupState.SCORED)
        entry.state, entry.version = GroupState.WAITING, None

    def score(self, name: str, tokens: int = 0) -> None:
        """Record that tokens and rewards are complete, and how many tokens there are."""
        entry = self._expect(name, GroupState.DISPATCHED, GroupState.RUNNING)
        entry.state, entry.tokens = GroupState.SCORED, tokens

    def report(self, name: str) -> None:
        """Remove the group, which will not be trained on."""
        del self._entries[name]

    # ── batches ──

    def overdue(self, chosen: Sequence[str] = ()) -> int:
        """Number of groups beyond what the remaining batches can still hold, once ``chosen`` are taken.

        0 if every group can be learned in time.
        """
        taken = set(chosen)
        ages = Counter(e.version for name, e in self._entries.items() if e.version is not None and name not in taken)
        left, worst = 0, 0
        oldest = self.version - self.max_staleness
        for version in sorted(ages):
            left += ages[version]
            worst = max(worst, left - max(0, version - oldest) * self.batch)
        return worst

    def ready(self) -> bool:
        """Whether a batch can be taken: enough groups are scored, and no group left behind will become too old."""
        return bool(self._next())

    def _next(self) -> list[str]:
        """The groups of the next batch, oldest first; empty until it is complete."""
        scored = self.names(GroupState.SCORED)[: self.batch]
        count = self.batch
        if self.token_budget is not None:
            tokens = accumulate(self._entries[name].tokens for name in scored)
            count = next((n for n, total in enumerate(tokens, 1) if total >= self.token_budget), self.batch)
        while count <= len(scored):
            overdue = 0 if self._renews else self.overdue(scored[:count])
            if overdue == 0:
                return scored[:count]
            count += overdue
        return []

    def take(self) -> list[str]:
        """The next batch, oldest groups first. They leave the ledger: none can be taken twice.

        Raises:
            StalenessError: it is not ready.
        """
        chosen = self._next()
        if not chosen:
            raise StalenessError(f"version {self.version} has no full batch yet, or not the groups that must be in it")
        for name in chosen:
            del self._entries[name]
        self.taken += self.batch
        return chosen

    def advance(self, version: int) -> None:
        """Record that the learner produced ``version``, which samples everything dispatched from now on.

        Raises:
            StalenessError: versions go backwards, or a group has exceeded the bound.
        """
        if version < self.version:
            raise StalenessError(f"version {version} after {self.version}")
        self.version = version
        for name, entry in self._entries.items():
            if entry.version is not None and version - entry.version > self.max_staleness:
                raise StalenessError(
                    f"group {name} was started by version {entry.version}; the learner has reached {version}: "
                    f"bound {self.max_staleness}"
                )

    def _age(self, name: str) -> tuple[float, int]:
        entry = self._entries[name]
        return (math.inf if entry.version is None else entry.version, entry.order)

    def _expect(self, name: str, *states: GroupState) -> _Entry:
        entry = self._entries[name]
        if entry.state not in states:
            raise StalenessError(f"group {name} is {entry.state}, not {' or '.join(states)}")
        return entry
