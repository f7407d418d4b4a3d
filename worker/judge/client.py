"""Judges as graders see them: any number of threads ask, one event loop keeps hundreds of questions in flight."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import uvloop

from trainer_core.rewards.graders.judge import JudgeError, JudgeReply, JudgeRequest
from worker.judge.cache import AnswerCache
from worker.judge.config import JudgeEndpoint
from worker.judge.endpoint import Answer, Endpoint
from worker.judge.retry import Transient, pause_s
from worker.judge.use import Tally
from worker.scoring.clock import Clock, outside


@dataclass(slots=True)
class _Judge:
    """An endpoint and the questions to it that may be under way."""

    config: JudgeEndpoint
    endpoint: Endpoint
    places: asyncio.Semaphore
    resume_at: float = 0.0
    """The endpoint has asked to be left alone until then, on the loop's clock."""


@dataclass(slots=True)
class _Asked:
    """A question that is under way, for all that ask it."""

    task: asyncio.Task[tuple[Answer, float]]
    began: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: int = 0


class JudgeClient:
    """See ``trainer_core.rewards.graders.judge.Judges``. Equal questions are asked once."""

    def __init__(
        self, endpoints: Mapping[str, tuple[JudgeEndpoint, Endpoint]], cache: AnswerCache, tally: Tally
    ) -> None:
        """``endpoints``: by slug."""
        self._cache, self._tally = cache, tally
        self._loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
        self._closed = False
        self._judges = {
            slug: _Judge(config, endpoint, asyncio.Semaphore(config.max_in_flight))
            for slug, (config, endpoint) in endpoints.items()
        }
        self._asked: dict[str, _Asked] = {}
        """By the hash of the question. Touched by the loop alone."""
        self._thread = threading.Thread(target=self._loop.run_forever, name="judges", daemon=True)
        self._thread.start()

    def ask(self, endpoint: str, request: JudgeRequest) -> JudgeReply:
        """See ``Judges.ask``."""
        return self.ask_all(endpoint, [request])[0]

    def ask_all(self, endpoint: str, requests: Sequence[JudgeRequest]) -> list[JudgeReply]:
        """See ``Judges.ask_all``."""
        judge = self._judge(endpoint)
        keys = [judge.config.key(request) for request in requests]
        found: dict[int, JudgeReply] = {}
        for place, key in enumerate(keys):
            answer = self._cache.get(key)
            if answer is not None:
                found[place] = _reply(answer, 0.0, cached=True)
        self._tally.found(len(found))
        left = [place for place in range(len(requests)) if place not in found]
        if left:
            with outside() as clock:
                questions = [self._share(judge, keys[place], requests[place], clock) for place in left]
                future = asyncio.run_coroutine_threadsafe(_all(questions), self._loop)
                clock.on_expiry(future.cancel)
                found.update(zip(left, future.result(), strict=True))
        return [found[place] for place in range(len(requests))]

    def forget(self, endpoint: str, request: JudgeRequest) -> None:
        """See ``Judges.forget``."""
        self._cache.forget(self._judge(endpoint).config.key(request))

    def agreed(self, kind: Literal["repeat", "swap"], share: float) -> None:
        """See ``Judges.agreed``."""
        self._tally.agreed(kind, share)

    def close(self) -> None:
        """Give up what is under way, and close connections and cache."""
        if self._closed:
            return
        self._closed = True
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._cache.close()

    def _judge(self, endpoint: str) -> _Judge:
        if self._closed:
            raise JudgeError("the judges were closed")
        judge = self._judges.get(endpoint)
        if judge is None:
            raise JudgeError(f"there is no judge endpoint {endpoint!r}")
        return judge

    # ── the event loop ──

    async def _share(self, judge: _Judge, key: str, request: JudgeRequest, clock: Clock) -> JudgeReply:
        """Ask, or wait for the same question that is under way. The last that gives up ends it."""
        asked = self._asked.get(key)
        first = asked is None
        if asked is None:
            began = asyncio.Event()
            asked = _Asked(self._loop.create_task(self._ask(judge, key, request, began)), began)
            asked.task.add_done_callback(partial(self._ended, key, asked))
            self._asked[key] = asked
        asked.waiting += 1
        try:
            await asked.began.wait()
            clock.begin()
            try:
                answer, seconds = await asyncio.shield(asked.task)
            finally:
                clock.end()
        finally:
            asked.waiting -= 1
            if not asked.waiting:
                self._drop(key, asked)
                asked.task.cancel()
        if not first:
            self._tally.found()
        return _reply(answer, seconds, cached=not first)

    async def _ask(self, judge: _Judge, key: str, request: JudgeRequest, began: asyncio.Event) -> tuple[Answer, float]:
        """Ask until there is an answer or no try is left. ``began`` is set with the first try."""
        started, tries = 0.0, judge.config.retries + 1
        for attempt in range(1, tries + 1):
            async with judge.places:
                while (rest := judge.resume_at - self._loop.time()) > 0 and not began.is_set():
                    await asyncio.sleep(rest)  # it has sent others away: nobody has begun yet who would lose time
                if not began.is_set():
                    started = time.perf_counter()
                    began.set()
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
        self._cache.put(key, answer)
        self._tally.answered(judge.config, answer, seconds)
        return answer, seconds

    def _ended(self, key: str, asked: _Asked, task: asyncio.Task[Any]) -> None:
        self._drop(key, asked)

    def _drop(self, key: str, asked: _Asked) -> None:
        """Nobody shall join this question any more."""
        asked.began.set()
        if self._asked.get(key) is asked:
            del self._asked[key]

    async def _close(self) -> None:
        tasks = [asked.task for asked in self._asked.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for judge in self._judges.values():
            await judge.endpoint.close()


async def _all(questions: Sequence[Coroutine[Any, Any, JudgeReply]]) -> list[JudgeReply]:
    """All answers, in order; where one fails the others are given up."""
    if len(questions) == 1:
        return [await questions[0]]
    tasks = [asyncio.ensure_future(question) for question in questions]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()


def _reply(answer: Answer, seconds: float, cached: bool) -> JudgeReply:
    return JudgeReply(answer.text, answer.prompt_tokens, answer.completion_tokens, seconds, cached)


def _times(tries: int) -> str:
    return "once" if tries == 1 else f"{tries} times"
