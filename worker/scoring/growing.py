"""A scorer that can grow while it scores: a promoted reward may need a jail or judges that the first one did not."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

from trainer_core.link.reward import Versions
from trainer_core.rewards.definition import RewardDefinition
from worker.judge.use import Use
from worker.scoring.equipped import EquippedScorer, ToolSetup
from worker.scoring.scorer import Graded, Job


class GrowingScorer:
    """A scorer that can be equipped for further versions. Thread-safe. Running jobs keep the tools they began with,
    which close after the last such job."""

    def __init__(self, versions: Versions, setup: ToolSetup, timeout_s: float) -> None:
        """Start what ``versions`` need. Raises JailError or StartError with a reason."""
        self._base, self._timeout_s = setup, timeout_s
        self._lock = threading.Lock()
        self._versions = dict(versions)
        self._current = self._open(self._versions)
        self._jobs = {self._current: 0}
        """Calls in progress by scorer; the newest scorer always has an entry."""
        self._left = Use()
        """Use of judges by scorers that have ended."""

    def equip(self, versions: Versions) -> None:
        """Prepare for these versions too. Raises JailError or StartError with a reason; then nothing has changed."""
        wanted = {**self._versions, **versions}
        if _needs(wanted, self._base) != _needs(self._versions, self._base):
            fresh = self._open(wanted)
            with self._lock:
                self._current, self._jobs[fresh] = fresh, 0
            self._sweep()
        self._versions = wanted

    def definition(self, ref: str) -> RewardDefinition:
        """Raises KeyError for a reference that the scorer was not equipped for."""
        return self._versions[ref].definition

    def score(self, jobs: Sequence[Job]) -> list[Graded]:
        """Implements ``Scorer.score``."""
        with self._lock:
            equipped = self._current
            self._jobs[equipped] += 1
        try:
            return equipped.scorer.score(jobs)
        finally:
            with self._lock:
                self._jobs[equipped] -= 1
            self._sweep()

    def use(self) -> Use:
        """Use of judges since the last call."""
        with self._lock:
            found, self._left = self._left, Use()
            for equipped in self._jobs:
                found.add(equipped.use())
        return found

    def _open(self, versions: Versions) -> EquippedScorer:
        return EquippedScorer(
            [version.definition for version in versions.values()], _setup(versions, self._base), self._timeout_s
        )

    def _sweep(self) -> None:
        """Close tools that are no longer in use."""
        with self._lock:
            over = [equipped for equipped, count in self._jobs.items() if count == 0 and equipped is not self._current]
            for equipped in over:
                self._left.add(equipped.use())
                del self._jobs[equipped]
        for equipped in over:
            equipped.close()


def _setup(versions: Versions, base: ToolSetup) -> ToolSetup:
    """``base`` with the judges and reward models of all versions; if two differ, the newest wins."""
    endpoints, models = dict(base.judges.endpoints), dict(base.reward_models)
    for version in versions.values():
        endpoints |= version.judges
        models |= version.reward_models
    return replace(base, judges=replace(base.judges, endpoints=endpoints), reward_models=models)


def _needs(versions: Versions, base: ToolSetup) -> tuple[object, ...]:
    """Tools that a scorer needs, for comparison."""
    definitions = [version.definition for version in versions.values()]
    models = {policy for definition in definitions for policy in definition.reward_models}
    jails = [any(one.needs_jail for one in definitions), any(one.needs_packages for one in definitions)]
    return jails, models, _setup(versions, base).judges.endpoints
