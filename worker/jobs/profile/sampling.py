"""Samples rows in rounds. The counts so far decide which rows the next round samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import TimeoutError as NotYet
from dataclasses import replace
from itertools import islice

from trainer_core.link.jobs import PROFILE
from trainer_core.link.profile import (
    MOST_ANSWERS,
    ProfileAnswer,
    ProfileBatch,
    ProfileJob,
    ProfilePlan,
    ProfileProgress,
    ProfileResult,
    ProfileRow,
)
from trainer_core.profiling import PassBand, RowTally, SamplingPlan, WrongAnswer, count_states, fit_prior, next_round
from trainer_core.profiling.allocation import is_settled
from trainer_core.rewards.outcomes import succeeded
from worker.errors import StartError
from worker.jobs.profile.votes import Ballot, VoteReader
from worker.jobs.rehearsal.hold import POLL_S, Deadline
from worker.jobs.rehearsal.startup import RehearsalParts, RehearsalStartup
from worker.link.platform import Platform
from worker.messages.ticket import Batch, Ticket
from worker.seeds import derive_seed

ROWS_AT_ONCE = 64
"""Rows of one batch. If a worker is killed, its current batch is sampled again."""
ROUND = 256
"""Minimum number of samples in a round."""
MOST_UNGRADED = 3
"""Number of consecutive batches without any grade after which sampling ends: a judge may be away for long."""

Tell = Callable[[ProfileProgress], None]
HandIn = Callable[[ProfileBatch], None]


class ProfileStartup(RehearsalStartup):
    """The parts of a run's start that a profile needs: those of a rehearsal."""

    def _actor(self) -> str:
        return PROFILE.actor(self.bundle.run_id)


def sample_rows(job: ProfileJob, platform: Platform, deadline: Deadline, tell: Tell, hand_in: HandIn) -> ProfileResult:
    """Sample until the plan is complete or time is up.

    Raises:
        StartError: something cannot work; the message is for the person who requested the profile.
        RolloutError: the engine was lost.
        FencedError: the result is no longer wanted.
    """
    warnings: list[str] = []
    startup = ProfileStartup(job.bundle, platform, lambda title, message: warnings.append(f"{title}: {message}"))
    try:

        def tick(done: int, total: int) -> None:
            tell(ProfileProgress(phase="loading", done=done, total=total))
            deadline.check("its engine or its graders did not start.")

        parts = startup.open(ROWS_AT_ONCE, tick)
        sampler = _Sampler(job, parts, deadline, tell, hand_in)
        stopped = sampler.run()
        warnings += sampler.warnings
        return ProfileResult(stopped=stopped, votes=sampler.reads_answers, warnings=tuple(warnings))
    finally:
        startup.close()


class _Sampler:
    def __init__(self, job: ProfileJob, parts: RehearsalParts, deadline: Deadline, tell: Tell, hand_in: HandIn) -> None:
        self._job, self._parts, self._deadline, self._tell, self._hand_in = job, parts, deadline, tell, hand_in
        spec = job.bundle.spec
        [self._source] = spec.data.sources
        rows = parts.sources[self._source.name].rows
        self._tallies = [RowTally()] * len(rows)
        for one in job.done:
            answers = tuple(WrongAnswer(answer.text, answer.votes) for answer in one.answers)
            self._tallies[one.row] = RowTally(one.asked, one.samples, one.correct, answers)
        self._batches, self._groups = job.batches, 0
        self._ungraded, self._failed, self._first_error = 0, 0, ""
        self._ungraded_rows: set[int] = set()
        self._has_graded = False
        definition = parts.versions.definition(spec.reward.definition)
        self._votes = VoteReader(definition, spec.thinking, parts.generation.regrade, job.threshold)
        self._plan = _plan(job.plan)

    @property
    def reads_answers(self) -> bool:
        """Whether wrong answers can be distinguished from one another."""
        return self._votes.can_read

    @property
    def warnings(self) -> list[str]:
        """A sentence about the samples whose reward failed; empty if none did."""
        if not self._failed:
            return []
        return [f"The reward of {self._failed} samples could not be computed, first: {self._first_error}"]

    def run(self) -> str:
        """Sample round after round. Returns why it ended."""
        self._told()
        while True:
            prior = fit_prior(count_states(self._tallies))
            wanted = next_round(self._tallies, self._plan, prior, least=ROUND)
            if not wanted:
                if self._asked >= self._plan.budget:
                    return "budget"
                return "settled" if is_settled(self._tallies, self._plan, prior) else "most"
            pairs = iter(wanted.items())
            while part := dict(islice(pairs, ROWS_AT_ONCE)):
                if self._deadline.is_over:
                    return "time"
                self._sample(part)
                if self._ungraded >= MOST_UNGRADED:
                    return "errors"

    @property
    def _asked(self) -> int:
        return sum(tally.asked for tally in self._tallies)

    def _sample(self, wanted: Mapping[int, int]) -> None:
        started = self._deadline.seconds
        tickets = []
        for row, count in wanted.items():
            name = f"1-{self._batches}.{self._groups}"
            self._groups += 1
            tickets.append(self._parts.dispatcher.ticket(name, f"{self._source.name}:{row}", count))
        self._wait(Batch(1, tickets))
        self._rescore(tickets)
        if not any(self._verdicts(ticket) for ticket in tickets):
            if not any(tally.samples for tally in self._tallies):
                raise StartError(f"No reward could be computed: {self._first_error or 'all answers were abandoned'}")
            self._ungraded += 1
            tried = self._has_graded and wanted.keys() <= self._ungraded_rows
            self._ungraded_rows |= wanted.keys()
            if not tried:  # the failed grader may be back soon: these rows are sampled again, at no cost
                return
        else:
            self._ungraded, self._has_graded = 0, True
        ballots = [Ballot(ticket, self._tallies[row].answers) for row, ticket in zip(wanted, tickets, strict=True)]
        self._votes.count(ballots)
        for row, ballot in zip(wanted, ballots, strict=True):
            self._tallies[row] = self._counted(self._tallies[row], ballot)
        self._hand_in(
            ProfileBatch(
                number=self._batches,
                rows=tuple(_wire(row, self._tallies[row]) for row in wanted),
                tokens=sum(t.length for ticket in tickets for t in ticket.group.trajectories),
                seconds=self._deadline.seconds - started,
            )
        )
        self._batches += 1
        self._told()

    def _rescore(self, tickets: Sequence[Ticket]) -> None:
        """Score failed samples once more, and record those that still fail."""
        samples = [one for ticket in tickets for one in ticket.group.trajectories]
        if any(one.verdict.error for one in samples):
            self._parts.generation.rescore(tickets).result()
        errors = [one.verdict.error for one in samples if one.verdict.error]
        self._failed += len(errors)
        self._first_error = self._first_error or next(iter(errors), "")

    def _counted(self, tally: RowTally, ballot: Ballot) -> RowTally:
        verdicts = self._verdicts(ballot.ticket)
        return replace(
            tally,
            asked=tally.asked + len(ballot.ticket.group.trajectories),
            samples=tally.samples + len(verdicts),
            correct=tally.correct + sum(verdicts),
            answers=ballot.answers[:MOST_ANSWERS],
        )

    def _verdicts(self, ticket: Ticket) -> Sequence[bool]:
        found = [succeeded(t, self._job.threshold) for t in ticket.group.trajectories]
        return [right for right in found if right is not None]

    def _wait(self, batch: Batch) -> None:
        generation = self._parts.generation
        seed = derive_seed(self._job.bundle.spec.schedule.seed, "profile", self._batches)
        scored = generation.evaluate(batch, seed, True, lambda done, total: None)
        while True:
            generation.check()
            try:
                scored.result(timeout=POLL_S)
                return
            except NotYet:
                if scored.done():
                    raise

    def _told(self) -> None:
        self._tell(ProfileProgress(phase="sampling", done=self._asked, total=self._plan.budget))


def _plan(plan: ProfilePlan) -> SamplingPlan:
    return SamplingPlan(
        band=PassBand(plan.min_pass_rate, plan.max_pass_rate),
        first=plan.first,
        most=plan.most,
        budget=plan.budget,
        target_error=plan.target_error,
        votes=plan.votes,
    )


def _wire(row: int, tally: RowTally) -> ProfileRow:
    answers = tuple(ProfileAnswer(text=answer.text, votes=answer.votes) for answer in tally.answers)
    return ProfileRow(row=row, asked=tally.asked, samples=tally.samples, correct=tally.correct, answers=answers)
