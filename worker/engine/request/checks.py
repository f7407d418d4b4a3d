"""Checks of a request before the engine accepts it. A refusal carries a reason and changes nothing."""

from __future__ import annotations

from worker.engine.types import PartialCompletion, Request, ThinkTokens


def check_request(request: Request, *, max_model_len: int, vocab_size: int, think: ThinkTokens | None) -> None:
    """Raise `ValueError` for a request that the model cannot continue."""
    prompt = request.prompt_ids
    if not 1 <= len(prompt) < max_model_len:
        raise ValueError(f"a prompt needs 1 to {max_model_len - 1} tokens, got {len(prompt)}")
    if min(prompt) < 0 or max(prompt) >= vocab_size:
        raise ValueError(f"the prompt contains ids outside the vocabulary of {vocab_size}")
    if request.sampling.thinking_budget is not None and think is None:
        raise ValueError("a thinking budget needs EngineConfig.think, the markers around thinking")
    if request.sampling.prune is not None and request.group is None:
        raise ValueError("pruning needs Request.group: samples are compared within their group")
    if request.prefix is not None:
        _check_prefix(request, request.prefix, vocab_size)


def _check_prefix(request: Request, prefix: PartialCompletion, vocab_size: int) -> None:
    size = len(prefix.token_ids)
    if prefix.prompt_ids != request.prompt_ids:
        raise ValueError(f"the prefix of request {request.request_id!r} continues another prompt")
    if not size == len(prefix.logprobs) == len(prefix.versions) == len(prefix.sampled):
        raise ValueError(f"the prefix of request {request.request_id!r} has columns of different lengths")
    if size and not 0 <= min(prefix.token_ids) <= max(prefix.token_ids) < vocab_size:
        raise ValueError(f"the prefix contains ids outside the vocabulary of {vocab_size}")
