"""Errors that end a run's attempt: each message is a sentence for the person who started the run."""

from __future__ import annotations


class StartError(RuntimeError):
    """The run cannot start; the message is a sentence for the person who started it."""


class FencedError(RuntimeError):
    """The platform does not accept this attempt (any more)."""


class PlaceReleased(RuntimeError):
    """The paused run gives its place back, as the platform has asked.

    Its state is saved, unless the message says otherwise: a sentence that tells people from where the run goes on.
    """


class ClusterError(RuntimeError):
    """The cluster cannot take the run; the message is a sentence for a person."""


class LearnerLost(RuntimeError):
    """A learner rank is gone. The group cannot be used again: start a new one and load the last checkpoint."""


class RolloutError(RuntimeError):
    """The engines cannot do their work; the message is a sentence for a person."""


class WeightsRefused(RolloutError):
    """An engine does not compute with the weights it was given, twice. The run pauses: a fresh engine is no cure."""

    def __init__(self, message: str, *, by_noise: bool = False) -> None:
        """``by_noise``: only its scores speak against it, by the noise that the run has begun with."""
        super().__init__(message)
        self.by_noise = by_noise
