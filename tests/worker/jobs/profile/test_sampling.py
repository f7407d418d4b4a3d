"""Sampling where rewards fail: what is scored again, what it costs, and when it ends."""

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

from tests.trainer_core.batches import trajectory
from trainer_core.episodes import Verdict
from trainer_core.link.profile import ProfileBatch, ProfilePlan, ProfileRow
from trainer_core.rewards import RewardDefinition
from trainer_core.spec.generation.thinking import NoThinking
from worker.jobs.profile.sampling import _Sampler
from worker.jobs.rehearsal.hold import Deadline


class Generation:
    """Answers each sample with "no place", graded 0 once the judge is there."""

    def __init__(self, away: int, back_when_asked_again: bool = False) -> None:
        self.away, self.back, self.evaluated = away, back_when_asked_again, 0

    def evaluate(self, batch: Any, *given: Any) -> "Future[Any]":
        self.evaluated += 1
        for ticket in batch.tickets:
            rewards = [None if self.evaluated <= self.away or self.evaluated > 100 else 0.0] * ticket.samples
            ticket.group = SimpleNamespace(item={}, trajectories=[trajectory(one) for one in rewards])
        return _done(batch)

    def rescore(self, tickets: Any) -> "Future[int]":
        for one in [one for ticket in tickets for one in ticket.group.trajectories if self.back]:
            one.verdict = Verdict(0.0)
        return _done(0)

    def check(self) -> None:
        return

    regrade = None


def _done(value: Any) -> "Future[Any]":
    future: Future[Any] = Future()
    future.set_result(value)
    return future


def sample(generation: Generation) -> tuple[str, list[ProfileBatch], list[str]]:
    """(Why it ended, what was handed in, warnings) of two rows, one of which was sampled before."""
    definition = RewardDefinition.model_validate({"components": [{"name": "right", "grader": {"type": "numeric"}}]})
    reward = SimpleNamespace(definition="calculation@1")
    spec: Any = SimpleNamespace(
        data=SimpleNamespace(sources=[SimpleNamespace(name="rows")]),
        reward=reward,
        thinking=NoThinking(),
        schedule=SimpleNamespace(seed=1),
    )
    parts: Any = SimpleNamespace(
        sources={"rows": SimpleNamespace(rows=[{}, {}])},
        versions=SimpleNamespace(definition=lambda ref: definition),
        dispatcher=SimpleNamespace(ticket=lambda name, prompt, count: SimpleNamespace(name=name, samples=count)),
        generation=generation,
    )
    job: Any = SimpleNamespace(
        bundle=SimpleNamespace(spec=spec),
        done=(ProfileRow(row=0, asked=4, samples=4, correct=4),),
        batches=1,
        threshold=0.5,
        plan=ProfilePlan(budget=8, first=4, most=4),
    )
    handed_in: list[ProfileBatch] = []
    sampler = _Sampler(job, parts, Deadline(60.0), lambda progress: None, handed_in.append)
    return sampler.run(), handed_in, sampler.warnings


def test_three_batches_without_a_grade_end_it_and_cost_nothing() -> None:
    generation = Generation(away=100)
    stopped, handed_in, warnings = sample(generation)
    assert (stopped, handed_in, generation.evaluated) == ("errors", [], 3)
    assert warnings == ["The reward of 12 samples could not be computed, first: grader: failed"]


def test_a_judge_that_is_back_is_asked_for_the_same_rows() -> None:
    stopped, handed_in, warnings = sample(Generation(away=2))
    assert stopped == "budget"
    assert [(batch.number, [row.samples for row in batch.rows]) for batch in handed_in] == [(1, [4])]
    assert len(warnings) == 1


def test_what_failed_is_scored_once_more() -> None:
    generation = Generation(away=1, back_when_asked_again=True)
    stopped, handed_in, warnings = sample(generation)
    assert (stopped, len(handed_in), generation.evaluated, warnings) == ("budget", 1, 1, [])
