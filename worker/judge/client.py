"""Judges as graders see them: many threads ask, and one event loop keeps hundreds of questions in flight."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import Literal

import uvloop

from trainer_core.link.judge import JudgeEndpoint
from trainer_core.link.judge_chat import Answer
from trainer_core.link.retry import Transient, pause_s
from trainer_core.rewards.graders.model.judge import JudgeError, JudgeReply, JudgeRequest
from worker.judge.cache import AnswerCache, request_key
from worker.judge.clock import Clock, outside
from worker.judge.endpoint import Endpoint
from worker.judge.use import Tally


@dataclass(slots=True)
class _Judge:
    """An endpoint and the limit on its questions in flight."""

    config: JudgeEndpoint
    endpoint: Endpoint
    places: asyncio.Semaphore
    resume_at: float = 0.0
    """Time on the loop's clock until which the endpoint has asked for a pause."""


@dataclass(slots=True, eq=False)
class _Asker:
    """A thread that waits for an answer. Callbacks serve it instead of a task, since hundreds wait at the same time."""

    clock: Clock
    reply: Future[JudgeReply] = field(default_factory=Future)
    question: _Question | None = None
    """Question that it waits for. Used only by the loop."""
    first: bool = True
    """False if it joined a question that was already in flight."""


@dataclass(slots=True, eq=False)
class _Question:
    """A question in flight, shared by all threads that ask it. Used only by the loop."""

    judge: _Judge
    key: str
    request: JudgeRequest
    askers: list[_Asker] = field(default_factory=list)
    began: bool = False
    task: asyncio.Task[tuple[Answer, float]] = field(init=False)

    def begin(self) -> None:
        """Start the first try. From now on the askers' clocks run."""
        self.began = True
        for asker in self.askers:
            asker.clock.begin()

    def join(self, asker: _Asker) -> None:
        """Add a waiting thread."""
        asker.question, asker.first = self, not self.askers
        self.askers.append(asker)
        if self.began:
            asker.clock.begin()

    def leave(self, asker: _Asker) -> None:
        """Remove a waiting thread."""
        asker.question = None
        self.askers.remove(asker)
        if self.began:
            asker.clock.end()


class JudgeClient:
    """Implements ``trainer_core.rewards.graders.judge.Judges``. Equal questions are asked once."""

    def __init__(
        self, endpoints: Mapping[str, tuple[JudgeEndpoint, Endpoint]], cache: AnswerCache, tally: Tally
    ) -> None:
        """``endpoints``: by slug."""
        self._cache, self._tally = cache, tally
        self._loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
        self._gate = threading.Lock()
        self._closed = False
        """Whether the client is closed. Set under the gate, so that nothing reaches the loop afterwards."""
        self._judges = {
            slug: _Judge(config, endpoint, asyncio.Semaphore(config.max_in_flight))
            for slug, (config, endpoint) in endpoints.items()
        }
        self._asked: dict[str, _Question] = {}
        """Questions in flight by their hash. Used only by the loop."""
        self._thread = threading.Thread(target=self._loop.run_forever, name="judges", daemon=True)
        self._thread.start()

    def ask(self, endpoint: str, request: JudgeRequest) -> JudgeReply:
        """Implements ``Judges.ask``."""
        return self.ask_all(endpoint, [request])[0]

    def ask_all(self, endpoint: str, requests: Sequence[JudgeRequest]) -> list[JudgeReply]:
        """Implements ``Judges.ask_all``."""
        judge = self._judge(endpoint)
        keys = [request_key(judge.config, request) for request in requests]
        found: dict[int, JudgeReply] = {}
        for place, key in enumerate(keys):
            answer = self._cache.get(key)
            if answer is not None:
                found[place] = _reply(answer, 0.0, cached=True)
        self._tally.found(len(found))
        left = [place for place in range(len(requests)) if place not in found]
        if left:
            with outside() as clock:
                replies = self._wait(clock, [(judge, keys[place], requests[place]) for place in left])
            found.update(zip(left, replies, strict=True))
        return [found[place] for place in range(len(requests))]

    def forget(self, endpoint: str, request: JudgeRequest) -> None:
        """Implements ``Judges.forget``."""
        self._cache.forget(request_key(self._judge(endpoint).config, request))

    def agreed(self, kind: Literal["repeat", "swap"], share: float) -> None:
        """Implements ``Judges.agreed``."""
        self._tally.agreed(kind, share)

    def close(self) -> None:
        """Cancel questions in flight, and close connections and cache."""
        with self._gate:
            if self._closed:
                return
            self._closed = True
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._cache.close()

    def _judge(self, endpoint: str) -> _Judge:
        judge = self._judges.get(endpoint)
        if judge is None:
            raise JudgeError(f"there is no judge endpoint {endpoint!r}")
        return judge

    def _on_loop(self, call: Callable[..., None], *args: object) -> bool:
        """Schedule a call on the loop. Returns false if the client is closed."""
        with self._gate:
            if not self._closed:
                self._loop.call_soon_threadsafe(call, *args)
            return not self._closed

    def _wait(self, clock: Clock, questions: Sequence[tuple[_Judge, str, JudgeRequest]]) -> list[JudgeReply]:
        """All replies, in order. If one fails or time is up, the others are cancelled."""
        askers = [_Asker(clock) for _ in questions]

        def give_up() -> None:
            for asker in askers:
                if asker.reply.cancel():
                    self._on_loop(self._leave, asker)  # a closed client has ended all questions itself

        if not self._on_loop(self._enter, questions, askers):
            raise JudgeError("the judges were closed")
        clock.on_expiry(give_up)
        ended: SimpleQueue[Future[JudgeReply]] = SimpleQueue()
        for asker in askers:
            asker.reply.add_done_callback(ended.put)
        try:
            for _ in askers:
                ended.get().result()  # in order of completion: a failure does not wait for slower ones
            return [asker.reply.result() for asker in askers]
        finally:
            give_up()

    # ── the event loop ──

    def _enter(self, questions: Sequence[tuple[_Judge, str, JudgeRequest]], askers: Sequence[_Asker]) -> None:
        """Ask, or join the same question if it is in flight."""
        for (judge, key, request), asker in zip(questions, askers, strict=True):
            if asker.reply.cancelled():
                continue
            question = self._asked.get(key)
            if question is None:
                question = self._asked[key] = _Question(judge, key, request)
                question.task = self._loop.create_task(self._ask(question))
                question.task.add_done_callback(partial(self._ended, question))
            question.join(asker)

    def _leave(self, asker: _Asker) -> None:
        """Remove a waiting thread; the last one to leave cancels the question."""
        question = asker.question
        if question is None:
            return
        question.leave(asker)
        if not question.askers:
            self._drop(question)
            question.task.cancel()

    async def _ask(self, question: _Question) -> tuple[Answer, float]:
        """Ask until there is an answer or no tries are left."""
        judge, request = question.judge, question.request
        started, tries = 0.0, judge.config.retries + 1
        for attempt in range(1, tries + 1):
            async with judge.places:
                while (rest := judge.resume_at - self._loop.time()) > 0 and not question.began:
                    await asyncio.sleep(rest)  # it has rejected others: no asker's clock runs yet
                if not question.began:
                    started = time.perf_counter()
                    question.begin()
                try:
                    answer = await judge.endpoint.ask(request)
                    break
                except Transient as error:
                    if attempt == tries:
                        self._tally.failed()
                        raise JudgeError(f"the judge {judge.config.model} failed {_times(tries)}: {error}") from None
                    pause = pause_s(attempt, error.after_s)
                    if error.after_s is not None:
                        judge.resume_at = max(judge.resume_at, self._loop.time() + pause)
                except JudgeError:
                    self._tally.failed()
                    raise
            await asyncio.sleep(pause)
        seconds = time.perf_counter() - started
        self._cache.put(question.key, answer)
        self._tally.answered(judge.config, answer, seconds)
        return answer, seconds

    def _ended(self, question: _Question, task: asyncio.Task[tuple[Answer, float]]) -> None:
        """Pass the result to all waiting threads."""
        self._drop(question)
        error = None if task.cancelled() else task.exception()
        for asker in list(question.askers):
            question.leave(asker)
            if task.cancelled():
                asker.reply.cancel()
            elif not asker.reply.set_running_or_notify_cancel():
                continue  # it has already given up
            elif error is not None:
                asker.reply.set_exception(error)
            else:
                if not asker.first:
                    self._tally.found()
                asker.reply.set_result(_reply(*task.result(), cached=not asker.first))

    def _drop(self, question: _Question) -> None:
        """Drop a question, so that no more threads join it."""
        if self._asked.get(question.key) is question:
            del self._asked[question.key]

    async def _close(self) -> None:
        tasks = [question.task for question in self._asked.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for judge in self._judges.values():
            await judge.endpoint.close()


def _reply(answer: Answer, seconds: float, cached: bool) -> JudgeReply:
    return JudgeReply(answer.text, answer.prompt_tokens, answer.completion_tokens, seconds, cached)


def _times(tries: int) -> str:
    return "once" if tries == 1 else f"{tries} times"
