"""Evolve rubrics in parallel to the loop: a thread asks the judge for new items and emits proposals as events.

No step waits for it. If a round is still running when the next is due, the next is skipped and reported.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

from trainer_core.episodes import Group
from trainer_core.link.events import AlertData, EventData, ProposedItem, RubricProposalsData
from trainer_core.rewards.definition import RewardDefinition
from trainer_core.rewards.errors import grouped
from trainer_core.rewards.evolve import (
    Contrast,
    ItemProposal,
    KnownItem,
    contrast,
    contrasts,
    is_known,
    question,
    reader,
    row_items,
)
from trainer_core.rewards.graders.model.judge import JudgeError, Judges, ask_readable
from trainer_core.rewards.graders.model.rubric import RubricGrader
from trainer_core.spec.rewards.watch import RubricEvolution

CONTRASTS_AT_ONCE = 8
"""Number of contrasts that the judge is asked about at the same time."""
REMEMBERED = 1000
"""Number of latest proposals that new ones must differ from."""
REMINDED = 32
"""Number of latest proposals that the judge sees in addition to the items in force."""

Emit = Callable[[EventData, int], object]
"""(data, step): an event for the platform."""


@dataclass(frozen=True, slots=True)
class _Round:
    step: int
    ref: str
    known: tuple[KnownItem, ...]
    """Items of the definition."""
    cases: tuple[tuple[Contrast, tuple[KnownItem, ...]], ...]
    """Contrasts, each with the items of its row."""


class Evolution:
    """``consider``, ``state`` and ``load`` are called only by the loop's thread."""

    def __init__(self, evolve: RubricEvolution, judges: Callable[[], Judges], emit: Emit) -> None:
        """``judges`` opens the judge. It is called once, in the thread that asks it."""
        self._evolve, self._open, self._emit = evolve, judges, emit
        self._judges: Judges | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="evolution")
        self._lock = threading.Lock()
        self._proposed: list[KnownItem] = []
        self.last: Future[None] | None = None
        """The newest round."""

    def consider(
        self,
        step: int,
        groups: Sequence[Group],
        ref: str,
        definition: RewardDefinition,
        prompt_text: Callable[[dict[str, Any]], str],
    ) -> None:
        """Start a round after ``step`` if one is due.

        Args:
            step: the step that has just been trained.
            groups: the groups of its batch; groups scored by another version than ``ref`` are ignored.
            ref: the reward version currently used for training.
            definition: definition of that version.
            prompt_text: renders a dataset row as the policy sees it.
        """
        if step % self._evolve.every_steps:
            return
        if self.last is not None and not self.last.done():
            self._alert(step, "The judge has not yet answered the last request: this one is skipped.")
            return
        grader = next((c.grader for c in definition.components if c.name == self._evolve.component), None)
        if not isinstance(grader, RubricGrader):
            return  # the version has no rubric, which promotion refuses: see ``rewards/matching.py``
        chosen = contrasts([group for group in groups if group.reward_ref == ref], self._evolve.prompts_per_step)
        if not chosen:
            return
        cases = tuple(
            (contrast(group, prompt_text(group.item)), tuple(row_items(group.item, grader.items_field)))
            for group in chosen
        )
        known = tuple(KnownItem(item.name, item.description, item.weight) for item in grader.items)
        self.last = self._thread.submit(self._propose, _Round(step, ref, known, cases))

    def state(self) -> list[dict[str, Any]]:
        """State for the checkpoint: the proposals so far."""
        with self._lock:
            return [asdict(one) for one in self._proposed]

    def load(self, state: Sequence[Mapping[str, Any]]) -> None:
        """Resume from a checkpoint."""
        with self._lock:
            self._proposed = [KnownItem(**one) for one in state]

    def _propose(self, asked: _Round) -> None:
        try:
            self._ask(asked)
        except Exception as error:
            # Any error here is reported, and the run continues: nothing in it waits for proposals.
            self._alert(asked.step, f"{type(error).__name__}: {error}")

    def _ask(self, asked: _Round) -> None:
        if self._judges is None:
            self._judges = self._open()
        judges = self._judges
        with ThreadPoolExecutor(CONTRASTS_AT_ONCE, thread_name_prefix="contrast") as threads:
            answers = [(case, threads.submit(self._about, judges, asked, *case)) for case in asked.cases]
        errors: list[str] = []
        taken: list[KnownItem] = []
        rows: list[ProposedItem] = []
        for (shown, own), answer in answers:
            try:
                proposals = answer.result()
            except JudgeError as error:
                errors.append(str(error))
                continue
            for proposal in proposals[: self._evolve.max_proposals - len(rows)]:
                if not is_known(proposal, [*asked.known, *own, *self._before(), *taken]):
                    taken.append(KnownItem(proposal.name, proposal.description, proposal.weight))
                    rows.append(ProposedItem(**asdict(proposal), **asdict(shown)))
        with self._lock:
            self._proposed = [*self._proposed, *taken][-REMEMBERED:]
        if rows:
            data = RubricProposalsData(
                component=self._evolve.component, reward_version=asked.ref, proposals=tuple(rows)
            )
            self._emit(data, asked.step)
        for reason, count in grouped(errors):
            self._alert(asked.step, f"{count} of {len(asked.cases)} contrasts: {reason}")

    def _about(self, judges: Judges, asked: _Round, shown: Contrast, own: tuple[KnownItem, ...]) -> list[ItemProposal]:
        most = self._evolve.max_proposals
        request = question(shown, (*asked.known, *own, *self._before()[-REMINDED:]), most, asked.step)
        return ask_readable(judges, self._evolve.endpoint, [request], reader(most))[0]

    def _before(self) -> list[KnownItem]:
        with self._lock:
            return list(self._proposed)

    def _alert(self, step: int, message: str) -> None:
        self._emit(AlertData(level="warn", title="Rubric items could not be proposed", message=message), step)
