"""Measured probability that a drafted token is accepted, by the length of the run before it and by the vote."""

from __future__ import annotations

from worker.engine.speculation.continuations import Entry

PRIOR = 4.0
"""Number of trials that the vote counts as."""
FORGETTING = 0.99
"""Weight of earlier trials, applied at each trial of a class: policy and texts change."""
FADING = 0.9
"""Weight of all trials, applied every ``FADES_EVERY`` plans: a class that is not tried must not stay rejected."""
FADES_EVERY = 512

Kind = tuple[int, int, int]
"""Class of tokens: index of the run's length, number of texts that voted (up to 4), and the vote in eighths of them."""


def kind(place: int, entry: Entry) -> Kind:
    """Class of a token that follows a run of length ``ORDERS[place]``."""
    _, majority, voters = entry
    return place, min(voters, 4), 8 * majority // voters


class DraftAcceptance:
    """Measured shares of accepted tokens, by class."""

    def __init__(self) -> None:
        self._trials: dict[Kind, list[float]] = {}
        """Accepted trials and all trials, with forgetting."""
        self._plans = 0

    def share(self, kind: Kind, entry: Entry) -> float:
        """Expected share for a token of a class."""
        _, majority, voters = entry
        prior = ((voters + majority) / 2 + 0.5) / (voters + 1)
        trials = self._trials.get(kind)
        if trials is None:
            return prior
        return (trials[0] + PRIOR * prior) / (trials[1] + PRIOR)

    def learn(self, kinds: list[Kind], accepted: int) -> None:
        """Account for one draft with tokens of classes ``kinds``, of which the first ``accepted`` were accepted."""
        for place, kind in enumerate(kinds[: accepted + 1]):
            trials = self._trials.setdefault(kind, [0.0, 0.0])
            trials[0] = trials[0] * FORGETTING + (place < accepted)
            trials[1] = trials[1] * FORGETTING + 1.0

    def fade(self) -> None:
        """Account for a plan: old trials count less."""
        self._plans += 1
        if self._plans % FADES_EVERY == 0:
            for trials in self._trials.values():
                trials[0] *= FADING
                trials[1] *= FADING
