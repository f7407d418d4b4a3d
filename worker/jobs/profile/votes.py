"""Votes: which wrong answers are the same. The grader itself decides: it gets one of them in place of the gold.

Whether an answer is wrong is judged by the part of the reward that compares it with the gold, never by the whole: a
right answer in the wrong format, or in another language than requested, is no evidence against the gold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trainer_core.episodes import Trajectory
from trainer_core.link.profile import ANSWER_CHARACTERS
from trainer_core.profiling import WrongAnswer
from trainer_core.rewards import RewardDefinition
from trainer_core.rewards.answers import readings
from trainer_core.rewards.answers.facts import answer_text
from trainer_core.rewards.graders import leaves
from trainer_core.rewards.outcomes import succeeded
from trainer_core.rewards.score import Score
from trainer_core.rewards.success import least
from trainer_core.spec.generation.thinking import Thinking

if TYPE_CHECKING:
    from worker.messages.ticket import Ticket

Regrade = Callable[[Sequence[Trajectory], Sequence[Mapping[str, Any]], Sequence["Ticket"]], Future[list[Score]]]
"""Scores answers against rows other than their own: ``GenerationStage.regrade``."""

COMPARED = 4
"""Number of answers of a row with which the grader compares others. Beyond them only equal texts count as equal."""


@dataclass(frozen=True, slots=True)
class WrongVote:
    """An answer that does not equal the gold, according to the part of the reward that reads it."""

    trajectory: Trajectory
    text: str
    """Text of the answer."""
    full: float
    """Grade of that part if the answer itself were the gold."""


class Ballot:
    """The wrong answers to one row: the previous ones, and those that a batch adds."""

    def __init__(self, ticket: Ticket, before: Sequence[WrongAnswer]) -> None:
        self.ticket = ticket
        self._votes = {answer.text: answer.votes for answer in before}
        self._waiting: list[WrongVote] = []
        self._compared = 0

    @property
    def answers(self) -> tuple[WrongAnswer, ...]:
        """All answers, the most frequent first."""
        ranked = sorted(self._votes.items(), key=lambda pair: -pair[1])
        return tuple(WrongAnswer(text, votes) for text, votes in ranked)

    def add(self, vote: WrongVote) -> None:
        """Add a wrong answer."""
        if vote.text in self._votes:
            self._votes[vote.text] += 1
        else:
            self._waiting.append(vote)

    def rival(self) -> tuple[str, list[WrongVote]] | None:
        """An answer, and others that may equal it; None if nothing is left to compare."""
        if not self._waiting or self._compared >= COMPARED:
            return None
        if self._compared == len(self._votes):
            self._promote()
        if not self._waiting:
            return None
        return list(self._votes)[self._compared], self._waiting

    def settle(self, equal: Sequence[bool]) -> None:
        """Record whether each answer equals the last ``rival``, as decided by the grader."""
        text = list(self._votes)[self._compared]
        self._votes[text] += sum(equal)
        self._waiting = [one for one, same in zip(self._waiting, equal, strict=True) if not same]
        self._compared += 1

    def close(self) -> None:
        """Count the remaining answers by their text."""
        while self._waiting:
            self._promote()

    def _promote(self) -> None:
        text = self._waiting[0].text
        self._votes[text] = sum(other.text == text for other in self._waiting)
        self._waiting = [other for other in self._waiting if other.text != text]


class VoteReader:
    """Reads the content of wrong answers, at the place that the reward reads."""

    def __init__(self, definition: RewardDefinition, thinking: Thinking, regrade: Regrade, threshold: float) -> None:
        places = [place for place in readings(definition) if place.reference is not None]
        self._place = places[0] if places else None
        self._thinking, self._regrade, self._threshold = thinking, regrade, threshold
        graders = {component.name: component.grader for component in definition.components}
        self._is_composed = (
            self._place is not None
            and next(leaves(graders[self._place.component])) is not graders[self._place.component]
        )

    @property
    def can_read(self) -> bool:
        """Whether the reward compares a place of the answer with a field of the row."""
        return self._place is not None

    @property
    def reference(self) -> str | None:
        """Field of the row that answers are compared with; None if there is none."""
        return None if self._place is None else self._place.reference

    def count(self, ballots: Sequence[Ballot]) -> None:
        """Count the wrong answers of the ballots' groups."""
        if self._place is None:
            return
        read = [(ballot, *one) for ballot in ballots for one in self._read(ballot)]
        fulls = self._fulls([(ballot, one, text) for ballot, one, text, _ in read])
        for (ballot, trajectory, text, grade), full in zip(read, fulls, strict=True):
            if full is not None and grade < least(full):
                ballot.add(WrongVote(trajectory, text, full))
        for _ in range(COMPARED):
            self._compare(ballots)
        for ballot in ballots:
            ballot.close()

    def _read(self, ballot: Ballot) -> list[tuple[Trajectory, str, float]]:
        """(Failed answer, its text, grade of the part that reads it)."""
        assert self._place is not None
        found = []
        for trajectory in ballot.ticket.group.trajectories:
            grade = trajectory.verdict.parts.get(self._place.component)
            if grade is None or succeeded(trajectory, self._threshold) is not False:
                continue
            text = self._place.find(answer_text(trajectory.output_text, self._thinking))
            if text is not None and text.strip():
                found.append((trajectory, " ".join(text.split())[:ANSWER_CHARACTERS], grade))
        return found

    def _fulls(self, read: Sequence[tuple[Ballot, Trajectory, str]]) -> Sequence[float | None]:
        """The part's grade for each answer with itself as the gold: the grade of an answer that equals the gold.

        Graders that read a place return 1. A combined grader, such as one with a gate, must be called to find out.
        """
        return self._parts(read) if self._is_composed else [1.0] * len(read)

    def _compare(self, ballots: Sequence[Ballot]) -> None:
        rivals = [(ballot, rival) for ballot in ballots if (rival := ballot.rival()) is not None]
        asked = [(ballot, gold, vote) for ballot, (gold, waiting) in rivals for vote in waiting]
        parts = self._parts([(ballot, vote.trajectory, gold) for ballot, gold, vote in asked])
        equal = iter(
            part is not None and part >= least(vote.full) for part, (_, _, vote) in zip(parts, asked, strict=True)
        )
        for ballot, (_, waiting) in rivals:
            ballot.settle([next(equal) for _ in waiting])

    def _parts(self, asked: Sequence[tuple[Ballot, Trajectory, str]]) -> list[float | None]:
        """Grades of the part that reads the answer, for answers to rows with other golds; None if it fails."""
        if not asked:
            return []
        assert self._place is not None
        column, component = self._place.reference, self._place.component
        items = [{**ballot.ticket.group.item, column: gold} for ballot, _, gold in asked]
        scores = self._regrade([one for _, one, _ in asked], items, [ballot.ticket for ballot, _, _ in asked])
        return [score.parts.get(component) for score in scores.result()]
