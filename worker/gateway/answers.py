"""The completions of one request: submitted to the engine together, and received piece by piece."""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from worker.engine import Completion, EngineError, Request, Sampling, TokenProgress, TopTokens
from worker.engine.thread import Listener
from worker.gateway.errors import ApiError, refused
from worker.gateway.text import GrowingText

FinishReason = Literal["stop", "length"]


class AnsweringEngine(Protocol):
    """The engine that answers: ``worker.engine.thread.EngineThread``."""

    def submit(self, request: Request, listener: Listener, *, wants_progress: bool = False) -> None:
        """Add a request. Raises EngineError if the engine has failed."""

    def abort(self, request_id: str) -> None:
        """Drop a request, unless it is over."""


class Vocabulary(Protocol):
    """The text of tokens, as ``worker.engine.tokenizer.PolicyTokenizer`` has it."""

    def text(self, token_ids: Sequence[int]) -> str:
        """Text of some tokens."""


@dataclass(frozen=True, slots=True)
class ChosenToken:
    """One token of a completion."""

    id: int
    logprob: float
    """Natural logarithm of its probability under the distribution that it was drawn from."""
    top: tuple[tuple[int, float], ...] = ()
    """The most likely tokens at its place, with their log-probabilities."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some text of one choice, and the tokens whose text begins in it."""

    choice: int
    text: str
    tokens: list[ChosenToken] = field(default_factory=list)
    finish: FinishReason | None = None
    """Reason the choice has ended, if it has."""
    generated: int = 0
    """Number of tokens that the engine generated for the choice, if it has ended."""


class _Event(NamedTuple):
    choice: int
    what: TokenProgress | Completion | Exception


_ids = itertools.count()


async def generate(
    engine: AnsweringEngine,
    vocabulary: Vocabulary,
    eos: Sequence[int],
    prompt: tuple[int, ...],
    samplings: Sequence[Sampling],
    *,
    piecewise: bool,
) -> AsyncGenerator[Piece, None]:
    """The pieces of all choices as they arrive; the last one of each has a finish reason.

    If the caller stops to iterate, or is cancelled, the engine drops what is unfinished.

    Args:
        engine: generates.
        vocabulary: turns tokens into text.
        eos: tokens that end a completion.
        prompt: token ids.
        samplings: one per choice.
        piecewise: whether pieces are wanted while a choice grows; otherwise each choice is one piece.

    Raises:
        ApiError: the engine refuses a request, or has failed.
    """
    inbox = _Inbox()
    texts = [GrowingText[ChosenToken](vocabulary.text, eos, sampling.stop_strings) for sampling in samplings]
    unfinished = {choice: f"chat-{next(_ids)}" for choice in range(len(samplings))}
    try:
        for choice, sampling in enumerate(samplings):
            request = Request(unfinished[choice], prompt, sampling)
            engine.submit(request, _Choice(inbox, choice), wants_progress=piecewise)
        while unfinished:
            for choice, what in await inbox.take():
                if isinstance(what, Exception):
                    raise what
                piece = _absorb(choice, texts[choice], what, piecewise=piecewise)
                if piece.finish is not None:
                    del unfinished[choice]
                if piece.text or piece.tokens or piece.finish is not None:
                    yield piece
    except ValueError as error:
        raise refused(f"The engine refuses the request: {error}.") from error
    except EngineError as error:
        message = f"The policy cannot answer: {error}. Serve it again; the log of the cluster says more."
        raise ApiError(503, message) from error
    finally:
        for request_id in unfinished.values():
            engine.abort(request_id)


def _absorb(choice: int, text: GrowingText[ChosenToken], what: TokenProgress | Completion, *, piecewise: bool) -> Piece:
    """Add tokens to a choice's text. Returns what can be sent."""
    if isinstance(what, TokenProgress):
        for token in _tokens(what):
            text.feed(token.id, token)
        released = text.take()
        return Piece(choice, released.text, released.tokens)
    if not piecewise:
        for token in _tokens(TokenProgress(what.token_ids, what.logprobs, what.top)):
            text.feed(token.id, token)
    released = text.end()
    finish: FinishReason = "stop" if what.finish_reason == "stop" else "length"
    return Piece(choice, released.text, released.tokens, finish, len(what.token_ids))


def _tokens(progress: TokenProgress) -> Iterator[ChosenToken]:
    for row, (token, logprob) in enumerate(zip(progress.token_ids, progress.logprobs, strict=True)):
        yield ChosenToken(token, logprob, () if progress.top is None else _row(progress.top, row))


def _row(top: TopTokens, row: int) -> tuple[tuple[int, float], ...]:
    return tuple(zip(top.token_ids[row].tolist(), top.logprobs[row].tolist(), strict=True))


class _Inbox:
    """Events from the engine's thread for one task of an event loop, which is woken once for all that has arrived."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._events: deque[_Event] = deque()
        self._filled = asyncio.Event()
        self._waking = False

    def put(self, event: _Event) -> None:
        """Add an event. Called in the engine's thread."""
        self._events.append(event)
        if not self._waking:
            self._waking = True
            with suppress(RuntimeError):  # the loop is closed: nothing waits any more
                self._loop.call_soon_threadsafe(self._wake)

    async def take(self) -> list[_Event]:
        """The events that have arrived; waits until there are some."""
        await self._filled.wait()
        self._filled.clear()
        return [self._events.popleft() for _ in range(len(self._events))]

    def _wake(self) -> None:
        self._waking = False  # before the events are taken: one that arrives now wakes the loop again
        self._filled.set()


class _Choice:
    """Implements ``Listener`` for one choice."""

    def __init__(self, inbox: _Inbox, choice: int) -> None:
        self._inbox, self._number = inbox, choice

    def progressed(self, progress: TokenProgress) -> None:
        self._inbox.put(_Event(self._number, progress))

    def ended(self, completion: Completion) -> None:
        self._inbox.put(_Event(self._number, completion))

    def failed(self, error: Exception) -> None:
        self._inbox.put(_Event(self._number, error))
