"""The prompt ledger: what became of every prompt that a curriculum has handed out.

    handed out = trained + rejected + dropped + pending (+ earlier, in runs that began without a ledger)

Prompts are known by their ordinals: the curriculum's first draw has 0, the next one 1. Each is handed out once and
settled once. A checkpoint holds the ledger of its step. An attempt that resumes from it samples the pending prompts
again, and draws the later ones anew. So the history that leads to the last step has settled each prompt once, however
often the run was interrupted.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from typing_extensions import TypedDict

from trainer_core.steering.fates import Fate

MAX_REASONS = 64
"""Reasons of each kind that are counted apart. A plug-in's filter may give any number of them."""
OTHERS = "others"
"""Counts the prompts with further reasons."""


class LedgerError(RuntimeError):
    """A prompt was skipped, settled twice, or lost: a bug that must never be ignored."""


class LedgerCounts(TypedDict):
    """Figures of a ledger. ``handed_out`` is the sum of all others."""

    handed_out: int
    trained: int
    rejected: dict[str, int]
    """Groups that a filter left out, by its name."""
    dropped: dict[str, int]
    """Groups that were not trained on for another reason, by reason."""
    pending: int
    """Groups that are being generated, scored or learned, or that wait for it."""
    earlier: int
    """Groups that were settled before the run had a ledger."""


class PromptLedger:
    """Counts of settled ordinals, and the set of pending ones. Needs memory for the pending ones alone."""

    def __init__(self, handed_out: int = 0, pending: int = 0) -> None:
        """Start a ledger.

        Args:
            handed_out: draws of the curriculum so far. Above 0 only for a run that began without a ledger.
            pending: how many of them are not settled; the last ones are taken for them.

        Raises:
            LedgerError: more are pending than were handed out.
        """
        if not 0 <= pending <= handed_out:
            raise LedgerError(f"{pending} prompts are pending, but {handed_out} were handed out")
        self._handed_out = handed_out
        self._pending = dict.fromkeys(range(handed_out - pending, handed_out))
        self._earlier = handed_out - pending
        self._trained = 0
        self._left_out: dict[str, Counter[str]] = {"rejected": Counter(), "dropped": Counter()}

    @property
    def handed_out(self) -> int:
        """Ordinals handed out so far: all below this one."""
        return self._handed_out

    @property
    def pending(self) -> list[int]:
        """Ordinals that are not settled, in the order in which they were handed out."""
        return list(self._pending)

    def hand_out(self, ordinal: int) -> None:
        """Record that the curriculum has drawn ``ordinal``.

        Raises:
            LedgerError: it was handed out before, or an earlier one never was.
        """
        if ordinal != self._handed_out:
            raise LedgerError(f"prompt {ordinal} was handed out: the next one is {self._handed_out}")
        self._handed_out += 1
        self._pending[ordinal] = None

    def settle(self, ordinal: int, fate: Fate) -> None:
        """Record the fate of a pending ordinal.

        Raises:
            LedgerError: it was never handed out, or is settled.
        """
        if ordinal not in self._pending:
            known = 0 <= ordinal < self._handed_out
            why = "it was settled before" if known else f"only prompts below {self._handed_out} were handed out"
            raise LedgerError(f"prompt {ordinal} cannot be settled as {fate.kind}: {why}")
        del self._pending[ordinal]
        if fate.reason is None:
            self._trained += 1
        else:
            counts = self._left_out[fate.kind]
            known = fate.reason in counts or len(counts) < MAX_REASONS
            counts[fate.reason if known else OTHERS] += 1

    def counts(self, ended: str | None = None) -> LedgerCounts:
        """Present figures.

        Args:
            ended: reason for which pending prompts count as dropped, once no batch will need them; None before.
        """
        dropped, pending = Counter(self._left_out["dropped"]), len(self._pending)
        if ended is not None and pending:
            dropped[ended] += pending
            pending = 0
        return {
            "handed_out": self._handed_out,
            "trained": self._trained,
            "rejected": dict(sorted(self._left_out["rejected"].items())),
            "dropped": dict(sorted(dropped.items())),
            "pending": pending,
            "earlier": self._earlier,
        }

    def state(self) -> dict[str, Any]:
        """State for the checkpoint: the figures, with the pending ordinals themselves."""
        return {**self.counts(), "pending": self.pending}

    @classmethod
    def loaded(cls, state: Mapping[str, Any]) -> "PromptLedger":
        """Restore from a checkpoint.

        Raises:
            LedgerError: the figures do not add up.
        """
        ledger = cls()
        ledger._handed_out, ledger._trained, ledger._earlier = state["handed_out"], state["trained"], state["earlier"]
        ledger._pending = dict.fromkeys(state["pending"])
        ledger._left_out = {kind: Counter(state[kind]) for kind in ("rejected", "dropped")}
        settled = ledger._trained + ledger._earlier + sum(sum(left.values()) for left in ledger._left_out.values())
        outside = [ordinal for ordinal in ledger._pending if not 0 <= ordinal < ledger._handed_out]
        if (
            outside
            or settled + len(state["pending"]) != ledger._handed_out
            or len(ledger._pending) != len(state["pending"])
        ):
            raise LedgerError(f"the checkpoint's prompt ledger does not add up: {dict(state)}")
        return ledger
