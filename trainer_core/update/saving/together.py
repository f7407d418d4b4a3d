"""Work of several ranks that may fail on one of them: the others go on until all are told, so that nobody waits."""

from collections.abc import Callable

from trainer_core.update.collectives import gather_values_from_ranks, rank
from trainer_core.update.saving.integrity import CheckpointError


class JointWork:
    """This rank's part of the work. After a failure it does nothing more."""

    def __init__(self) -> None:
        """Nothing has failed yet."""
        self._error: Exception | None = None

    def do(self, work: Callable[[], object]) -> None:
        """Do a part of the work, unless an earlier one has failed; keep an error for ``settle``."""
        if self._error is not None:
            return
        try:
            work()
        except Exception as error:
            self._error = error

    def settle(self, undo: Callable[[], object]) -> None:
        """Raise where any rank has failed: its own error, or that of the first which has. Collective.

        Args:
            undo: takes back what was done, on rank 0 alone. No rank raises before it has ended: whoever drives the
                ranks gives the others only some seconds once one has failed.
        """
        told = self._error
        if told is not None and not isinstance(told, OSError | CheckpointError):
            told = CheckpointError(f"{type(told).__name__}: {told}")  # another rank may not know its type
        failures = [one for one in gather_values_from_ranks(told) if one is not None]
        if not failures:
            return
        try:
            if rank() == 0:
                undo()
        finally:
            gather_values_from_ranks(None)
        raise self._error or failures[0]
