"""The noise between engine and learner from one attempt of a run to the next; see ``worker/learner/probe``."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from trainer_core.link.events import LogData
from worker.messages.probe import Floor, ProbeFigures

WAY_OUT = (
    "All weights that can be read back are as published. If the engine's version, the machine or a number type has "
    'changed since the run began, its noise may be another: choose "Measure the noise again" before you resume.'
)
"""Sentences for a pause over scores alone."""


class KeptNoise:
    """Noise of the run's first probe, by which later attempts judge too."""

    def __init__(self, kept: Mapping[str, Any] | None, device: str, *, again: bool) -> None:
        """Read what a checkpoint holds.

        Args:
            kept: what ``state`` has made; None of a run that begins.
            device: kind of device that this attempt runs on: on another one the noise does not hold.
            again: whether people want it measured again.
        """
        self._device, self.asked = device, again
        self._before = None if kept is None else Floor(**kept["floor"])
        usable = kept is not None and kept["device"] == device and not again
        self.floor = self._before if usable else None
        """The noise to judge by; None measures it."""

    def state(self, floor: Floor | None) -> dict[str, Any] | None:
        """Content for a checkpoint, of the noise that this attempt judges by."""
        return None if floor is None else {"device": self._device, "floor": asdict(floor)}

    def told(self, measured: ProbeFigures) -> LogData:
        """An entry for the run's log, once the noise was measured again as people have asked."""
        earlier = "" if self._before is None else f"; it was {self._before.mean:.3g} before"
        message = (
            f"The noise between engine and learner was measured again, as asked: {measured.floor.mean:.3g} nats on "
            f"average{earlier}. The {measured.read_share:.0%} of the weights that can be read back are as published."
        )
        return LogData(level="info", message=message)
