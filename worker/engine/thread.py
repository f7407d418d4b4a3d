"""An engine in a thread of its own, which callers of any thread send requests to: all of them run together."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol

from worker.engine.engine import InferenceEngine
from worker.engine.types import Completion, EngineConfig, EngineError, Request, TokenProgress


class Listener(Protocol):
    """Receives what becomes of one request. Called in the engine's thread, so it must not block."""

    def progressed(self, progress: TokenProgress) -> None:
        """Some more tokens. Called only for requests that want them, after each engine step that added some."""

    def ended(self, completion: Completion) -> None:
        """The whole completion. Nothing follows."""

    def failed(self, error: Exception) -> None:
        """The engine refused the request (ValueError), or cannot answer (EngineError). Nothing follows."""


@dataclass(slots=True)
class _Open:
    listener: Listener
    wants_progress: bool
    seen: int = 0
    """Number of tokens that the listener has received."""


class EngineThread:
    """One engine. All methods may be called from any thread."""

    def __init__(self) -> None:
        self._turn = threading.Condition()
        self._arrived: list[tuple[Request, _Open]] = []
        self._aborted: list[str] = []
        self._failure: EngineError | None = None
        self._open: dict[str, _Open] = {}
        """Requests in the engine, by id. Used by the engine's thread only."""

    def start(self, config: EngineConfig) -> None:
        """Load the model. Returns once it serves; raises what the engine's construction raises."""
        ready: Future[None] = Future()
        threading.Thread(target=self._main, args=(config, ready), name="engine", daemon=True).start()
        ready.result()

    def submit(self, request: Request, listener: Listener, *, wants_progress: bool = False) -> None:
        """Add a request to those that run. Its id must not be in use.

        Raises:
            EngineError: the engine has failed.
        """
        with self._turn:
            if self._failure is not None:
                raise self._failure
            self._arrived.append((request, _Open(listener, wants_progress)))
            self._turn.notify()

    def abort(self, request_id: str) -> None:
        """Drop a request: its listener hears nothing more after the current step. Does nothing if it is over."""
        with self._turn:
            self._aborted.append(request_id)
            self._turn.notify()

    def _main(self, config: EngineConfig, ready: Future[None]) -> None:
        try:
            engine = InferenceEngine(config)
        except BaseException as error:
            ready.set_exception(error)
            return
        ready.set_result(None)
        try:
            while True:
                self._admit(engine)
                self._step(engine)
        except BaseException as error:
            failure = EngineError(f"the engine has failed: {error}")
            with self._turn:
                self._failure = failure
                left = [*self._open.values(), *(one for _, one in self._arrived)]
            for one in left:
                one.listener.failed(failure)

    def _admit(self, engine: InferenceEngine) -> None:
        """Submit what has arrived and drop what was aborted; blocks while there is nothing to do."""
        with self._turn:
            while not (self._arrived or self._aborted or engine.has_unfinished):
                self._turn.wait()
            arrived, self._arrived = self._arrived, []
            aborted, self._aborted = self._aborted, []
        for request, one in arrived:
            self._open[request.request_id] = one
        for request, one in arrived:
            try:
                engine.submit(request)
            except (ValueError, EngineError) as error:
                del self._open[request.request_id]
                one.listener.failed(error)
        for request_id in aborted:
            if self._open.pop(request_id, None) is not None:
                engine.park([request_id])

    def _step(self, engine: InferenceEngine) -> None:
        for completion in engine.step():
            one = self._open.pop(completion.request_id)
            if one.wants_progress and len(completion.token_ids) > one.seen:
                one.listener.progressed(_rest(completion, one.seen))
            one.listener.ended(completion)
        for request_id, one in self._open.items():
            if one.wants_progress:
                progress = engine.progress(request_id, one.seen)
                if progress.token_ids:
                    one.seen += len(progress.token_ids)
                    one.listener.progressed(progress)


def _rest(completion: Completion, start: int) -> TokenProgress:
    top = None if completion.top is None else completion.top.since(start)
    return TokenProgress(completion.token_ids[start:], completion.logprobs[start:], top)
