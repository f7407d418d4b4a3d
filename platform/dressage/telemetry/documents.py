"""The JSON documents of events and rollouts."""

from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from dressage.common.document_schema import Moment
from dressage.common.times import iso
from dressage.telemetry.models import Event, Rollout
from trainer_core.link.events import KINDS

EVENT_KINDS = tuple(sorted({*KINDS, "control", "desired", "run", "traces"} - {"outcomes"}))
"""Kinds of events: those of workers, and what the platform itself tells. Outcomes are kept by row instead."""


class EventDocument(TypedDict):
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
    """Grade of each part: a number, or the word for what JSON cannot write."""
    reward_error: str | None
    advantage: float | None
    excluded: str | None
    """Why it took no part in the loss."""
    finish_reason: str
    length: int
    thinking_tokens: int
    budget_hit: bool
    control_revision: int
    policy_versions: Annotated[list[int], Field(max_length=2)]
    reward_version: str | None
    """``slug@n`` that has scored it."""
    shadow: dict[str, float | None]
    """What versions that only watch give, by ``slug@n``; None where one could not be computed."""


def event_document(event: Event) -> EventDocument:
    """An event as the API and the live stream show it."""
    return {
        "seq": event.seq,
        "kind": event.kind,
        "step": event.step,
        "at": iso(event.at),
        "attempt": event.attempt,
        "data": event.data,
    }


def rollout_document(rollout: Rollout) -> RolloutDocument:
    """A rollout as the API shows it."""
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
    }
