"""One unfinished request as the adapter sees it, across the vLLM requests that serve it one after the other."""

from __future__ import annotations

import time

from worker.engine.thinking import ThinkingTracker
from worker.engine.types import Completion, FinishReason, Request, ThinkTokens


class LiveRequest:
    """Accumulates a completion. Versions and forced spans are kept as runs and written out once, at the end."""

    __slots__ = (
        "_forced_spans",
        "_limit",
        "_version_runs",
        "core_id",
        "logprobs",
        "request",
        "segment",
        "started_at",
        "thinking",
        "token_ids",
    )

    def __init__(self, request: Request, markers: ThinkTokens | None, *, limit: int, version: int) -> None:
        self.request = request
        self._limit = limit  # tokens that fit, sampled and forced together
        self.core_id = request.request_id
        self.segment = 0
        self.token_ids: list[int] = []
        self.logprobs: list[float] = []
        self.started_at = time.monotonic()
        self.thinking = (
            None if markers is None else ThinkingTracker(markers, request.prompt_ids, request.sampling.thinking_budget)
        )
        self._version_runs: list[tuple[int, int]] = [(0, version)]
        self._forced_spans: list[tuple[int, int]] = []

    @property
    def remaining(self) -> int:
        """Tokens that may still be added."""
        return self._limit - len(self.token_ids)

    def mark_version(self, version: int) -> None:
        """Tokens from here on are produced by `version`."""
        self._version_runs.append((len(self.token_ids), version))

    def force(self, tokens: tuple[int, ...]) -> None:
        """Append tokens the policy did not choose, as many as fit."""
        start = len(self.token_ids)
        tokens = tokens[: self.remaining]
        self.token_ids.extend(tokens)
        self.logprobs.extend([0.0] * len(tokens))
        self._forced_spans.append((start, len(self.token_ids)))

    def complete(self, reason: FinishReason) -> Completion:
        """The request's outcome as of now."""
        size = len(self.token_ids)
        versions: list[int] = []
        ends = [start for start, _ in self._version_runs[1:]] + [size]
        for (start, version), end in zip(self._version_runs, ends, strict=False):
            versions.extend([version] * (end - start))
        sampled = [True] * size
        for start, end in self._forced_spans:
            sampled[start:end] = [False] * (end - start)
        return Completion(
            request_id=self.request.request_id,
            prompt_ids=self.request.prompt_ids,
            token_ids=self.token_ids,
            logprobs=self.logprobs,
            versions=versions,
            sampled=sampled,
            finish_reason=reason,
            thinking_tokens=0 if self.thinking is None else self.thinking.spent,
            budget_hit=self.thinking is not None and self.thinking.budget_hit,
            started_at=self.started_at,
            finished_at=time.monotonic(),
        )
