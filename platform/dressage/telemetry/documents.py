"""The JSON documents of events and rollouts."""

from typing import Any

from dressage.runs.documents import iso
from dressage.telemetry.models import Event, Rollout


def event_document(event: Event) -> dict[str, Any]:
    """An event as the API and the live stream show it."""
    return {
        "seq": event.seq,
        "kind": event.kind,
        "step": event.step,
        "at": iso(event.at),
        "attempt": event.attempt,
        "data": event.data,
    }


def rollout_document(rollout: Rollout) -> dict[str, Any]:
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
