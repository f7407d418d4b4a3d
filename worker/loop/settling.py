"""The fates of drawn prompts: the loop's prompt ledger, and what it reports of each settled prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainer_core.steering.curriculum.outcome import GroupOutcome
from trainer_core.steering.fates import RUN_ENDED, Fate
from trainer_core.steering.prompt_ledger import LedgerError, PromptLedger
from worker.messages.ticket import Ticket


@dataclass(frozen=True, slots=True)
class SettledPrompt:
    """A settled prompt, with the outcome of its group."""

    ordinal: int
    outcome: GroupOutcome
    fate: Fate


class Settling:
    """Settles each prompt once. Used only by the loop's thread."""

    def __init__(self, drawn: int, state: Mapping[str, Any] | None) -> None:
        """Start or continue a ledger.

        Args:
            drawn: draws of the curriculum so far.
            state: the dispatcher's state from a checkpoint; None for a new run. Checkpoints from before the ledger have
                none: what was drawn by then and is not pending counts as settled earlier.

        Raises:
            LedgerError: the checkpoint's ledger does not add up, or is not that of its curriculum.
        """
        pending = [] if state is None else [name for name, *_ in state["pending"]]
        if state is None or "prompts" not in state:
            self._ledger = PromptLedger(drawn, len(pending))
            self._ordinals = dict(zip(pending, self._ledger.pending, strict=True))
        else:
            self._ledger = PromptLedger.loaded(state["prompts"])
            self._ordinals = dict(state["ordinals"])
        if self._ledger.handed_out != drawn:
            raise LedgerError(f"the ledger counts {self._ledger.handed_out} prompts, the curriculum has drawn {drawn}")
        self._check(pending)
        self._outcomes: dict[str, GroupOutcome] = {}
        self._settled: list[SettledPrompt] = []
        self.closed: tuple[SettledPrompt, ...] = ()
        """Prompts settled in the last closed step."""
        self.counts = self._ledger.counts()
        """Figures of the ledger after the last closed step."""

    def hand_out(self, name: str, ordinal: int) -> None:
        """Record that the group ``name`` was drawn."""
        self._ledger.hand_out(ordinal)
        self._ordinals[name] = ordinal

    def ordinal(self, name: str) -> int:
        """Ordinal of a pending group's prompt."""
        return self._ordinals[name]

    def note(self, name: str, outcome: GroupOutcome) -> None:
        """Keep the outcome of a group that has come back, until it is settled."""
        self._outcomes[name] = outcome

    def settle(self, ticket: Ticket, fate: Fate) -> None:
        """Record the fate of a group that has come back. Its outcome must have been noted.

        Raises:
            LedgerError: its prompt is not pending.
        """
        if ticket.ordinal is None:
            raise LedgerError(f"group {ticket.name} was not drawn by the curriculum")
        self._ledger.settle(ticket.ordinal, fate)
        del self._ordinals[ticket.name]
        self._settled.append(SettledPrompt(ticket.ordinal, self._outcomes.pop(ticket.name), fate))

    def close(self, *, last: bool) -> None:
        """Close a step: its checkpoint and its report have the same figures, whatever is settled in the meantime.

        Args:
            last: whether no batch follows. What is pending is then reported as dropped; a checkpoint keeps it as
                pending, for a run that continues from there.
        """
        self.closed, self._settled = tuple(self._settled), []
        self.counts = self._ledger.counts(RUN_ENDED if last else None)

    def state(self, held: Sequence[str]) -> dict[str, Any]:
        """State for the checkpoint.

        Args:
            held: names of all groups that the checkpoint keeps as pending.

        Raises:
            LedgerError: the ledger's pending prompts are others. Such a checkpoint would skip or repeat some.
        """
        self._check(held)
        return {"prompts": self._ledger.state(), "ordinals": dict(self._ordinals)}

    def _check(self, held: Sequence[str]) -> None:
        if sorted(held) != sorted(self._ordinals) or sorted(self._ordinals.values()) != sorted(self._ledger.pending):
            kept, known = sorted(held), sorted(self._ordinals)
            raise LedgerError(
                f"groups {kept} are kept, the ledger's pending groups are {known} ({self._ledger.pending})"
            )
