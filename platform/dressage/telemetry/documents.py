"""The JSON documents of events and rollouts."""

from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from dressage.common.openapi.document_schema import Moment
from dressage.common.times import iso
from dressage.telemetry.models import Event, Rollout
from trainer_core.link.events import KINDS

EVENT_KINDS = tuple(sorted({*KINDS, "control", "desired", "run", "traces"} - {"outcomes"}))
"""Kinds of events: those of workers, and those of the platform itself. Outcomes are stored by row instead."""


WITHHELD = "Withheld: graders quote the dataset's rows, and this token lacks the scope datasets:read or rewards:read."


class RunEventDocument(TypedDict):
    """Something that happened in a run."""

    seq: int
    """1, 2, 3 … without gaps."""
    kind: str
    """state, desired, control, step, eval, rollouts, rubric_proposals, pass_rates, checkpoint, alert, log, run
    or traces."""
    step: int | None
    at: Moment
    attempt: int
    data: dict[str, Any]


class ExplainedPartDocument(TypedDict):
    """A part of a reward, explained."""

    weight: float
    """Its grade is multiplied by this and added to the reward."""
    reason: str | None
    """The grader's own reason, at most 600 characters, and marked if it was cut; null if the grader gave none."""


class TurnDocument(TypedDict):
    """One turn of an episode."""

    author: Literal["policy", "tool", "user", "system"]
    characters: int
    """Unicode characters of its text, which follows that of the turn before."""


class RolloutDocument(TypedDict):
    """A sampled completion."""

    id: str
    step: int
    attempt: int
    group_id: str
    sample: int
    prompt_id: str
    source: str
    prompt: str
    completion: str
    answer: Any
    """The reference answer of the dataset's row: any JSON."""
    reward: float | None
    reward_parts: dict[str, float | Literal["NaN", "Infinity", "-Infinity"]]
    """Grade of each part: a number, or its name as a string if JSON cannot represent it."""
    explanation: dict[str, ExplainedPartDocument] | None
    """Weight and reason of each component that applied to the row; null if none were stored."""
    reward_error: str | None
    advantage: float | None
    excluded: str | None
    """Why it was excluded from the loss."""
    finish_reason: str
    length: int
    thinking_tokens: int
    budget_hit: bool
    control_revision: int
    policy_versions: Annotated[list[int], Field(max_length=2)]
    reward_version: str | None
    """``slug@n`` of the reward that scored it."""
    shadow: dict[str, float | None]
    """Rewards of versions that only watch, by ``slug@n``; None if one could not be computed."""
    turns: list[TurnDocument]
    """Authors of the parts of ``completion``, in order; empty if the policy had one turn."""


def event_document(event: Event) -> RunEventDocument:
    """An event as the API and the live stream show it."""
    return {
        "seq": event.seq,
        "kind": event.kind,
        "step": event.step,
        "at": iso(event.at),
        "attempt": event.attempt,
        "data": event.data,
    }


def rollout_document(rollout: Rollout, *, reasons: bool = True) -> RolloutDocument:
    """A rollout as the API shows it.

    Without ``reasons``, for tokens that may not see rewards and rows, a sentence replaces each reason.
    """
    versions = (rollout.policy_version_min, rollout.policy_version_max)
    return {
        "id": str(rollout.id),
        "step": rollout.step,
        "attempt": rollout.attempt,
        "group_id": rollout.group_id,
        "sample": rollout.sample,
        "prompt_id": rollout.prompt_id,
        "source": rollout.source,
        "prompt": rollout.prompt,
        "completion": rollout.completion,
        "answer": rollout.answer,
        "reward": rollout.reward,
        "reward_parts": rollout.reward_parts,
        "explanation": rollout.explanation if reasons else _withheld(rollout.explanation),
        "reward_error": rollout.reward_error,
        "advantage": rollout.advantage,
        "excluded": rollout.excluded,
        "finish_reason": rollout.finish_reason,
        "length": rollout.length,
        "thinking_tokens": rollout.thinking_tokens,
        "budget_hit": rollout.budget_hit,
        "control_revision": rollout.control_revision,
        "policy_versions": [version for version in versions if version is not None],
        "reward_version": rollout.reward_version,
        "shadow": rollout.shadow,
        "turns": rollout.turns or [],
    }


def _withheld(explanation: dict[str, ExplainedPartDocument] | None) -> dict[str, ExplainedPartDocument] | None:
    if explanation is None:
        return None
    return {
        name: {"weight": part["weight"], "reason": part["reason"] and WITHHELD} for name, part in explanation.items()
    }
