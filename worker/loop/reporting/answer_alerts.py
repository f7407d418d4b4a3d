"""Alerts of what the answers themselves show: no signal, a constant reward, answers that are cut, empty or alike."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

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
from trainer_core.trajectory import Group
from worker.messages.ticket import Batch

WINDOW = 5
"""Steps over which rewards are looked at: a hard task may begin with a step without a right answer."""
LONG: Final[dict[FindingKind, str]] = {
    "no_signal": "No group has had a signal for {steps} steps",
    "constant_reward": "The reward has been constant for {steps} steps",
}
"""Kinds that are told of the whole window, with their titles; the others are of one step."""
MOST_READ = 256
"""Answers of one step whose texts are read, in whole groups spread evenly over the batch."""


class AnswerAlerts:
    """Tells of each finding once, and again when it is over. Used by the loop's thread alone."""

    def __init__(self, definition: Callable[[str], RewardDefinition]) -> None:
        """``definition`` gives that of a reward version by its reference."""
        self._definition = definition
        self._reward: str | None = None
        self._places: tuple[Reading, ...] = ()
        self._window: deque[list[GroupFacts]] = deque(maxlen=WINDOW)
        self._told: dict[FindingKind, str] = {}
        """Titles of what was told and is not over."""

    def check(self, batch: Batch) -> list[AlertData]:
        """Alerts of what this batch is the first to show, and of what it shows to be over."""
        spec = batch.spec
        if spec.reward.definition != self._reward:  # what another version has read says nothing of this one
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
                message=f"Step {step} shows it no longer.",
                code=kind,
            )
            for kind in ended
        ]


def _some(groups: Sequence[Group]) -> Sequence[Group]:
    answers = sum(len(group.trajectories) for group in groups)
    return groups[:: max(1, -(-answers // MOST_READ))]
