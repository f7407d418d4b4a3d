"""A rollout worker: one engine in one Ray actor, stepped by its own thread, which never waits while it has work.

    submit · update · park ──► inbox ──► [engine thread: step, step, step …] ──► finished groups ──► collect
                                  processed in order between two engine steps; an item that must
                                  run alone waits for the engine to be idle, and later items wait for it

Ray's threads only queue and wait; only the engine's thread touches the engine.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ray

from worker.cluster.cores import CoreShare, usable_cores
from worker.engine import Completion, EngineConfig, InferenceEngine, KvOnUpdate, Request, SampleGroup, Sampling
from worker.engine.request.follow_up import follow_up
from worker.engine.types import PartialCompletion
from worker.messages.chunk import pack
from worker.messages.episode import Dialogue
from worker.messages.jobs import Collected, EngineLoad, EngineSpan, GroupJob, Parked, Submission, Updated
from worker.seeds import derive_seed

if TYPE_CHECKING:
    from trainer_core.link.rehearsal import DevicePeak
    from worker.environments.host import EnvironmentHost, Reply
    from worker.learner.weights import WeightBundle, WeightHandle
    from worker.messages.probe import Floor, ProbeFigures

FLUSH_S = 0.02
"""A finished group is sent after this time at the latest. Groups that finish before then share its message."""
SAMPLED_EVERY = 8
"""Engine steps between two samples of the engine's load."""


@dataclass(slots=True)
class _Item:
    """A task for the engine's thread, to be done between two steps."""

    run: Callable[[], Any]
    alone: bool
    future: Future[Any]


@dataclass(slots=True)
class _Live:
    """A group that is being generated."""

    job: GroupJob
    requests: dict[str, int]
    """Unfinished samples, by request id."""
    done: dict[int, Completion]
    dialogues: dict[int, Dialogue] = field(default_factory=dict)
    """Conversations by sample, if there is an environment."""
    waiting: dict[int, Completion] = field(default_factory=dict)
    """Samples whose turn has ended, and which wait for their environment."""
    prompt: tuple[int, ...] = ()
    """Token ids of the prompt, shared by all requests."""

    @property
    def ended(self) -> bool:
        """Whether all samples are done."""
        return not self.requests and not self.waiting


class RolloutWorker:
    """Ray actor. ``submit``, ``update`` and ``park`` take effect in the order of the calls."""

    def __init__(self, cores: str | None = None) -> None:
        """Share the host's cores with the processes on the board ``cores``, if there is one."""
        self._board = cores
        self._cores: CoreShare | None = None
        self._turn = threading.Condition()
        self._inbox: deque[_Item] = deque()
        self._ready: Future[float] = Future()
        self._failure: BaseException | None = None
        self._live: dict[str, _Live] = {}
        self._owner: dict[str, _Live] = {}
        """Group of each unfinished request."""
        self._replies: deque[Callable[[], None]] = deque()
        """Answers of environments. They precede the inbox, since items that must run alone wait for them."""
        self._environments: EnvironmentHost | None = None
        self._numbers = 0
        self._finished: list[_Live] = []
        self._finished_at = 0.0
        """Time at which the oldest of ``_finished`` finished."""
        self._flush = 1
        """Number of finished groups that are sent together."""
        self._ticks = self._steps = 0
        self._running_sum, self._kv_usage = 0.0, 0.0
        self._paused_at: float | None = None
        self._pauses: list[float] = []
        self._spans: list[EngineSpan] = []
        self._since: float | None = None
        """Start of the current period of generation."""
        self._unproved = False
        """Whether the engine holds weights that have not passed their probe."""

    def start(self, config: EngineConfig) -> float:
        """Build the engine. Returns the seconds it took; raises ``EngineError`` with a sentence."""
        threading.Thread(target=self._main, args=(config,), name="engine", daemon=True).start()
        return self._ready.result()

    def submit(self, submission: Submission) -> None:
        """Sample these groups; they come out of ``collect``."""
        self._enqueue(lambda: self._begin(submission), submission.alone)

    def update(
        self, weights: WeightHandle, tolerance: float, floor: Floor | None, kv: KvOnUpdate, alone: bool
    ) -> Updated:
        """Serve new weights and prove it. If the first probe fails, loads all weights again and repeats it.

        Args:
            weights: the version, fetched while the engine keeps generating.
            tolerance: largest mean difference that may count as noise, in nats.
            floor: the initial noise; None to measure it.
            kv: what happens to the keys and values of running sequences.
            alone: wait for the running sequences to finish.

        Raises:
            ProbeFailed: the second probe has failed too. Nothing is generated until an update passes.
            WeightsUnread: the weights cannot be fetched. The engine continues with its current ones.
        """
        if self._failure is not None:
            raise self._failure
        bundle = weights.open()
        bundle.fetch(self._engine.weights_key)
        answer: Updated = self._enqueue(lambda: self._update(bundle, tolerance, floor, kv), alone).result()
        return answer

    def sample(self, prompts: list[list[int]], max_tokens: int, seed: int) -> list[list[int]]:
        """Continuations of the prompts by the policy, at temperature 1, separate from the run's own groups."""
        said: list[list[int]] = self._enqueue(lambda: self._sample(prompts, max_tokens, seed), True).result()
        return said

    def score(self, sequences: list[list[int]]) -> list[list[float]]:
        """Log-probability, at temperature 1, of each token except the first, under the weights served in its turn."""
        scores: list[list[float]] = self._enqueue(lambda: self._engine.score(sequences), False).result()
        return scores

    def peak(self, dtype: str) -> DevicePeak:
        """Peak of the engine's device in this number type, measured while the engine is idle."""
        found: DevicePeak = self._enqueue(lambda: _peak(dtype), True).result()
        return found

    def park(self) -> dict[str, Parked]:
        """Stop all unfinished groups and return them, by name."""
        parked: dict[str, Parked] = self._enqueue(self._park, False).result()
        return parked

    @ray.method(concurrency_group="collect")
    def collect(self, patience_s: float) -> Collected:
        """Finished groups. Waits up to ``patience_s`` for one, and a moment longer for more."""
        deadline = time.monotonic() + patience_s
        with self._turn:
            while True:
                if self._failure is not None:
                    raise self._failure
                now = time.monotonic()
                flush = self._finished_at + FLUSH_S if self._finished else deadline
                if len(self._finished) >= self._flush or (self._finished and not self._live) or now >= flush:
                    break
                self._turn.wait(min(flush, deadline) - now)
            finished, self._finished = self._finished, []
            pauses, self._pauses = self._pauses, []
            spans, self._spans = self._take_spans(), []
            kv_usage, self._kv_usage = self._kv_usage, 0.0
            load = self._load()
        rows = [(i, [live.done[sample] for sample in range(live.job.samples)]) for i, live in enumerate(finished)]
        talks = (
            [live.dialogues.get(sample, Dialogue()) for live in finished for sample in range(live.job.samples)]
            if any(live.job.episode for live in finished)
            else []
        )
        return Collected(
            names=tuple(live.job.name for live in finished),
            chunk=pack(rows, talks) if rows else None,
            load=load,
            kv_usage=kv_usage,
            pauses=tuple(pauses),
            spans=tuple(spans),
        )

    # ── the engine's thread ──

    def _main(self, config: EngineConfig) -> None:
        started = time.perf_counter()
        self._config = config
        try:
            self._engine = InferenceEngine(config)
        except BaseException as error:
            self._fail(error)
            self._ready.set_exception(error)
            return
        if self._board is not None:
            import torch

            self._cores = CoreShare(self._board, torch.set_num_threads)
        self._ready.set_result(time.perf_counter() - started)
        try:
            while True:
                self._obey()
                self._step()
        except BaseException as error:
            self._fail(error)

    def _obey(self) -> None:
        """Process the inbox; wait for new items if there is nothing to generate."""
        while True:
            with self._turn:
                self._ticks += 1
                while not self._replies and not self._obeys() and (self._unproved or not self._owner):
                    self._rest()
                    self._turn.wait()
                    self._ticks += 1
                replies, self._replies = self._replies, deque()
                item = self._inbox.popleft() if not replies and self._obeys() else None
            for reply in replies:
                reply()
            if replies:
                continue
            if item is None:
                return
            try:
                item.future.set_result(item.run())
            except BaseException as error:
                item.future.set_exception(error)

    def _obeys(self) -> bool:
        """Whether the next item can be done now. Called with the lock held."""
        return bool(self._inbox) and not (self._inbox[0].alone and self._live and not self._unproved)

    def _step(self) -> None:
        engine = self._engine
        self._work()
        if self._since is None:
            self._since = time.time()
        completions = engine.step()
        if self._paused_at is not None:
            self._pauses.append(time.perf_counter() - self._paused_at)
            self._paused_at = None
        self._steps += 1
        if self._steps % SAMPLED_EVERY == 1:
            now = engine.stats()
            self._kv_usage = max(self._kv_usage, now.kv_usage)
            self._running_sum += now.running * SAMPLED_EVERY
        for completion in completions:
            self._settle(completion)

    def _settle(self, completion: Completion) -> None:
        live = self._owner.pop(completion.request_id)
        sample = live.requests.pop(completion.request_id)
        if live.job.episode is not None and completion.finish_reason == "stop":
            self._ask(live, sample, completion)
        else:
            self._finish(live, sample, completion)

    def _finish(self, live: _Live, sample: int, completion: Completion) -> None:
        """A sample is done, and with the last one its group."""
        live.done[sample] = completion
        if live.ended:
            with self._turn:
                self._hand_over(live)

    def _hand_over(self, live: _Live) -> None:
        """Hand over a finished group. Called with the lock held."""
        del self._live[live.job.name]
        if not self._finished:
            self._finished_at = time.monotonic()
        self._finished.append(live)
        self._turn.notify_all()

    def _ask(self, live: _Live, sample: int, completion: Completion) -> None:
        """Have the environment answer the policy's turn, while the engine continues with other requests."""
        task = live.job.episode
        assert task is not None
        if self._environments is None:
            from worker.environments.host import EnvironmentHost

            self._environments = EnvironmentHost(Path(self._config.model_dir))
        live.waiting[sample] = completion
        dialogue = live.dialogues.setdefault(sample, Dialogue())

        def answer(reply: Reply) -> None:
            with self._turn:
                self._replies.append(lambda: self._continue(live, sample, completion, reply))
                self._turn.notify_all()

        self._environments.submit(task, dialogue, completion.token_ids, answer)

    def _continue(self, live: _Live, sample: int, completion: Completion, reply: Reply) -> None:
        """Continue a sample after its environment's answer, or end it."""
        if self._live.get(live.job.name) is not live:
            return  # it was parked in the meantime: the answer is requested again when it resumes
        del live.waiting[sample]
        before, live.dialogues[sample] = live.dialogues[sample], reply.dialogue
        sampling = self._sampling(live.job, sample)
        if not reply.token_ids:
            self._finish(live, sample, completion)
            return
        if len(completion.token_ids) + len(reply.token_ids) >= self._room(live, sampling):
            live.dialogues[sample] = replace(reply.dialogue, turns=before.turns)
            self._finish(live, sample, replace(completion, finish_reason="length"))
            return
        self._send(live, sample, follow_up(completion, reply.token_ids, sampling, self._config.think))

    def _begin(self, submission: Submission) -> None:
        import torch

        if not self._live:
            torch.manual_seed(submission.seed)
        self._flush = submission.flush
        for job in submission.groups:
            done = dict(job.parked.completions) if job.parked else {}
            dialogues = dict(job.parked.dialogues) if job.parked else {}
            live = _Live(job, {}, done, dialogues, prompt=tuple(job.prompt.tolist()))
            self._live[job.name] = live
            for sample in range(job.samples):
                if sample in done:
                    continue
                prefix = job.parked.prefixes.get(sample) if job.parked else None
                if prefix is not None and live.dialogues.get(sample, Dialogue()).waiting:
                    self._ask(live, sample, _ended(prefix))
                else:
                    self._send(live, sample, prefix)
            if live.ended:
                with self._turn:
                    self._hand_over(live)

    def _send(self, live: _Live, sample: int, prefix: PartialCompletion | None) -> None:
        """Give a sample to the engine."""
        job = live.job
        self._numbers += 1
        request_id = str(self._numbers)
        prompt = tuple(job.asks[sample].prompt.tolist()) if job.asks else live.prompt
        group = SampleGroup(job.name, job.samples)
        sampling = self._sampling(job, sample)
        self._engine.submit(Request(request_id, prompt, sampling, prefix=prefix, group=group))
        live.requests[request_id] = sample
        self._owner[request_id] = live

    def _room(self, live: _Live, sampling: Sampling) -> int:
        """Most tokens after the prompt."""
        longest = max([len(live.prompt), *(len(ask.prompt) for ask in live.job.asks)])
        return min(sampling.max_tokens, self._config.max_model_len - longest)

    def _sampling(self, job: GroupJob, sample: int) -> Sampling:
        """Sampling of one sample of a group."""
        sampling = job.sampling
        if sampling.seed is not None:
            # Halved: for a continued request, the engine counts up from its seed.
            sampling = replace(sampling, seed=derive_seed(sampling.seed, sample) // 2)
        return replace(sampling, forced_end_ids=job.asks[sample].forced_end_ids) if job.asks else sampling

    def _update(self, bundle: WeightBundle, tolerance: float, floor: Floor | None, kv: KvOnUpdate) -> Updated:
        running, began, at = bool(self._live), time.perf_counter(), time.time()
        self._close_span(at)
        self._work()
        self._unproved = True  # nothing is generated until the probe passes, whatever happens here
        found = self._apply(bundle, tolerance, floor, kv)
        self._unproved = False
        if running:
            self._paused_at = began
        with self._turn:
            self._spans.append(EngineSpan("update", at, time.time()))
        return Updated(bundle.version, found)

    def _apply(self, bundle: WeightBundle, tolerance: float, floor: Floor | None, kv: KvOnUpdate) -> ProbeFigures:
        """Load and probe, at most twice: a single loss during transfer does not stop a run."""
        from worker.learner.probe.check import apply_and_probe
        from worker.learner.probe.errors import ProbeFailed

        try:
            return apply_and_probe(self._engine, bundle, tolerance, floor, kv=kv)
        except ProbeFailed as first:
            # Running sequences may have keys and values that belong to no version's weights.
            found = apply_and_probe(self._engine, bundle, tolerance, floor, kv="recompute", whole=True)
            return replace(found, retried=str(first))

    def _sample(self, prompts: list[list[int]], max_tokens: int, seed: int) -> list[list[int]]:
        said: dict[str, list[int]] = {}
        for number, prompt in enumerate(prompts):
            sampling = Sampling(1.0, max_tokens=max_tokens, seed=derive_seed(seed, number) // 2)
            self._engine.submit(Request(f"probe-{number}", tuple(prompt), sampling))
        while len(said) < len(prompts):
            said |= {done.request_id: [int(token) for token in done.token_ids] for done in self._engine.step()}
        return [said[f"probe-{number}"] for number in range(len(prompts))]

    def _park(self) -> dict[str, Parked]:
        partials = {partial.request_id: partial for partial in self._engine.park()}
        parked = {}
        for name, live in self._live.items():
            prefixes = {sample: partials[request_id] for request_id, sample in live.requests.items()}
            dialogues = dict(live.dialogues)
            for sample, completion in live.waiting.items():
                prefixes[sample] = follow_up(completion, (), live.job.sampling, self._config.think)
                dialogues[sample] = replace(dialogues[sample], waiting=True)
            parked[name] = Parked(live.done, prefixes, dialogues)
        with self._turn:
            self._replies.clear()
            self._live.clear()
            self._owner.clear()
        return parked

    # ── helpers ──

    def _enqueue(self, run: Callable[[], Any], alone: bool) -> Future[Any]:
        item = _Item(run, alone, Future())
        with self._turn:
            if self._failure is not None:
                raise self._failure
            self._inbox.append(item)
            self._turn.notify_all()
        return item.future

    def _fail(self, error: BaseException) -> None:
        with self._turn:
            self._failure = error
            for item in self._inbox:
                item.future.set_exception(error)
            self._turn.notify_all()

    def _rest(self) -> None:
        """Stop using the cores: nothing is left to generate. Called with the lock held."""
        if self._cores is not None:
            self._cores.rest()
        self._close_span(time.time())
        self._turn.notify_all()

    def _work(self) -> None:
        """Take this engine's share of the cores, if they are shared."""
        if self._cores is not None:
            self._cores.work()

    def _close_span(self, end: float) -> None:
        if self._since is not None:
            self._spans.append(EngineSpan("generate", self._since, end))
            self._since = None

    def _take_spans(self) -> list[EngineSpan]:
        spans = self._spans
        if self._since is not None:
            now = time.time()
            spans = [*spans, EngineSpan("generate", self._since, now)]
            self._since = now
        return spans

    def _load(self) -> EngineLoad:
        stats = self._engine.stats()
        return EngineLoad(
            at=stats.at,
            busy_s=stats.busy_s,
            ticks=self._ticks,
            idle=self._unproved or not self._live,
            running_tokens=stats.running_tokens,
            running_sum=self._running_sum,
            steps=self._steps,
            generated_tokens=stats.generated_tokens,
            preemptions=stats.preemptions,
            budget_violations=stats.budget_violations,
            fp8_simulated=stats.fp8_simulated,
            speculation=stats.speculation,
        )


def _ended(prefix: PartialCompletion) -> Completion:
    """A parked turn that had ended, as the completion that it was."""
    thinking = prefix.thinking
    return Completion(
        request_id=prefix.request_id,
        prompt_ids=prefix.prompt_ids,
        token_ids=prefix.token_ids,
        logprobs=prefix.logprobs,
        versions=prefix.versions,
        sampled=prefix.sampled,
        finish_reason="stop",
        thinking_tokens=0 if thinking is None else thinking.spent,
        budget_hit=thinking is not None and thinking.budget_hit,
        started_at=(now := time.monotonic()) - prefix.seconds,
        finished_at=now,
        top=prefix.top,
        routes=prefix.routes,
    )


def _peak(dtype: str) -> DevicePeak:
    import torch

    from trainer_core.link.rehearsal import DevicePeak
    from worker.learner.peak import measure_peaks

    gpu = torch.cuda.is_available()
    peaks = measure_peaks("cuda" if gpu else "cpu", (dtype,), usable_cores())
    return DevicePeak(operations_per_s=peaks[dtype], gpu=gpu)


def rollout_actor_class() -> Any:
    """The Ray class: one thread for calls, in order, and one that waits for finished groups."""
    return ray.remote(concurrency_groups={"collect": 1})(RolloutWorker)
