"""Starts the tools that definitions need (jails, judges, reward models) and the scorer that uses them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from trainer_core.rewards.definition import RewardDefinition
from trainer_core.rewards.graders.tools import Tools
from worker.judge.open import JudgeSetup, open_judges
from worker.judge.reward_models import MOST_AT_ONCE, LocalRewardModels
from worker.judge.use import Tally, Use
from worker.sandbox import capability
from worker.scoring.jails import Jails
from worker.scoring.pure import PureProcesses
from worker.scoring.scorer import Scorer

MOST_JAILS = 8
MOST_PURE = 4
"""Most processes for graders that need no tools. They start on demand."""
MOST_WAITING = 512
"""Most samples in progress at the same time in one process."""


@dataclass(frozen=True, slots=True)
class ToolSetup:
    """Setup of the graders' tools. Sent to reward workers."""

    judges: JudgeSetup = field(default_factory=lambda: JudgeSetup({}, {}))
    reward_models: Mapping[str, Path] = field(default_factory=dict)
    """Folders by policy."""
    processes: int = 1
    """Number of processes that share this machine's processors."""


class EquippedScorer:
    """A scorer with its tools."""

    def __init__(self, definitions: Iterable[RewardDefinition], setup: ToolSetup, timeout_s: float) -> None:
        """Start what the definitions need.

        Raises:
            JailError: this machine has no strong jail.
            StartError: a judge or a reward model is not available, or the processes for pure graders cannot start.
        """
        definitions, self._tally = list(definitions), Tally()
        with ExitStack() as opened:
            processes = max(1, min(MOST_PURE, (os.cpu_count() or 1) // setup.processes))
            tools, width = self._open(definitions, setup, timeout_s, processes, opened)
            self.scorer = Scorer(tools, timeout_s, min(width, MOST_WAITING), processes)
            opened.callback(self.scorer.close)
            self._opened = opened.pop_all()

    def use(self) -> Use:
        """Use of judges and jails since the last call."""
        use, jails = self._tally.take(), self.scorer.tools.jail
        if isinstance(jails, Jails):
            use.fast_modules, use.slow_modules = jails.take_paths()
        return use

    def close(self) -> None:
        """End the scorer and its tools."""
        self._opened.close()

    def _open(
        self, definitions: list[RewardDefinition], setup: ToolSetup, timeout_s: float, processes: int, opened: ExitStack
    ) -> tuple[Tools, int]:
        """The tools, which ``opened`` closes, and how many samples may wait for them at the same time."""
        pure = PureProcesses(processes, timeout_s)
        opened.callback(pure.close)
        if any(definition.has_pure_parts for definition in definitions):
            pure.start()
        jails = judges = models = None
        width = 1
        wanted = {policy for definition in definitions for policy in definition.reward_models}
        if folders := {policy: setup.reward_models[policy] for policy in wanted & setup.reward_models.keys()}:
            models = LocalRewardModels(folders)  # the grader reports a missing one
            opened.callback(models.close)
            width = max(width, MOST_AT_ONCE)
        if setup.judges.endpoints:
            shared = setup.judges.shared(setup.processes)
            judges, width = open_judges(shared, self._tally), max(width, shared.places)
            opened.callback(judges.close)
        if any(definition.needs_jail for definition in definitions):
            capability.require()
            size = max(1, min(MOST_JAILS, (os.cpu_count() or 1) // setup.processes))
            jails, width = Jails(size, any(one.needs_packages for one in definitions)), max(width, 2 * size)
            opened.callback(jails.close)
            jails.start()
        return Tools(jails, judges, models, pure=pure), width
