"""Exact sampling at several positions of a request in one step.

The token after each drafted one is drawn from the policy's own distribution at that position by vLLM's ordinary
sampler, and kept if all tokens before it match the draft. For a draft with one token per position this is rejection
sampling (arXiv 2211.17192): a drafted token x occurs with p(x); otherwise another token y has probability p(y) / (1 -
p(x)). vLLM's own rejection sampler is not used: on CPUs vLLM 0.32 writes the expanded temperatures into a copy
(``expand_batch_to_tokens``), so it samples from uninitialised memory at any temperature but 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from vllm.v1.outputs import LogprobsTensors, SamplerOutput
from vllm.v1.sample.metadata import SamplingMetadata
from vllm.v1.sample.sampler import Sampler

from worker.engine.types import EngineError

NOTHING = -1
"""Token id that marks positions without a kept token; vLLM's own placeholder."""


class RecordedGenerators(dict[int, torch.Generator]):
    """Generators of seeded requests by row; the rows of a request share one. Records their states.

    Discarded rows must not advance a generator: a seeded request would depend on what was drafted for it.
    """

    def __init__(self, rows: dict[int, torch.Generator]) -> None:
        super().__init__(rows)
        self._after: dict[int, torch.Tensor] = {}

    def items(self) -> Iterator[tuple[int, torch.Generator]]:  # type: ignore[override]
        """Rows in order; the sampler draws for each before it requests the next."""
        for row in sorted(self):
            yield row, self[row]
            self._after[row] = self[row].get_state()

    def rewind(self, row: int) -> None:
        """Reset the generator of ``row`` as if no later row of its request had drawn."""
        if row in self._after:
            self[row].set_state(self._after[row])


def verify(
    sampler: Sampler, logits: torch.Tensor, metadata: SamplingMetadata, drafts: torch.Tensor, sizes: list[int]
) -> SamplerOutput:
    """Sample R requests at several positions each.

    Args:
        sampler: vLLM's sampler.
        logits: one row for each position, request by request, shape [Σ (k_r + 1), V]. May be overwritten.
        metadata: sampling of the R requests.
        drafts: drafted tokens, request by request, shape [Σ k_r].
        sizes: k_r, the number of drafted tokens of each request.

    Returns:
        Tokens of shape [R, max k_r + 1], ``NOTHING`` after the last of each, and log-probabilities with as many rows.

    Raises:
        EngineError: the requests use settings that change logits based on earlier tokens, which is not supported here.
    """
    _check(metadata)
    counts = torch.tensor(sizes) + 1
    owners = torch.repeat_interleave(torch.arange(len(sizes)), counts)
    output = sampler(
        logits=logits, sampling_metadata=_expanded(metadata, owners, generators := _spread(metadata, sizes))
    )
    sampled = output.sampled_token_ids[:, 0].tolist()
    drafted = drafts.tolist()
    kept: list[tuple[int, int]] = []
    first = at = 0
    for size in sizes:
        agreeing = 0
        while agreeing < size and sampled[first + agreeing] == drafted[at + agreeing]:
            agreeing += 1
        kept.append((first, agreeing + 1))
        generators.rewind(first + agreeing)
        first, at = first + size + 1, at + size
    return _arranged(output, kept, max(sizes) + 1)


def _check(metadata: SamplingMetadata) -> None:
    holder = metadata.thinking_budget_state_holder
    if (
        not metadata.no_penalties
        or metadata.bad_words_token_ids
        or metadata.allowed_token_ids_mask is not None
        or metadata.logprob_token_ids
        or (holder is not None and holder.has_tracked_requests())
    ):
        raise EngineError(
            "speculation does not support penalties, bad words or allowed tokens, which depend on earlier tokens; set"
            " rollout.engine.speculation to off"
        )


def _expanded(metadata: SamplingMetadata, owners: torch.Tensor, generators: RecordedGenerators) -> SamplingMetadata:
    """The metadata of each row's request."""

    def rows(column: torch.Tensor | None) -> torch.Tensor | None:
        return None if column is None else column[owners.to(column.device)]

    return replace(
        metadata,
        temperature=rows(metadata.temperature),
        top_p=rows(metadata.top_p),
        top_k=rows(metadata.top_k),
        generators=generators,
        spec_token_ids=None,
    )


def _spread(metadata: SamplingMetadata, sizes: list[int]) -> RecordedGenerators:
    rows: dict[int, torch.Generator] = {}
    if metadata.generators:
        first = 0
        for request, size in enumerate(sizes):
            generator = metadata.generators.get(request)
            if generator is not None:
                rows |= dict.fromkeys(range(first, first + size + 1), generator)
            first += size + 1
    return RecordedGenerators(rows)


def _arranged(output: SamplerOutput, kept: list[tuple[int, int]], width: int) -> SamplerOutput:
    """One row of tokens for each request, and log-probabilities of the same positions."""
    device = output.sampled_token_ids.device
    firsts, counts = torch.tensor(kept).unbind(1)
    places = torch.arange(width)
    rows = (firsts[:, None] + places).clamp_(max=len(output.sampled_token_ids) - 1).to(device)
    unkept = (places >= counts[:, None]).to(device)
    tokens = output.sampled_token_ids[:, 0][rows].masked_fill_(unkept, NOTHING)
    told, flat = output.logprobs_tensors, rows.flatten()
    if told is None:
        return SamplerOutput(sampled_token_ids=tokens, logprobs_tensors=None)
    return SamplerOutput(
        sampled_token_ids=tokens,
        logprobs_tensors=LogprobsTensors(
            told.logprob_token_ids[flat], told.logprobs[flat], told.selected_token_ranks[flat]
        ),
    )


class DraftVerifier:
    """Lets a vLLM model runner without speculation compute the drafted tokens that the scheduler has added.

    vLLM's own speculation slows down every step; here steps without drafts stay as they are.
    """

    def __init__(self, runner: Any) -> None:
        """Replace two methods of ``runner``.

        Raises:
            EngineError: the runner uses its own speculation, or applies its own logits processors.
        """
        if runner.speculative_config is not None:
            raise EngineError("the engine uses vLLM's own speculation; set rollout.engine.speculation to off")
        if runner.vllm_config.model_config.logits_processors:
            raise EngineError(
                "speculation does not support logits processors, which would see several positions at once; remove them"
                " from the engine's extra arguments, or set rollout.engine.speculation to off"
            )
        self._runner = runner
        self._prepare_inputs, self._sample = runner._prepare_inputs, runner._sample
        runner._prepare_inputs, runner._sample = self.prepare_inputs, self.sample

    def prepare_inputs(self, scheduler_output: Any, num_scheduled_tokens: Any) -> Any:
        """Request logits at drafted positions too."""
        if not scheduler_output.scheduled_spec_decode_tokens:
            return self._prepare_inputs(scheduler_output, num_scheduled_tokens)
        self._runner.speculative_config = self  # vLLM only checks whether there is one
        try:
            return self._prepare_inputs(scheduler_output, num_scheduled_tokens)
        finally:
            self._runner.speculative_config = None

    def sample(self, logits: Any, drafted: Any) -> Any:
        """Sample; ``drafted`` is vLLM's metadata of drafted tokens."""
        if drafted is None:
            return self._sample(logits, drafted)
        batch = self._runner.input_batch
        return verify(
            self._runner.sampler, logits, batch.sampling_metadata, drafted.draft_token_ids, drafted.num_draft_tokens
        )
