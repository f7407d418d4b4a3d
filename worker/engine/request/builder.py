"""Requests to vLLM: the rest of a live request, as a separate request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from worker.engine.request.live import LiveRequest


class RequestBuilder:
    """Builds vLLM's requests."""

    def __init__(self, vocab_size: int, eos: tuple[int, ...], block_hasher: Callable[..., Any]) -> None:
        from vllm.sampling_params import SamplingParams
        from vllm.v1.request import Request as CoreRequest

        self._new_params, self._new_core_request = SamplingParams, CoreRequest
        self._vocab_size, self._eos, self._block_hasher = vocab_size, eos, block_hasher

    def next_segment(self, live: LiveRequest, loads: int) -> Any:
        """The rest of ``live`` as a request with its own id. ``loads`` counts the weight loads so far."""
        request, sampling = live.request, live.request.sampling
        live.core_id = request.request_id if live.segment == 0 else f"{request.request_id}\x00{live.segment}"
        stops = list(dict.fromkeys((*sampling.stop_token_ids, *self._eos)))
        params = self._new_params(
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            top_k=sampling.top_k,
            max_tokens=live.remaining,
            # A continued request must not repeat the draws of its first part.
            seed=None if sampling.seed is None else sampling.seed + live.segment,
            stop_token_ids=stops,
            logprobs=min(sampling.top_logprobs, self._vocab_size),  # 0: only the sampled token's
            detokenize=False,
        )
        live.segment += 1
        return self._new_core_request(
            request_id=live.core_id,
            prompt_token_ids=[*request.prompt_ids, *live.token_ids],
            sampling_params=params,
            pooling_params=None,
            # Blocks are shared only among requests under the same load of weights. Keys and values of older loads never
            # match, even if a version is loaded again.
            cache_salt=str(loads),
            block_hasher=self._block_hasher,
        )
