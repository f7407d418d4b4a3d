"""Errors that end a run's attempt. Each message is a sentence for the person who started the run."""

from __future__ import annotations

from pathlib import Path


class StartError(RuntimeError):
    """The run cannot start; the message is a sentence for the person who started it."""


class FencedError(RuntimeError):
    """The platform does not accept this attempt (any more)."""


class PlaceReleased(RuntimeError):
    """The paused run gives its slot back, as the platform requested.

    Its state is saved, unless the message says otherwise. The message says from where the run resumes.
    """


class ClusterError(RuntimeError):
    """The cluster cannot accept the run; the message is a sentence for a person."""


class AttemptLost(RuntimeError):
    """The attempt cannot continue, and a new one can. The message is a sentence for a person."""


class CheckpointUnusable(AttemptLost):
    """The checkpoint from which the attempt continues cannot be used. A new attempt continues from an older one."""

    def __init__(self, folder: Path, fault: str, *, gone: bool) -> None:
        """``fault`` names the file and what is wrong with it. ``gone``: the folder does not exist any more."""
        super().__init__(f"The checkpoint {folder} cannot be used: {fault}")
        self.folder, self.fault, self.gone = folder, fault, gone


class LearnerLost(AttemptLost):
    """A learner rank is gone. The group cannot be used again: start a new one and load the last checkpoint."""


class WeightsUnread(RuntimeError):
    """An engine could not read weights that the learner has published. If the learner is gone, that is the reason."""


class RolloutError(RuntimeError):
    """The engines cannot work; the message is a sentence for a person."""


class UpdateRefused(RuntimeError):
    """An update was not finite, so the run ends. A new attempt would compute the same: the message names the cause."""


class WeightsRefused(RolloutError):
    """An engine twice failed to compute with the weights it was given. The run pauses: a fresh engine is no cure."""

    def __init__(self, message: str, *, by_noise: bool = False) -> None:
        """``by_noise``: only its scores failed, judged by the noise measured at the start of the run."""
        super().__init__(message)
        self.by_noise = by_noise
