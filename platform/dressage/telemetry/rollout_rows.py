"""Rows of the rollout table, as workers report them: by events with their texts, or by trace files."""

import math
from typing import Any

from dressage.telemetry.store import encode
from trainer_core.link.events import RolloutRow


def rollout_row(run_id: str, attempt: int, step: int, row: RolloutRow, scored_by: str) -> tuple[Any, ...]:
    """Values of ``store.ROLLOUTS``; ``scored_by`` is the reward version of old rows that do not name theirs."""
    first, last = (row.policy_versions[0], row.policy_versions[-1]) if row.policy_versions else (None, None)
    return (
        *(run_id, attempt, step, row.group_id, row.sample, row.prompt_id, row.source),
        *(row.prompt, row.completion, encode(row.answer), finite(row.reward), encode(row.reward_parts)),
        *(row.reward_error, finite(row.advantage), row.excluded, row.finish_reason, row.length),
        *(row.thinking_tokens, row.budget_hit, row.control_revision, first, last),
        *(row.reward_version or scored_by, encode({name: finite(value) for name, value in row.shadow.items()})),
        *(row.right, row.worst_gap, _explanation(row), _turns(row)),
    )


def _explanation(row: RolloutRow) -> str | None:
    if row.explanation is None:
        return None
    return encode({name: part.model_dump(mode="json") for name, part in row.explanation.items()})


def _turns(row: RolloutRow) -> str | None:
    return encode([turn.model_dump(mode="json") for turn in row.turns]) if row.turns else None


def finite(value: float | None) -> float | None:
    """The number, or None if it is not finite."""
    return value if value is not None and math.isfinite(value) else None
