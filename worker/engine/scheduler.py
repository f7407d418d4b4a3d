"""vLLM's scheduler with a short path for the common step: every running request decodes one token and none is admitted.

In that step vLLM's general loop recomputes for each request what cannot have changed. For a small policy this costs up
to a fifth of the step. The short path does the same bookkeeping in one pass and returns results in columns. All other
cases (admission, prefill, preemption, unusual features) go through vLLM's own code.

Only short-path steps contain drafted tokens (`worker/engine/speculation`): a request with k of them computes 1 + k
positions and gets 1 to 1 + k tokens. Keys and values of rejected tokens are overwritten.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from vllm.v1.core.sched.interface import PauseState
from vllm.v1.core.sched.output import CachedRequestData, SchedulerOutput
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.core.sched.utils import check_stop, remove_all
from vllm.v1.engine import EngineCoreOutputs
from vllm.v1.kv_cache_interface import FullAttentionSpec
from vllm.v1.outputs import ModelRunnerOutput
from vllm.v1.request import Request

from worker.engine.speculation.speculator import Speculator

ADMITTED_TOGETHER = 8
"""Waiting requests are admitted once one in this many slots is free …"""
ADMITTED_EVERY = 16
"""… or after this many steps, so that long answers do not leave slots empty for longer."""


@dataclass(slots=True)
class DecodedStep:
    """One short-path step in columns: request ids, one token each, its log-probability, and how requests finished.

    With drafts a request may have several consecutive rows. ``sampled`` then counts, by request id, the tokens from the
    model, before a stop cuts them. If any request wants the most likely tokens, ``top`` holds ids and log-probabilities
    of the sampled and the most likely tokens, one row per row of the step.
    """

    request_ids: list[str]
    token_ids: list[int]
    logprobs: list[float]
    finished: dict[str, str] = field(default_factory=dict)
    top: tuple[Any, Any] | None = None
    sampled: dict[str, int] | None = None


class DecodeScheduler(Scheduler):
    """Drop-in for `Scheduler`, chosen through vLLM's `scheduler_cls`."""

    running: list[Request]
    finished_req_ids: set[str]
    reset_preempted_req_ids: set[str]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.num_preemptions = 0
        self._short_output: SchedulerOutput | None = None
        self._decoded: DecodedStep | None = None
        self.speculator: Speculator | None = None
        """Proposes tokens; None if the engine does not speculate."""
        self._short_steps = 0
        """Short-path steps since requests could last be admitted."""
        groups = self.kv_cache_config.kv_cache_groups
        # Only full attention with one block size: other cache kinds free or reassign blocks between steps.
        self._short_path = bool(groups) and all(
            type(group.kv_cache_spec) is FullAttentionSpec and group.kv_cache_spec.block_size == self.block_size
            for group in groups
        )
        self._short_path &= (
            self.connector is None
            and self.ec_connector is None
            and self.aux_output_connector is None
            and self.lora_config is None
            and self.num_spec_tokens == 0
            and self.num_lookahead_tokens == 0
            and not self.use_v2_model_runner
            and not self.scheduler_config.async_scheduling
            and not self.use_pp
            and not self.enable_kv_cache_events
            and not self.return_sampling_mask
            and not self.log_stats
        )

    @property
    def decodes_shortly(self) -> bool:
        """Whether the short path supports this model and these settings."""
        return self._short_path

    def take_decoded(self) -> DecodedStep | None:
        """Results of the last step if it took the short path."""
        decoded, self._decoded = self._decoded, None
        return decoded

    def schedule(self, throttle_prefills: bool = False) -> SchedulerOutput:
        boundary = self._short_path_boundary()
        if boundary is None:
            self._short_output, self._short_steps = None, 0
            return super().schedule(throttle_prefills)
        self._short_steps += 1
        self.current_step += 1
        self.kv_cache_manager.new_step_starts()
        running = self.running
        new_block_ids: list[tuple[list[int], ...] | None] = [None] * len(running)
        request_ids = [request.request_id for request in running]
        drafts, boundary = self._propose(boundary)
        for index in boundary:
            blocks = self.kv_cache_manager.allocate_slots(running[index], 1 + len(drafts.get(request_ids[index], ())))
            if blocks is None:
                raise RuntimeError("KV blocks counted as free could not be allocated")
            new_block_ids[index] = blocks.get_block_ids(allow_none=True)
        scheduled = dict.fromkeys(request_ids, 1)
        for request_id, tokens in drafts.items():
            scheduled[request_id] += len(tokens)
        cached = CachedRequestData(
            req_ids=request_ids,
            resumed_req_ids=set(),
            new_token_ids=[],
            all_token_ids={},
            new_block_ids=new_block_ids,
            num_computed_tokens=[request.num_computed_tokens for request in running],
            num_output_tokens=[len(request._output_token_ids) for request in running],
        )
        self.prev_step_scheduled_req_ids.clear()
        self.prev_step_scheduled_req_ids.update(request_ids)
        output = SchedulerOutput(
            scheduled_new_reqs=[],
            scheduled_cached_reqs=cached,
            num_scheduled_tokens=scheduled,
            total_num_scheduled_tokens=len(request_ids) + sum(map(len, drafts.values())),
            scheduled_spec_decode_tokens=drafts,
            scheduled_encoder_inputs={},
            preempted_req_ids=self.reset_preempted_req_ids,
            finished_req_ids=self.finished_req_ids,
            free_encoder_mm_hashes=[],
            new_block_ids_to_zero=self._get_new_block_ids_to_zero(),
            num_spec_tokens_to_schedule=0,
            ec_manager_metadata=self.encoder_cache_manager.get_manager_metadata(),
        )
        for request in running:
            request.num_computed_tokens += 1
            request.num_in_flight_tokens += 1
        for request_id, tokens in drafts.items():
            self.requests[request_id].num_computed_tokens += len(tokens)
            self.requests[request_id].num_in_flight_tokens += len(tokens)
        self.finished_req_ids = set()
        self.reset_preempted_req_ids = set()
        self._short_output = output
        return output

    def update_from_output(
        self, scheduler_output: SchedulerOutput, model_runner_output: ModelRunnerOutput
    ) -> dict[int, EngineCoreOutputs]:
        drafts = scheduler_output.scheduled_spec_decode_tokens
        if scheduler_output is not self._short_output or model_runner_output.logprobs is None:
            return super().update_from_output(scheduler_output, model_runner_output)
        self._short_output = None
        if drafts:
            self._decoded = self._take_drafted(drafts, model_runner_output)
            return {}
        sampled = model_runner_output.sampled_token_ids
        decoded = DecodedStep(
            request_ids=model_runner_output.req_ids,
            token_ids=[tokens[0] for tokens in sampled],
            logprobs=model_runner_output.logprobs.logprobs[:, 0].tolist(),
        )
        if model_runner_output.logprobs.logprobs.shape[1] > 1:
            decoded.top = (model_runner_output.logprobs.logprob_token_ids, model_runner_output.logprobs.logprobs)
        requests, max_len, hash_size = self.requests, self.max_model_len, self.hash_block_size
        stopped: set[Request] = set()
        for request_id, token in zip(decoded.request_ids, decoded.token_ids, strict=True):
            request = requests[request_id]
            request.num_in_flight_tokens -= 1
            output_ids, all_ids = request._output_token_ids, request._all_token_ids
            output_ids.append(token)
            all_ids.append(token)
            length = len(all_ids)
            if length % hash_size == 0:
                request.update_block_hashes()
            if (
                length >= max_len
                or len(output_ids) >= request.max_tokens
                or token in request.sampling_params.stop_token_ids
            ) and check_stop(request, max_len):
                decoded.finished[request_id] = str(request.get_finished_reason())
                self._handle_stopped_request(request)
                self._free_request(request)
                stopped.add(request)
        if stopped:
            self.running = remove_all(self.running, stopped)
        self._decoded = decoded
        return {}

    def _propose(self, boundary: list[int]) -> tuple[dict[str, list[int]], list[int]]:
        """Drafts by request id, if the KV cache has room for them, and indices of the running requests that start or
        fill a KV block (``boundary`` if there are no drafts)."""
        if self.speculator is None:
            return {}, boundary
        drafts = self.speculator.propose(
            self.running, most_tokens=self.max_num_scheduled_tokens, max_model_len=self.max_model_len
        )
        if not drafts:
            return {}, boundary
        size, needed, drafted_boundary = self.block_size, 0, []
        for index, request in enumerate(self.running):
            filled = request.num_computed_tokens % size
            after = filled + 1 + len(drafts.get(request.request_id, ()))
            if not filled or after >= size:
                drafted_boundary.append(index)
                needed += -(-after // size) - (filled > 0)
        if needed * len(self.kv_cache_config.kv_cache_groups) > self.kv_cache_manager.block_pool.get_num_free_blocks():
            self.speculator.withdraw()
            return {}, boundary
        return drafts, drafted_boundary

    def _take_drafted(self, drafts: dict[str, list[int]], output: ModelRunnerOutput) -> DecodedStep:
        """Results of a step with drafts."""
        assert output.logprobs is not None
        step = DecodedStep([], [], [], sampled={})
        assert step.sampled is not None
        rows: list[int] = []
        first = 0
        for request_id, tokens in zip(output.req_ids, output.sampled_token_ids, strict=True):
            request, drafted = self.requests[request_id], len(drafts.get(request_id, ()))
            request.num_in_flight_tokens -= 1 + drafted
            request.num_computed_tokens -= 1 + drafted - len(tokens)
            step.sampled[request_id] = len(tokens)
            taken = self._append(request, tokens, step)
            step.request_ids += [request_id] * taken
            step.token_ids += tokens[:taken]
            rows += range(first, first + taken)
            first += len(tokens)
        step.logprobs = output.logprobs.logprobs[rows, 0].tolist()
        if output.logprobs.logprobs.shape[1] > 1:
            step.top = (output.logprobs.logprob_token_ids[rows], output.logprobs.logprobs[rows])
        return step

    def _append(self, request: Request, tokens: list[int], step: DecodedStep) -> int:
        """Append tokens to a request up to the one that ends it. Returns their number."""
        for taken, token in enumerate(tokens, start=1):
            request.append_output_token_ids(token)
            if check_stop(request, self.max_model_len):
                step.finished[request.request_id] = str(request.get_finished_reason())
                self._handle_stopped_request(request)
                self._free_request(request)
                self.running.remove(request)
                return taken
        return len(tokens)

    def _preempt_request(self, request: Request, timestamp: float, drop_stale_output: bool = False) -> None:
        self.num_preemptions += 1
        super()._preempt_request(request, timestamp, drop_stale_output)

    def _admits(self, running: int) -> bool:
        """Whether waiting requests are admitted now. Such a step costs more than one that only decodes.

        If answers end one by one, admitting each successor immediately would leave no step for the short path.
        """
        most = self.max_num_active_reqs
        free = most - running
        return free >= max(1, most // ADMITTED_TOGETHER) or (free > 0 and self._short_steps >= ADMITTED_EVERY)

    def _short_path_boundary(self) -> list[int] | None:
        """Indices of running requests that start or fill a KV block; None if the general loop must decide."""
        running = self.running
        if (
            not self._short_path
            or not running
            or (self.waiting and self._admits(len(running)))
            or self.kv_holding_waiting
            or self._pause_state is not PauseState.UNPAUSED
            or len(running) > self.max_num_scheduled_tokens
        ):
            return None
        previous, size = self.prev_step_scheduled_req_ids, self.block_size
        boundary = []
        for index, request in enumerate(running):
            computed = request.num_computed_tokens
            if (
                len(request._all_token_ids) - computed != 1
                or request.is_prefill_chunk
                or request.request_id not in previous
            ):
                return None
            if computed % size == 0 or (computed + 1) % size == 0:
                boundary.append(index)
        needed = len(boundary) * len(self.kv_cache_config.kv_cache_groups)
        if needed > self.kv_cache_manager.block_pool.get_num_free_blocks():
            return None  # a request must be preempted
        return boundary
