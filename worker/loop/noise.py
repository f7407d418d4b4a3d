"""Noise between engine and learner, carried from one attempt of a run to the next; see ``worker/learner/probe``."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from trainer_core.link.events import LogData
from worker.messages.probe import Floor, ProbeFigures

WAY_OUT = (
    "All weights that can be read back are as published. If the engine's version, the machine or a number type has "
    'changed since the run began, its noise may differ: choose "Recalibrate numerics noise" before you resume.'
)
"""Text for a pause that only differing scores caused."""


class KeptNoise:
    """Noise of the run's first probe, which later attempts use as well."""

    def __init__(self, kept: Mapping[str, Any] | None, device: str, *, again: bool) -> None:
        """Read the noise from a checkpoint.

        Args:
            kept: the result of ``state``; None for a new run.
            device: kind of device that this attempt runs on. Noise from another kind is not valid.
            again: whether a user wants it measured again.
        """
        self._device, self.asked = device, again
        self._before = None if kept is None else Floor(**kept["floor"])
        usable = kept is not None and kept["device"] == device and not again
        self.floor = self._before if usable else None
        """The noise to judge by; None to measure it."""

    def state(self, floor: Floor | None) -> dict[str, Any] | None:
        """Checkpoint content for the noise that this attempt judges by."""
        return None if floor is None else {"device": self._device, "floor": asdict(floor)}

    def told(self, measured: ProbeFigures) -> LogData:
        """Log entry after the noise was measured again on request."""
        earlier = "" if self._before is None else f"; it was {self._before.mean:.3g} before"
        message = (
            f"The noise between engine and learner was recalibrated as requested: {measured.floor.mean:.3g} nats on"
            f" average{earlier}. The {measured.read_share:.0%} of the weights that can be read back are as published."
        )
        return LogData(level="info", message=message)
