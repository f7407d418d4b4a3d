"""The next turn of a request that has ended: its tokens, then tokens that others wrote, then the policy again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from worker.engine.request.thinking import ThinkingTracker
from worker.engine.types import Completion, PartialCompletion, Sampling, ThinkingState, ThinkTokens, TopTokens


def follow_up(
    completion: Completion, token_ids: Sequence[int], sampling: Sampling, think: ThinkTokens | None
) -> PartialCompletion:
    """A prefix from which the policy continues after ``token_ids``, which it did not sample.

    Limits count from the first turn: ``max_tokens`` bounds the whole episode, and the thinking budget all turns
    together.

    Args:
        completion: the turns so far.
        token_ids: tokens to append; they end where the policy's next turn begins.
        sampling: sampling of the next turn.
        think: the engine's thinking markers.
    """
    added, size = list(token_ids), len(completion.token_ids)
    whole = [*completion.token_ids, *added]
    last = completion.versions[-1] if completion.versions else 0
    return PartialCompletion(
        request_id=completion.request_id,
        prompt_ids=completion.prompt_ids,
        token_ids=whole,
        logprobs=[*completion.logprobs, *[0.0] * len(added)],
        versions=[*completion.versions, *[last] * len(added)],
        sampled=[*completion.sampled, *[False] * len(added)],
        thinking=None if think is None else _thinking(completion, whole, sampling, think),
        segments=1,
        started_at=completion.started_at,
        seconds=completion.finished_at - completion.started_at,
        top=None if completion.top is None else _padded(completion.top, len(added)),
        routes=None if completion.routes is None else completion.routes[: len(completion.prompt_ids) + size - 1],
    )


def _thinking(completion: Completion, whole: list[int], sampling: Sampling, think: ThinkTokens) -> ThinkingState:
    """A turn begins as a completion after everything before it, but what was spent stays spent."""
    before = [*completion.prompt_ids, *whole]
    begun = ThinkingTracker(think, before, sampling.thinking_budget, sampling.forced_end_ids)
    return ThinkingState(
        open=begun.open,
        spent=completion.thinking_tokens,
        counted=0,
        opened_at=len(whole) + begun.state.opened_at,
        budget_hit=completion.budget_hit,
    )


def _padded(top: TopTokens, count: int) -> TopTokens:
    rows = ((0, count), (0, 0))
    return TopTokens(np.pad(top.token_ids, rows), np.pad(top.logprobs, rows))
