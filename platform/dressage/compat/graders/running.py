"""Runs a grader once: in this process if it is pure, else as a bench job on the cluster whose end it waits for."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from dressage.bench.models import BenchJob
from dressage.bench.samples import sample_document
from dressage.bench.services import create_bench_job
from dressage.cluster_jobs.life import fail_open
from dressage.cluster_jobs.models import OPEN
from dressage.common.actors import Actor
from dressage.common.api.problems import invalid
from dressage.common.lengthy import LongRequests
from dressage.compat.graders.reading import as_definition, parts_of
from dressage.rewards.trial import DEFAULT_TAGS, Pasted, try_out
from dressage.teams.models import Team
from trainer_core.link.bench import ThinkingTags
from trainer_core.rewards import RewardDefinition
from trainer_core.rewards.graders import Grader

WAIT_S = 60.0
"""Maximum time that a caller waits for the cluster."""
SCORE_S = 45.0
"""Maximum time that the score itself may take there."""
WAITING = LongRequests("graders that need the cluster", places=8, code="graders_busy", retry_s=5)
"""Callers of a web process that may wait for the cluster at the same time, each holding one of its threads."""
_POLL_S = (0.02, 0.5)
"""First and longest pause between two checks of the job."""


@dataclass(frozen=True, slots=True)
class Ran:
    """Outcome of running a grader."""

    grades: dict[str, float]
    """Grades that could be computed, by the name of the part."""
    error: str | None
    """Error of the first part that failed, without its name."""
    failed: str | None
    """The name of that part; None if the error belongs to no part."""
    seconds: float
    late: bool = False
    """Whether there was no response in time."""
    judge: dict[str, Any] = field(default_factory=dict)
    """Use of judges, as reported by the worker."""


def run_grader(team: Team, actor: Actor, grader: Grader, text: str, item: Mapping[str, Any]) -> Ran:
    """Grade ``text`` for the row ``item``.

    Raises:
        Problem: 422 for a grader that uses the length, which text alone does not provide; 429 if too many bench jobs
            are open or too many of the team's graders are running, 503 if too many of all teams are running or waiting.
    """
    parts = parts_of(grader)
    definition = as_definition(parts)
    if definition.needs_length:
        raise invalid("/grader", "This grader uses the number of tokens, which text alone does not have.")
    started = time.monotonic()
    if _is_pure(definition):
        [result] = try_out(team, definition, [Pasted(text, item)], ThinkingTags.model_validate(DEFAULT_TAGS))
        return _ran(parts, result.parts, result.error, time.monotonic() - started)
    with WAITING.place(team.id):
        return _on_the_cluster(team, actor, definition, parts, text, item)


def _on_the_cluster(
    team: Team,
    actor: Actor,
    definition: RewardDefinition,
    parts: dict[str, Grader],
    text: str,
    item: Mapping[str, Any],
) -> Ran:
    started = time.monotonic()
    job = create_bench_job(
        team,
        actor,
        definitions=[("grader", None, definition)],
        source={"type": "pasted"},
        samples=[sample_document(0, text, dict(item), None)],
        thinking=DEFAULT_TAGS,
        timeout_s=SCORE_S,
        hidden=True,
    )
    _wait(job, started + WAIT_S)
    late = job.state in OPEN
    if late:
        fail_open(BenchJob, job.id, "No request waits for the answer any more.")
    job.refresh_from_db()
    if job.results is None:
        error = f"The cluster did not answer within {WAIT_S:g} s." if late else job.error
        return Ran({}, error, None, time.monotonic() - started, late=late)
    [[result]] = job.results
    return _ran(parts, result["parts"], result["error"], result["seconds"], job.judge or {})


def _is_pure(definition: RewardDefinition) -> bool:
    return not (definition.needs_jail or definition.endpoints or definition.reward_models)


def _wait(job: BenchJob, deadline: float) -> None:
    """Poll the job's row until it is finished or the deadline has passed.

    OpenAI's client expects the result in the response, so its request waits in its thread. A wake-up message would save
    a fraction of a second and still require this polling, since only the row is authoritative.
    """
    pause, longest = _POLL_S
    while job.state in OPEN and time.monotonic() < deadline:
        if not connection.in_atomic_block:
            connection.close()  # waiting callers must not occupy connections
        time.sleep(pause)
        pause = min(longest, 1.5 * pause)
        job.refresh_from_db(fields=["state"])


def _ran(
    parts: dict[str, Grader],
    grades: Mapping[str, float],
    error: str | None,
    seconds: float,
    judge: dict[str, Any] | None = None,
) -> Ran:
    names = dict(zip((f"g{index}" for index in range(len(parts))), parts, strict=True))
    found = {name: grades[key] for key, name in names.items() if key in grades}
    key, _, message = (error or "").partition(": ")
    failed = names.get(key)
    return Ran(found, (message if failed else error) if error else None, failed, seconds, judge=judge or {})
