"""Work of several ranks that may fail on one of them. The others continue until all ranks know, so that none hangs."""

from collections.abc import Callable

from trainer_core.update.collectives import gather_values_from_ranks, rank
from trainer_core.update.saving.integrity import CheckpointError


class JointWork:
    """This rank's part of the work. After a failure it does nothing more."""

    def __init__(self) -> None:
        """Start without a failure."""
        self._error: Exception | None = None

    def do(self, work: Callable[[], object]) -> None:
        """Do a part of the work unless an earlier one has failed; an error is stored for ``settle``."""
        if self._error is not None:
            return
        try:
            work()
        except Exception as error:
            self._error = error

    def settle(self, undo: Callable[[], object]) -> None:
        """Raise if any rank has failed: this rank's own error, or that of the first failed rank. Collective.

        Args:
            undo: undoes the work, on rank 0 only. No rank raises before it has finished, because the driver of the
                ranks gives the others only some seconds after one has failed.
        """
        told = self._error
        if told is not None and not isinstance(told, OSError | CheckpointError):
            told = CheckpointError(f"{type(told).__name__}: {told}")  # another rank may not know the type
        failures = [one for one in gather_values_from_ranks(told) if one is not None]
        if not failures:
            return
        try:
            if rank() == 0:
                undo()
        finally:
            gather_values_from_ranks(None)
        raise self._error or failures[0]
