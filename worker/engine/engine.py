"""The rollout engine: vLLM in this process, stepped by its owner.

Pausing is not stepping. Between two steps the owner may submit, park, score, or replace the weights, with requests in
flight and nothing lost: a request continues after an update, and each of its tokens carries the version that produced
it.

    submit ──► [vLLM waiting ─► running] ──step()──► Completion
       ▲             ▲            │           │
       │             │          park()        │ thinking budget spent: the rest goes on as a new vLLM request
       │             │            ▼           │
       └── prefix ───┼──────── Partial        │
                     └─ prompt + thinking ◄───┘
                        + forced end
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from worker.engine.concurrency import CacheLoad, ConcurrencyController
from worker.engine.devices.driver import end_alone
from worker.engine.request.builder import RequestBuilder
from worker.engine.request.checks import check_request
from worker.engine.request.live import LiveRequest
from worker.engine.request.pruning import GroupPruner
from worker.engine.request.routes import RouteSource
from worker.engine.request.stops import StopSets
from worker.engine.scoring import NoRoomError, score_sequences
from worker.engine.speculation.speculator import Speculator
from worker.engine.startup import build_core, eos_token_ids
from worker.engine.types import (
    Completion,
    EngineConfig,
    EngineError,
    EngineStats,
    FinishReason,
    KvOnUpdate,
    PartialCompletion,
    Request,
    TokenProgress,
)

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray
    from vllm.v1.engine import EngineCoreOutputs

    from worker.engine.readback import ReadBack
    from worker.engine.scheduler import DecodedStep


class Halted(NamedTuple):
    """Requests that the last token stopped or may stop, regardless of what vLLM reports."""

    exhausted: list[LiveRequest]
    """Requests whose thinking budget is spent."""
    repeating: list[LiveRequest]
    stopped: list[LiveRequest]
    """Requests that have reached a stop string."""
    comparable: list[LiveRequest]
    """Requests that have reached the length at which pruning compares them."""


CONTROL_EVERY = 4
"""Engine steps between two updates of the concurrency controller."""

FINISH: dict[str, FinishReason] = {"stop": "stop", "length": "length", "abort": "aborted"}


class InferenceEngine:
    """An engine that runs one model. Not thread-safe: a single owner calls it."""

    def __init__(self, config: EngineConfig) -> None:
        parts = build_core(config)
        eos = eos_token_ids(config.model_dir) if config.stop_at_eos else ()
        self._config = config
        self._core = parts.core
        self._weights = parts.weights
        self._fp8 = parts.fp8
        self._routes = RouteSource(parts.runner) if config.routes else None
        self._max_model_len = parts.vllm_config.model_config.max_model_len
        self._vocab_size = parts.vllm_config.model_config.get_vocab_size()
        self._submission = RequestBuilder(self._vocab_size, eos, parts.core.request_block_hasher)
        self._live: dict[str, LiveRequest] = {}  # by request id
        self._by_core_id: dict[str, LiveRequest] = {}
        self._controller = (
            None if config.concurrency is None else ConcurrencyController(config.concurrency, most=config.max_num_seqs)
        )
        self._pruner = GroupPruner()
        self._stops = StopSets(config.model_dir, config.stop_strings)
        self._speculator = self._start_speculation(parts.runner) if config.speculation == "tail" else None
        self._outdone: list[str] = []  # to be pruned as soon as the step is settled
        self._steps = 0
        self._planned_preemptions = 0
        self._done: list[Completion] = []  # finished without a step: a budget of 0 that fills max_tokens
        self._broken: str | None = None
        self._generated_tokens = 0
        self._prompt_tokens = 0
        self._ended: Counter[FinishReason] = Counter()
        self._budget_violations = 0
        self._clock: tuple[float, float | None] = (0.0, None)
        """Seconds spent in finished steps, and when the current one began. One tuple, because other threads read it."""
        self._loads = 0
        self.version = config.version
        self.weights_key: str | None = None
        """Name that the caller who loaded the current weights gave them; None if it gave none."""

    def __enter__(self) -> InferenceEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def has_unfinished(self) -> bool:
        """Whether `step` still has anything to deliver."""
        return bool(self._live or self._done)

    @property
    def weight_shapes(self) -> dict[str, tuple[int, ...]]:
        """Hugging Face name and shape of every tensor `load_weights` needs."""
        return self._weights.shapes

    def submit(self, request: Request) -> None:
        """Queue a request. Raises `ValueError` for an empty, too long, out-of-vocabulary or duplicate one.

        A prefix that leaves no room for another token completes with the next step, as "length".
        """
        prompt, sampling = request.prompt_ids, request.sampling
        if request.request_id in self._live:
            raise ValueError(f"request {request.request_id!r} is already unfinished")
        check_request(request, max_model_len=self._max_model_len, vocab_size=self._vocab_size, think=self._config.think)
        limit = min(sampling.max_tokens, self._max_model_len - len(prompt))
        live = LiveRequest(
            request,
            self._config.think,
            limit=limit,
            version=self.version,
            vocab_size=self._vocab_size,
            stops=self._stops.of(sampling.stop_strings),
        )
        self._live[request.request_id] = live
        self._pruner.enter(request)
        self._prompt_tokens += len(prompt) + len(live.token_ids)
        if live.remaining <= 0:
            self._done.append(self._finish(live, "length"))
        elif live.thinking is not None and live.thinking.exhausted:
            self._force_end_of_thinking(live)
        else:
            self._enqueue(live)
        self._prune([live] if live.comparable else [])

    def step(self) -> list[Completion]:
        """Advance every running request by one token (and admit waiting ones). Returns what finished."""
        if self._broken is not None:
            raise EngineError(self._broken)
        busy_s, started = self._clock[0], time.perf_counter()
        self._clock = busy_s, started
        finished, self._done = self._done, []
        if self._by_core_id:
            outputs, _ = self._core.step_fn()
            decoded = self._core.scheduler.take_decoded()
            halted, ended = self._absorb_outputs(outputs) if decoded is None else self._absorb_decoded(decoded)
            if self._routes is not None:
                self._absorb_routes(self._routes)
            self._settle(halted, ended)
            self._steps += 1
            if self._speculator is not None:
                sampled = None if decoded is None else decoded.sampled or {}
                self._speculator.observe(time.perf_counter() - started, sampled)
            if self._controller is not None and self._steps % CONTROL_EVERY == 0:
                self._control(self._controller)
            finished += self._done
            self._done = []
        self._clock = busy_s + time.perf_counter() - started, None
        return finished

    def progress(self, request_id: str, start: int) -> TokenProgress:
        """Tokens of an unfinished request from index ``start`` on. Raises `KeyError` for an unknown one."""
        return self._live[request_id].progress(start)

    def park(self, request_ids: Iterable[str] | None = None) -> list[PartialCompletion]:
        """Remove these requests (None: all) in order of submission; waiting ones have an empty prefix.

        A later `Request.prefix`, here or in another engine, continues each of them. Unknown ids raise `KeyError` and
        park nothing. Finished requests are not parked: the next `step` delivers them.
        """
        lives = self._stop(request_ids)
        for live in lives:
            self._forget(live, ended=False)
        return [live.partial() for live in lives]

    def load_weights(
        self, version: int, tensors: Mapping[str, np.ndarray | torch.Tensor], *, kv: KvOnUpdate = "recompute"
    ) -> None:
        """Serve `tensors` (Hugging Face names) as `version` from the next step on. Requests may be running.

        With `kv="recompute"` running requests are preempted and their KV cache is recomputed under the new weights.
        With "keep" they continue with the keys and values of the old weights (a preempted one may still find its own).
        In both cases a request submitted later never sees keys and values of older weights. Raises
        `WeightsRefusedError` for unknown, missing, misshaped or non-finite tensors and leaves the old version serving.
        """
        checked = self._weights.check(tensors)
        self.weights_key = None
        try:
            self._weights.load(checked)
        except Exception as error:
            self._broken = (
                f"weights of version {version} were only partly written ({error}); load a full version to continue"
            )
            raise EngineError(self._broken) from error
        self._serve(version, kv)

    def load_changes(
        self,
        version: int,
        chain: Sequence[Mapping[str, torch.Tensor]],
        digests: Mapping[str, bytes],
        *,
        kv: KvOnUpdate = "recompute",
    ) -> str | None:
        """Apply `chain`, changes in version order, to the current weights and serve the result as `version`.

        See `trainer_core/update/formats/changes.py` for their format. `digests` maps tensor names to the digests of the
        expected results. Returns a reason if the changes cannot be applied or do not give the expected weights; the
        caller must then load the full weights. Raises `WeightsRefusedError` for invalid changes, like `load_weights`.
        """
        reason = self._broken or self._weights.refusal(chain)
        if reason is not None:
            return reason
        self.weights_key = None
        try:
            self._weights.change(chain, digests)
        except Exception as error:
            self._broken = (
                f"weights of version {version} were only partly written ({error}); load a full version to continue"
            )
            return self._broken
        self._serve(version, kv)
        return None

    def _serve(self, version: int, kv: KvOnUpdate) -> None:
        """Start to generate with the weights that have just been loaded."""
        self._broken = None
        self.version = version
        self._loads += 1
        for live in self._live.values():
            live.mark_version(version)
        if kv == "recompute":
            self.drop_kv()

    def score(self, sequences: list[list[int]]) -> list[list[float]]:
        """Log-probability of each token given its prefix (temperature 1, full vocabulary); lists of length n - 1.

        Requests in flight do not advance and keep their KV cache, unless it leaves no room for a sequence. Then they
        are preempted, which loses no tokens. Used for the probe after a weight update.
        """
        if self._broken is not None:
            raise EngineError(self._broken)
        try:
            return score_sequences(self._core, sequences, self._max_model_len)
        except NoRoomError:
            self.drop_kv()
            return score_sequences(self._core, sequences, self._max_model_len)

    def read_weights(self, columns: Mapping[int, NDArray[np.int64]]) -> list[ReadBack]:
        """Values of the serving weights as the kernels hold them: columns of matrices, by width, and whole vectors.

        Checkpoint tensors that no kernel holds unchanged are left out.
        """
        if self._broken is not None:
            raise EngineError(self._broken)
        return self._weights.reader.read(columns)

    @property
    def read_share(self) -> float:
        """Share of the checkpoint's values in tensors that ``read_weights`` can read."""
        return self._weights.reader.share

    def drop_kv(self) -> None:
        """Forget every cached key and value; running requests are preempted and recomputed, no token is lost."""
        before = self._core.scheduler.num_preemptions
        self._core.reset_prefix_cache(reset_running_requests=True)
        self._planned_preemptions += self._core.scheduler.num_preemptions - before

    def stats(self) -> EngineStats:
        """Current load, and totals since start."""
        scheduler = self._core.scheduler
        running, waiting = scheduler.get_request_counts()
        (busy_s, started), now = self._clock, time.perf_counter()
        return EngineStats(
            running=running,
            waiting=waiting,
            running_limit=scheduler.max_num_active_reqs,
            running_tokens=sum(request.num_tokens for request in scheduler.running),
            kv_usage=float(scheduler.get_kv_cache_usage()),
            preemptions=scheduler.num_preemptions,
            generated_tokens=self._generated_tokens,
            prompt_tokens=self._prompt_tokens,
            aborted=self._ended["aborted"] + self._ended["pruned"],
            repetitions=self._ended["repetition"],
            budget_violations=self._budget_violations,
            at=now,
            busy_s=busy_s if started is None else busy_s + now - started,
            fp8_simulated=None if self._fp8 is None else self._fp8 == "simulated",
            speculation=None if self._speculator is None else self._speculator.stats,
        )

    def close(self) -> None:
        """Free the model and the KV cache. Unfinished requests are dropped; park them first to keep their tokens."""
        self._live.clear()
        self._by_core_id.clear()
        if self._config.devices.count > 1:
            end_alone(self._core)
        else:
            self._core.shutdown()

    def _start_speculation(self, runner: Any) -> Speculator | None:
        """Enable drafts, if the scheduler supports them for this model."""
        from worker.engine.speculation.verification import DraftVerifier

        scheduler = self._core.scheduler
        if not scheduler.decodes_shortly:
            return None
        DraftVerifier(runner)
        scheduler.speculator = Speculator()
        return scheduler.speculator

    def _control(self, controller: ConcurrencyController) -> None:
        """Adjust the limit on running sequences. Preemptions caused by new weights say nothing about the cache."""
        scheduler = self._core.scheduler
        running, waiting = scheduler.get_request_counts()
        preemptions = scheduler.num_preemptions - self._planned_preemptions
        load = CacheLoad(running, waiting, self._ended.total(), float(scheduler.get_kv_cache_usage()), preemptions)
        scheduler.max_num_active_reqs = controller.update(load)

    def _enqueue(self, live: LiveRequest) -> None:
        """Submit the rest of `live` to vLLM as one request."""
        core_request = self._submission.next_segment(live, self._loads)
        self._by_core_id[live.core_id] = live
        if self._speculator is not None:
            self._speculator.enter(live.request.request_id, live.request.prompt_ids, live.token_ids)
        self._core.add_request(core_request)

    def _absorb_decoded(self, decoded: DecodedStep) -> tuple[Halted, dict[str, str]]:
        """Process a short-path step. Returns requests that need attention, and how others ended."""
        if decoded.sampled is not None:
            return self._absorb_drafted(decoded)
        if decoded.top is not None:
            self._absorb_top(decoded.request_ids, *decoded.top)
        return self._absorb_columns(decoded.request_ids, decoded.token_ids, decoded.logprobs), decoded.finished

    def _absorb_columns(self, core_ids: list[str], tokens: list[int], logprobs: list[float]) -> Halted:
        """Append one token to each request. Returns those that need attention. This is the hot loop."""
        by_core_id = self._by_core_id
        halted = Halted([], [], [], [])
        for core_id, token, logprob in zip(core_ids, tokens, logprobs, strict=True):
            live = by_core_id[core_id]
            self._append(live, token, logprob, halted)
            if live.comparable:
                halted.comparable.append(live)
        self._generated_tokens += len(tokens)
        return halted

    def _append(self, live: LiveRequest, token: int, logprob: float, halted: Halted) -> bool:
        """Append a sampled token. Returns whether the request just continues."""
        live.token_ids.append(token)
        live.logprobs.append(logprob)
        exhausted = live.thinking is not None and live.thinking.feed(live.token_ids)
        if live.repetition is not None and live.repetition.feed(live.token_ids, logprob):
            halted.repeating.append(live)
        elif live.stops is not None and live.stops.candidates[token] and live.stops.ends(live.token_ids):
            halted.stopped.append(live)
        elif exhausted:
            halted.exhausted.append(live)
        else:
            return True
        return False

    def _absorb_drafted(self, decoded: DecodedStep) -> tuple[Halted, dict[str, str]]:
        """Process a step with several tokens for some requests. Tokens after one that halts count as never sampled."""
        halted, ended = Halted([], [], [], []), dict(decoded.finished)
        top = decoded.top
        row = 0
        for core_id, rows in groupby(decoded.request_ids):
            live, end = self._by_core_id[core_id], row + len(list(rows))
            goes_on = True
            while goes_on and row < end:
                if top is not None and live.top is not None:
                    live.top.feed(top[0][row], top[1][row])
                goes_on = self._append(live, decoded.token_ids[row], decoded.logprobs[row], halted)
                self._generated_tokens += 1
                row += 1
            if row < end:
                ended.pop(core_id, None)  # it ended at a token that does not count
                row = end
            if live.comparable:
                halted.comparable.append(live)
        return halted, ended

    def _absorb_routes(self, source: RouteSource) -> None:
        """Give each request the routes of its own tokens. Rejected draft tokens are left out."""
        for core_id, first, routes in source.take():
            if (live := self._by_core_id.get(core_id)) is not None:
                live.routes.feed(first, routes[: live.computed - first])

    def _absorb_outputs(self, outputs: dict[int, EngineCoreOutputs] | None) -> tuple[Halted, dict[str, str]]:
        """The same for vLLM's own output objects, which steps with admissions or prefill produce."""
        ids: list[str] = []
        tokens: list[int] = []
        logprobs: list[float] = []
        ended: dict[str, str] = {}
        for batch in (outputs or {}).values():
            for output in batch.outputs:
                if output.finish_reason is not None:
                    ended[output.request_id] = str(output.finish_reason)
                if output.new_token_ids:
                    top = output.new_logprobs
                    if top.logprobs.shape[1] > 1:
                        self._absorb_top([output.request_id], top.logprob_token_ids, top.logprobs)
                    ids.append(output.request_id)
                    tokens.append(output.new_token_ids[0])
                    logprobs.append(float(output.new_logprobs.logprobs[0, 0]))
        return self._absorb_columns(ids, tokens, logprobs), ended

    def _absorb_top(self, core_ids: Sequence[str], token_ids: Any, logprobs: Any) -> None:
        """Give each request that wants the most likely tokens its row of them."""
        for row, core_id in enumerate(core_ids):
            live = self._by_core_id[core_id]
            if live.top is not None:
                live.top.feed(token_ids[row], logprobs[row])

    def _settle(self, halted: Halted, ended: Mapping[str, str]) -> None:
        """Deliver what ended in this step, and close thinking if the budget ran out before the request ended."""
        for live in halted.exhausted:
            if live.core_id not in ended:
                self._core.abort_requests([live.core_id])
                self._by_core_id.pop(live.core_id)
                self._force_end_of_thinking(live)
        for live in halted.repeating:
            if live.core_id not in ended:
                self._core.abort_requests([live.core_id])
                self._done.append(self._finish(live, "repetition"))
        # If a stop string and the length limit coincide, the stop string counts as the reason.
        ended = {**ended, **{live.core_id: "stop" for live in halted.stopped if live.core_id in ended}}
        for live in halted.stopped:
            if live.core_id not in ended:
                self._core.abort_requests([live.core_id])
                self._done.append(self._finish(live, "stop"))
        for core_id, reason in ended.items():
            if reason not in FINISH:
                raise EngineError(f"vLLM ended request {core_id!r} with {reason!r}")
            self._done.append(self._finish(self._by_core_id[core_id], FINISH[reason]))
        self._prune(halted.comparable)

    def _prune(self, comparable: list[LiveRequest]) -> None:
        """Rank samples within their groups, and end those that the rest of their group outranks."""
        for live in comparable:
            if live.request.request_id in self._live:
                self._outdone += self._pruner.look(live.request, live.confidence())
        while self._outdone:
            outdone = [request_id for request_id in self._outdone if request_id in self._live]
            self._outdone = []
            self._done += [self._finish(live, "pruned") for live in self._stop(outdone)]

    def _force_end_of_thinking(self, live: LiveRequest) -> None:
        """Inject the end of thinking and continue with the answer, if there is room for one."""
        assert live.thinking is not None
        live.force(live.thinking.force_end(live.token_ids))
        if live.remaining > 0:
            self._enqueue(live)
        else:
            self._done.append(self._finish(live, "length"))

    def _stop(self, request_ids: Iterable[str] | None) -> list[LiveRequest]:
        """Remove requests (None: all) from vLLM. Raises `KeyError` for an unknown one before anything stops."""
        ids = list(self._live) if request_ids is None else list(dict.fromkeys(request_ids))
        lives = [self._live[request_id] for request_id in ids]
        self._core.abort_requests([live.core_id for live in lives])
        return lives

    def _finish(self, live: LiveRequest, reason: FinishReason) -> Completion:
        self._ended[reason] += 1
        self._outdone += self._forget(live, ended=True)
        completion = live.complete(reason)
        self._budget_violations += live.breaks_budget(completion.sampled)
        return completion

    def _forget(self, live: LiveRequest, *, ended: bool) -> list[str]:
        """Drop a request. Returns the ids of those that pruning ends as a result."""
        request = live.request
        self._live.pop(request.request_id)
        self._by_core_id.pop(live.core_id, None)
        if self._speculator is not None:
            self._speculator.leave(request.request_id, ended=ended)
        return self._pruner.leave(request, ended=ended)
