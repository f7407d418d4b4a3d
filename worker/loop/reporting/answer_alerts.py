"""Alerts about the answers themselves: no signal, a constant reward, or truncated, empty or similar answers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from trainer_core.episodes import Group
from trainer_core.link.events import AlertData
from trainer_core.rewards.answers import (
    Finding,
    FindingKind,
    GroupFacts,
    Reading,
    findings,
    group_facts,
    readings,
)
from trainer_core.rewards.definition import RewardDefinition
from worker.messages.ticket import Batch

WINDOW = 5
"""Steps over which rewards are judged: a hard task may start with a step without any right answer."""
LONG: Final[dict[FindingKind, str]] = {
    "no_signal": "No group has had a signal for {steps} steps",
    "constant_reward": "The reward has been constant for {steps} steps",
}
"""Kinds that are reported for the whole window, with their titles. The others concern one step."""
MOST_READ = 256
"""Maximum number of answers read per step, in whole groups spread evenly over the batch."""


class AnswerAlerts:
    """Reports each finding once, and again when it is over. Used only by the loop's thread."""

    def __init__(self, definition: Callable[[str], RewardDefinition]) -> None:
        """``definition`` returns a reward version's definition by its reference."""
        self._definition = definition
        self._reward: str | None = None
        self._places: tuple[Reading, ...] = ()
        self._window: deque[list[GroupFacts]] = deque(maxlen=WINDOW)
        self._told: dict[FindingKind, str] = {}
        """Titles of reported findings that are not over."""

    def check(self, batch: Batch) -> list[AlertData]:
        """Alerts for findings that this batch is the first to show, and for those that it shows to be over."""
        spec = batch.spec
        if spec.reward.definition != self._reward:  # answers scored by another version say nothing about this one
            self._reward = spec.reward.definition
            self._places = readings(self._definition(self._reward))
            self._window.clear()
            for kind in LONG:  # too few steps to say that it is over
                self._told.pop(kind, None)
        self._window.append([group_facts(group, spec.thinking, self._places) for group in _some(batch.groups)])
        found = {one.kind: one for one in findings(self._window[-1], self._places, spec.rollout.max_tokens)}
        for kind in LONG:
            found.pop(kind, None)
        if len(self._window) == WINDOW:
            whole = [group for step in self._window for group in step]
            found |= {one.kind: one for one in findings(whole, self._places) if one.kind in LONG}
        return [*self._over(found, batch.step), *self._begun(found)]

    def _begun(self, found: dict[FindingKind, Finding]) -> list[AlertData]:
        alerts = []
        for kind, finding in found.items():
            if kind in self._told:
                continue
            self._told[kind] = LONG.get(kind, finding.title).format(steps=WINDOW)
            message = f"{finding.message} {finding.advice}"
            alerts.append(
                AlertData(level="warn", title=self._told[kind], message=message, value=finding.share, code=kind)
            )
        return alerts

    def _over(self, found: dict[FindingKind, Finding], step: int) -> list[AlertData]:
        ended = [kind for kind in self._told if kind not in found]
        return [
            AlertData(
                level="info",
                title=f"Over: {self._told.pop(kind)}",
                message=f"Step {step} no longer shows it.",
                code=kind,
            )
            for kind in ended
        ]


def _some(groups: Sequence[Group]) -> Sequence[Group]:
    answers = sum(len(group.trajectories) for group in groups)
    return groups[:: max(1, -(-answers // MOST_READ))]
