"""One unfinished request as the adapter sees it, across the successive vLLM requests that serve it."""

from __future__ import annotations

import time

from worker.engine.request.repetition import RepetitionWatch
from worker.engine.request.routes import RouteRecorder
from worker.engine.request.stops import StopStrings
from worker.engine.request.thinking import ThinkingTracker, count_thinking
from worker.engine.request.top import TopRecorder
from worker.engine.types import Completion, FinishReason, PartialCompletion, Request, ThinkTokens, TokenProgress


class LiveRequest:
    """Accumulates a completion. Versions and forced spans are stored as runs and expanded once, at the end."""

    __slots__ = (
        "_forced_spans",
        "_limit",
        "_look_at",
        "_markers",
        "_version_runs",
        "core_id",
        "logprobs",
        "repetition",
        "request",
        "routes",
        "segment",
        "started_at",
        "stops",
        "thinking",
        "token_ids",
        "top",
    )

    def __init__(
        self,
        request: Request,
        markers: ThinkTokens | None,
        *,
        limit: int,
        version: int,
        vocab_size: int,
        stops: StopStrings | None = None,
    ) -> None:
        self.request = request
        self.stops = stops
        self._markers = markers
        self._limit = limit  # tokens that fit, sampled and forced together
        self.core_id = request.request_id
        prefix, sampling = request.prefix, request.sampling
        self.segment = prefix.segments if prefix is not None else 0
        self.token_ids: list[int] = list(prefix.token_ids) if prefix is not None else []
        self.logprobs: list[float] = list(prefix.logprobs) if prefix is not None else []
        self.started_at = time.monotonic() - (prefix.seconds if prefix is not None else 0.0)
        self.thinking = (
            None
            if markers is None
            else ThinkingTracker(markers, request.prompt_ids, sampling.thinking_budget, sampling.forced_end_ids)
        )
        if self.thinking is not None and prefix is not None and prefix.thinking is not None:
            self.thinking.restore(prefix.thinking)
        self.repetition = (
            RepetitionWatch(sampling, self.token_ids, self.logprobs, prefix.sampled if prefix is not None else [])
            if sampling.probability_run is not None or sampling.ngram_loop is not None
            else None
        )
        # Length at which pruning compares it with its group; 0 means never.
        self._look_at = sampling.prune.after if sampling.prune is not None else 0
        size = min(sampling.top_logprobs, vocab_size)
        brought = prefix.top if prefix is not None else None
        self.top = TopRecorder(size, brought, len(self.token_ids)) if size else None
        self.routes = RouteRecorder(None if prefix is None else prefix.routes)
        self._version_runs: list[tuple[int, int]] = [(len(self.token_ids), version)]
        self._forced_spans: list[tuple[int, int]] = []

    @property
    def remaining(self) -> int:
        """Tokens that may still be added."""
        return self._limit - len(self.token_ids)

    def mark_version(self, version: int) -> None:
        """Tokens from now on are produced by `version`."""
        self._version_runs.append((len(self.token_ids), version))

    def force(self, tokens: tuple[int, ...]) -> None:
        """Append tokens that the policy did not choose, as many as fit."""
        start = len(self.token_ids)
        tokens = tokens[: self.remaining]
        self.token_ids.extend(tokens)
        self.logprobs.extend([0.0] * len(tokens))
        self._forced_spans.append((start, len(self.token_ids)))
        if self.top is not None:
            self.top.skip(len(tokens))
        if self.repetition is not None:
            self.repetition.interrupt(self.token_ids, len(tokens))

    def progress(self, start: int) -> TokenProgress:
        """Tokens from index ``start`` on."""
        top = None if self.top is None else self.top.tokens(start)
        return TokenProgress(self.token_ids[start:], self.logprobs[start:], top)

    @property
    def comparable(self) -> bool:
        """Whether it has reached the length at which pruning compares it, and has not been compared yet."""
        return 0 < self._look_at <= len(self.token_ids)

    def confidence(self) -> float:
        """Confidence for pruning: mean log-probability of the sampled tokens among the first ones. Call this once."""
        size, self._look_at = self._look_at, 0
        sampled = self._columns()[1][:size]
        own = [logprob for logprob, by_policy in zip(self.logprobs[:size], sampled, strict=True) if by_policy]
        return sum(own) / len(own) if own else 0.0

    def breaks_budget(self, sampled: list[bool]) -> bool:
        """Whether the text contains more thinking than the budget and the forced tokens together allow."""
        budget = self.request.sampling.thinking_budget
        if self._markers is None or budget is None:
            return False
        thought = count_thinking(self._markers, self.request.prompt_ids, self.token_ids)
        return thought > budget + sampled.count(False)

    def complete(self, reason: FinishReason) -> Completion:
        """The request's outcome as of now."""
        versions, sampled = self._columns()
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
            top=None if self.top is None else self.top.tokens(),
            routes=self.routes.routes(self.computed),
        )

    def partial(self) -> PartialCompletion:
        """State needed to continue the request elsewhere."""
        versions, sampled = self._columns()
        return PartialCompletion(
            request_id=self.request.request_id,
            prompt_ids=self.request.prompt_ids,
            token_ids=self.token_ids,
            logprobs=self.logprobs,
            versions=versions,
            sampled=sampled,
            thinking=None if self.thinking is None else self.thinking.state,
            segments=self.segment,
            started_at=self.started_at,
            seconds=time.monotonic() - self.started_at,
            top=None if self.top is None else self.top.tokens(),
            routes=self.routes.routes(self.computed),
        )

    @property
    def computed(self) -> int:
        """Number of tokens that a model has read: all but the last."""
        return len(self.request.prompt_ids) + len(self.token_ids) - 1

    def _columns(self) -> tuple[list[int], list[bool]]:
        """The version of each token, and whether the policy chose it."""
        prefix, size = self.request.prefix, len(self.token_ids)
        versions = list(prefix.versions) if prefix is not None else []
        ends = [start for start, _ in self._version_runs[1:]] + [size]
        for (start, version), end in zip(self._version_runs, ends, strict=True):
            versions.extend([version] * (end - start))
        sampled = list(prefix.sampled) if prefix is not None else []
        sampled.extend([True] * (size - len(sampled)))
        for start, end in self._forced_spans:
            sampled[start:end] = [False] * (end - start)
        return versions, sampled
