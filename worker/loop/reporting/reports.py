"""Reports to the platform: metric alerts, sampled rollouts, and errors for events that cannot be sent."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from trainer_core.diagnosis import worst_tokens
from trainer_core.episodes import Group, Trajectory
from trainer_core.link.base import first_fault, spelled
from trainer_core.link.events import (
    AlertData,
    EventData,
    GuardNews,
    LogData,
    OutcomesData,
    PromptOutcome,
    RolloutRow,
    RolloutsData,
    WorstTokenRow,
)
from trainer_core.link.explanation import explanations
from trainer_core.link.limits import MAX_OUTCOMES, MAX_TEXT, MAX_TOKEN_TEXT
from trainer_core.link.traces import TraceRow
from trainer_core.rewards.outcomes import succeeded
from trainer_core.steering.course import TITLES
from trainer_core.steering.guards import Alert, Calm
from worker.loop.settling import SettledPrompt
from worker.loop.traces.choice import worst_gap

log = logging.getLogger(__name__)


def checked(make: Callable[[], EventData]) -> EventData:
    """The event that ``make`` builds, or an error for the run's log if the link cannot carry it.

    Events depend on the run's data, and a run must not end because some text is longer than expected.
    """
    try:
        return make()
    except ValidationError as error:
        where, fault = first_fault(error)
        log.exception("an event cannot be reported")
        return LogData(level="error", message=f"An event cannot be reported ({error.title}): {where}: {fault}")


def plain(metrics: Mapping[str, float]) -> dict[str, float]:
    """Metrics as Python floats, whatever NumPy types they had."""
    return {name: float(value) for name, value in metrics.items()}


def metric_alert(title: str, alert: Alert, code: str) -> AlertData:
    """Alert caused by a metric; ``code`` identifies it for programs."""
    value = float(alert.value)
    return AlertData(level="warn", title=title, message=alert.message, metric=alert.metric, value=value, code=code)


def guard_alert(alert: Alert, title: str | None = None) -> AlertData:
    """Alert of a guard of the spec, on which the platform may act."""
    news = GuardNews(
        guard=alert.guard,
        state="repeats" if alert.repeated else "acts",
        action=alert.action,
        severity=alert.severity,
        since=alert.since,
    )
    return AlertData(
        level=alert.severity,
        title=title or f"Guard: {alert.guard}",
        message=alert.message,
        metric=alert.metric,
        value=float(alert.value),
        guard=news,
    )


def course_alert(news: Alert | Calm) -> AlertData:
    """Alert about the course of the run as a whole. It is worded as a guard's, so the run's health shows it."""
    title = TITLES[news.guard]
    return guard_alert(news, title) if isinstance(news, Alert) else calm_alert(news, f"Over: {title}")


def calm_alert(calm: Calm, title: str | None = None) -> AlertData:
    """Alert that a guard no longer objects."""
    news = GuardNews(guard=calm.guard, state="calm", since=calm.since)
    title = title or f"Guard: {calm.guard}"
    return AlertData(level="info", title=title, message=calm.message, metric=calm.metric, guard=news)


def rollouts_data(shown: Sequence[Group], batch: Sequence[Group], text: Callable[[int], str]) -> RolloutsData:
    """All completions of ``shown``, and the tokens of ``batch`` on which engine and learner disagree most.

    Args:
        shown: groups with the text of their prompts.
        batch: all groups of the step.
        text: returns the text of a token id.
    """
    rows = tuple(_row(group, sample, t) for group in shown for sample, t in enumerate(group.trajectories))
    worst = tuple(
        WorstTokenRow(**token, text=text(token["token_id"])[:MAX_TOKEN_TEXT]) for token in worst_tokens(batch)
    )
    return RolloutsData(rows=rows, worst_tokens=worst)


def outcomes_data(found: Sequence[SettledPrompt]) -> Iterator[OutcomesData]:
    """Outcomes and fates of the prompts of a step, in as few events as possible."""
    for begin in range(0, len(found), MAX_OUTCOMES):
        yield OutcomesData(prompts=tuple(_outcome(one) for one in found[begin : begin + MAX_OUTCOMES]))


def _outcome(settled: SettledPrompt) -> PromptOutcome:
    found = settled.outcome
    return PromptOutcome(
        prompt_id=found.prompt_id,
        right=found.right,
        graded=found.graded,
        reward=found.reward / found.graded if found.graded else None,
        ordinal=settled.ordinal,
        fate=settled.fate.kind,
        reason=settled.fate.reason,
    )


def trace_row(group: Group, sample: int) -> TraceRow:
    """A sample's row in a trace file. Its texts are in other columns."""
    return TraceRow(**_facts(group, sample, group.trajectories[sample]))


def _row(group: Group, sample: int, trajectory: Trajectory) -> RolloutRow:
    return RolloutRow(
        prompt=group.prompt_text[:MAX_TEXT],
        completion=trajectory.output_text[:MAX_TEXT],
        **_facts(group, sample, trajectory),
    )


def _facts(group: Group, sample: int, trajectory: Trajectory) -> dict[str, Any]:
    """Members of a row except its texts."""
    versions = trajectory.versions
    gap = worst_gap(trajectory)
    return {
        "group_id": group.group_id,
        "sample": sample,
        "prompt_id": group.prompt_id,
        "source": group.source,
        "answer": group.item.get("answer"),
        "reward": trajectory.reward,
        "reward_parts": {name: spelled(float(value)) for name, value in trajectory.verdict.parts.items()},
        "explanation": explanations(trajectory.verdict.explained),
        "reward_error": trajectory.verdict.error,
        "reward_version": group.reward_ref,
        "shadow": {**trajectory.verdict.shadow_rewards, **dict.fromkeys(trajectory.verdict.shadow_errors)},
        "advantage": trajectory.advantage,
        "excluded": trajectory.excluded,
        "finish_reason": trajectory.finish_reason,
        "length": trajectory.length,
        "thinking_tokens": trajectory.thinking_tokens,
        "budget_hit": trajectory.budget_hit,
        "control_revision": group.steering_revision,
        "policy_versions": (int(versions.min()), int(versions.max())) if len(versions) else (),
        "right": succeeded(trajectory, group.success_threshold),
        "turns": [{"author": turn.author, "characters": turn.characters} for turn in trajectory.turns],
        "worst_gap": None if gap is None else spelled(gap),
    }
