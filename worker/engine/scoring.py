"""Score fixed token sequences with the serving weights while all other requests are paused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worker.engine.types import EngineError

if TYPE_CHECKING:
    from vllm.v1.engine.core import EngineCore

PREFIX = "\x00score/"  # no caller's request id starts with this by accident


class NoRoomError(EngineError):
    """Requests in flight hold so much of the KV cache that there is no room to score a sequence."""


def score_sequences(core: EngineCore, sequences: list[list[int]], max_model_len: int) -> list[list[float]]:
    """Log-probability of each token given its prefix, full vocabulary, temperature 1. Lists of length n - 1.

    Running and waiting requests are set aside for the duration, so a probe of new weights never makes them generate.
    Raises `NoRoomError` if their KV blocks leave no room for a sequence.
    """
    for sequence in sequences:
        if not 2 <= len(sequence) < max_model_len:
            raise EngineError(f"can score 2 to {max_model_len - 1} tokens, got {len(sequence)}")
    scheduler = core.scheduler
    running, waiting = scheduler.running, list(scheduler.waiting)
    scheduler.running = []
    scheduler.waiting.clear()
    try:
        return _score_alone(core, sequences)
    finally:
        core.abort_requests([request_id for request_id in scheduler.requests if request_id.startswith(PREFIX)])
        scheduler.running = running
        for request in waiting:
            scheduler.waiting.add_request(request)


def _score_alone(core: EngineCore, sequences: list[list[int]]) -> list[list[float]]:
    from vllm.sampling_params import SamplingParams
    from vllm.v1.request import Request

    # The scores must come from the current weights: do not read cached blocks, and let no request find these blocks.
    params = SamplingParams(
        temperature=0.0, max_tokens=1, prompt_logprobs=0, detokenize=False, skip_reading_prefix_cache=True
    )
    for index, sequence in enumerate(sequences):
        request = Request(
            request_id=f"{PREFIX}{index}",
            prompt_token_ids=list(sequence),
            sampling_params=params.clone(),
            pooling_params=None,
            cache_salt=PREFIX,
            block_hasher=core.request_block_hasher,
        )
        core.add_request(request)
    scores: dict[str, list[float]] = {}
    while len(scores) < len(sequences):
        outputs, executed = core.step_fn()
        if not executed:
            raise NoRoomError("no room in the KV cache to score the sequences")
        for batch in (outputs or {}).values():
            for output in batch.outputs:
                if output.new_prompt_logprobs_tensors is not None:
                    scores[output.request_id] = output.new_prompt_logprobs_tensors.logprobs[:, 0].tolist()
    return [scores[f"{PREFIX}{index}"] for index in range(len(sequences))]
