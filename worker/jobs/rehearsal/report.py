"""Builds the report of a rehearsal."""

from __future__ import annotations

from dataclasses import dataclass

from trainer_core.episodes import Trajectory
from trainer_core.link.bundle import Bundle
from trainer_core.link.rehearsal import (
    DevicePeak,
    RehearsalFinding,
    RehearsalGroup,
    RehearsalReport,
    RehearsalSample,
    RehearsalSpeed,
)
from trainer_core.rewards import RewardDefinition
from trainer_core.rewards.answers import Finding, findings, group_facts, readings
from trainer_core.rewards.errors import grouped
from worker.jobs.rehearsal.prompts import VisiblePrompts
from worker.jobs.rehearsal.startup import RehearsalParts
from worker.messages.ticket import Batch, Ticket


@dataclass(frozen=True, slots=True)
class Seen:
    """Observations of a finished rehearsal."""

    bundle: Bundle
    parts: RehearsalParts
    batch: Batch
    warnings: tuple[RehearsalFinding, ...]
    """Warnings of the start."""
    start_s: float
    work_s: float
    """Seconds from there to the last reward."""
    peak: DevicePeak | None = None
    """Peak of the engine's device."""


def report(seen: Seen) -> RehearsalReport:
    """The report."""
    spec = seen.bundle.spec
    definition = seen.parts.versions.definition(spec.reward.definition)
    prompts = VisiblePrompts(seen.bundle.policy.path)
    groups = tuple(_group(ticket, prompts) for ticket in seen.batch.tickets)
    samples = [sample for group in groups for sample in group.samples]
    return RehearsalReport(
        groups=groups,
        findings=(*_findings(seen, definition), *seen.warnings),
        template_sha256=seen.parts.tokenizer.template_sha256 if _chats(seen) else None,
        signal_share=sum(group.has_signal for group in groups) / len(groups),
        cut_share=sum(sample.finish_reason == "length" for sample in samples) / len(samples),
        speed=_speed(seen),
    )


def _chats(seen: Seen) -> bool:
    """Whether prompts go through the chat template."""
    return any(data.format.chat or "messages" in data.rows[0] for data in seen.parts.sources.values() if data.rows)


def _group(ticket: Ticket, prompts: VisiblePrompts) -> RehearsalGroup:
    group = ticket.group
    shown = ticket.prompts[0]
    pieces, left_out = prompts.pieces(shown.tolist())
    return RehearsalGroup(
        source=group.source,
        dataset=group.dataset,
        row=int(group.prompt_id.rpartition(":")[2]),
        prompt_tokens=len(shown),
        pieces=pieces,
        left_out=left_out,
        answer=group.item.get("answer"),
        samples=tuple(_sample(one) for one in group.trajectories),
    )


def _sample(trajectory: Trajectory) -> RehearsalSample:
    explained = trajectory.verdict.explained.items()
    return RehearsalSample(
        text=trajectory.output_text,
        tokens=trajectory.length,
        thinking_tokens=trajectory.thinking_tokens,
        finish_reason=trajectory.finish_reason,
        reward=trajectory.reward,
        parts=dict(trajectory.verdict.parts),
        reasons={name: told.reason for name, told in explained if told.reason is not None},
        error=trajectory.verdict.error,
        forgiven=tuple(trajectory.verdict.forgiven),
    )


def _findings(seen: Seen, definition: RewardDefinition) -> list[RehearsalFinding]:
    spec, places = seen.bundle.spec, readings(definition)
    facts = [group_facts(group, spec.thinking, places) for group in seen.batch.groups]
    found = findings(facts, places, spec.rollout.max_tokens)
    constant = any(one.kind == "constant_reward" for one in found)
    told = [_told(one) for one in found if not (constant and one.kind == "no_signal")]
    return [*_reward_errors(seen.batch), *told]


def _told(finding: Finding) -> RehearsalFinding:
    return RehearsalFinding(kind=finding.kind, title=finding.title, message=finding.message, advice=finding.advice)


def _reward_errors(batch: Batch) -> list[RehearsalFinding]:
    answers = [t for group in batch.groups for t in group.trajectories]
    errors = [t.verdict.error for t in answers if t.verdict.error is not None]
    return [
        RehearsalFinding(
            kind="reward_error",
            title="A reward could not be computed",
            message=f"{count} of {len(answers)} answers: {error}",
            advice="Try the reward on the bench with this answer: it shows the whole trace.",
        )
        for error, count in grouped(errors)
    ]


def _speed(seen: Seen) -> RehearsalSpeed:
    generation = seen.parts.generation
    loads = list(generation.engines.loads.values())
    tokens = sum(t.length for group in seen.batch.groups for t in group.trajectories)
    busy = sum(load.busy_s for load in loads) or seen.work_s
    steps = sum(load.steps for load in loads)
    lengths = [len(prompt) for ticket in seen.batch.tickets for prompt in ticket.prompts]
    return RehearsalSpeed(
        start_s=seen.start_s,
        generate_s=generation.generated_s,
        reward_s=max(0.0, seen.work_s - generation.generated_s),
        tokens_per_s=tokens / max(busy, 1e-6),
        running=sum(load.running_sum for load in loads) / steps if steps else 1.0,
        prompt_tokens=sum(lengths) / len(lengths),
        peak=seen.peak,
    )
