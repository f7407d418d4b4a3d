"""The web application: authentication, routes, and what becomes of a client that goes away."""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from hashlib import sha256
from typing import Any, Final, Protocol, TypeVar

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from worker.errors import StartError
from worker.gateway.answers import AnsweringEngine, Piece, Vocabulary, generate
from worker.gateway.chat_request import ChatRequest, read_request
from worker.gateway.chat_response import ChatResponse, models
from worker.gateway.errors import ApiError, refused

T = TypeVar("T")

MOST_BYTES: Final = 4 << 20
"""Largest body of a request."""
MOST_OPEN: Final = 1024
"""Most choices that are generated or wait at the same time. More are refused, so that a client learns of it."""
TRY_AGAIN_S: Final = 1


class ChatTokenizer(Vocabulary, Protocol):
    """The policy's tokenizer: ``worker.engine.tokenizer.PolicyTokenizer``."""

    def encode_rows(self, rows: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Token ids of each row's prompt. Raises StartError if the chat template refuses its messages."""

    def token_text(self, token_id: int) -> str:
        """Text of one token."""


class Gateway:
    """One served policy."""

    def __init__(
        self,
        model: str,
        engine: AnsweringEngine,
        tokenizer: ChatTokenizer,
        eos: Sequence[int],
        max_length: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Args:
            model: name by which requests call the policy.
            engine: generates.
            tokenizer: the policy's, with its chat template.
            eos: tokens that end a completion.
            max_length: most tokens of a prompt and its completion.
            clock: seconds, for ``idle_s``.
        """
        self._model, self._engine, self._tokenizer = model, engine, tokenizer
        self._eos, self._max_length = tuple(eos), max_length
        self._clock, self._created = clock, int(time.time())
        self._open, self._last = 0, clock()

    @property
    def idle_s(self) -> float:
        """Seconds since the last completion ended; 0 while one is generated."""
        return 0.0 if self._open else self._clock() - self._last

    async def models(self, request: Request) -> Response:
        """``GET /v1/models``."""
        return JSONResponse(models([self._model], self._created))

    async def chat_completions(self, request: Request) -> Response:
        """``POST /v1/chat/completions``."""
        asked = read_request(await _body(request))
        prompt = await run_in_threadpool(self._prompt, asked)
        if self._open + asked.choices > MOST_OPEN:
            message = f"More than {MOST_OPEN} completions are under way. Send the request again later."
            raise ApiError(429, message, code="rate_limit_exceeded")
        most_tokens = self._most_tokens(asked, len(prompt))
        samplings = [asked.sampling(choice, most_tokens) for choice in range(asked.choices)]
        answer = ChatResponse(asked, len(prompt), self._tokenizer.token_text)
        pieces = self._pieces(
            generate(self._engine, self._tokenizer, self._eos, prompt, samplings, piecewise=asked.stream),
            asked.choices,
        )
        if asked.stream:
            return _EventStream(answer.events(pieces), pieces)
        return JSONResponse(await _unless_disconnected(request, answer.whole(pieces)))

    def _prompt(self, asked: ChatRequest) -> tuple[int, ...]:
        if asked.model != self._model:
            message = f"There is no model {asked.model[:100]!r} here. Send model: {self._model!r}."
            raise ApiError(404, message, code="model_not_found", param="model")
        try:
            (prompt,) = self._tokenizer.encode_rows([{"messages": asked.messages}])
        except StartError as error:
            raise refused(str(error), "messages") from error
        return tuple(prompt.tolist())

    def _most_tokens(self, asked: ChatRequest, prompt: int) -> int:
        """Most tokens of each choice. Raises ApiError if the context does not hold them."""
        room = self._max_length - prompt
        wanted = asked.most_tokens or 1
        if wanted > room:
            message = (
                f"The messages have {prompt} tokens, and {wanted} are wanted for the answer; the model's context is "
                f"{self._max_length} tokens. Send shorter messages, or a smaller max_tokens."
            )
            raise refused(message, "messages", "context_length_exceeded")
        return asked.most_tokens or room

    async def _pieces(self, pieces: AsyncGenerator[Piece, None], choices: int) -> AsyncGenerator[Piece, None]:
        """The pieces; counts the request as open meanwhile."""
        with self._counted(choices):
            async with aclosing(pieces):
                async for piece in pieces:
                    yield piece

    @contextmanager
    def _counted(self, choices: int) -> Iterator[None]:
        self._open += choices
        try:
            yield
        finally:
            self._open -= choices
            self._last = self._clock()


def build_app(gateway: Gateway, key_sha256: str) -> Starlette:
    """The application of a gateway.

    Args:
        gateway: answers.
        key_sha256: SHA-256 of the key that every request must have, in hexadecimal digits.
    """
    app = Starlette(
        routes=[
            Route("/v1/models", gateway.models, methods=["GET"]),
            Route("/v1/chat/completions", gateway.chat_completions, methods=["POST"]),
        ],
        exception_handlers={
            ApiError: _refusal,
            HTTPException: _http_refusal,
            ClientDisconnect: _to_no_one,
            Exception: _fault,
        },
    )
    app.add_middleware(_Authentication, key_sha256=key_sha256)
    return app


class _Authentication:
    """Refuses requests without the key, before anything of them is read."""

    def __init__(self, app: ASGIApp, key_sha256: str) -> None:
        self._app, self._key_sha256 = app, key_sha256

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._has_key(Request(scope)):
            await self._app(scope, receive, send)
            return
        message = "The key is missing or wrong. Send the key of this serving as Authorization: Bearer …"
        error = ApiError(401, message, code="invalid_api_key")
        await JSONResponse(error.document(), 401, {"WWW-Authenticate": "Bearer"})(scope, receive, send)

    def _has_key(self, request: Request) -> bool:
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        given = sha256(key.strip().encode()).hexdigest()
        # Hashes of equal length: the time of the comparison says nothing about the key.
        return hmac.compare_digest(given, self._key_sha256) and scheme.lower() == "bearer"


class _EventStream(StreamingResponse):
    """Server-sent events. However the response ends, the engine drops what is unfinished."""

    def __init__(self, events: AsyncGenerator[str, None], pieces: AsyncGenerator[Piece, None]) -> None:
        super().__init__(events, media_type="text/event-stream", headers={"Cache-Control": "no-cache"})
        self._events, self._pieces = events, pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            # A cancelled task leaves generators suspended; without this they would end at the next garbage collection.
            await self._events.aclose()
            await self._pieces.aclose()


async def _body(request: Request) -> bytes:
    """The body. Raises ApiError for one that is too large, before more of it is read."""
    found = bytearray()
    async for chunk in request.stream():
        found += chunk
        if len(found) > MOST_BYTES:
            raise ApiError(413, f"The body is larger than {MOST_BYTES >> 20} MiB. Send shorter messages.")
    return bytes(found)


async def _unless_disconnected(request: Request, answer: Coroutine[Any, Any, T]) -> T:
    """The result of the coroutine ``answer``, which is cancelled if the client goes away."""
    working = asyncio.ensure_future(answer)
    leaving = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    headers = {"Retry-After": str(TRY_AGAIN_S)} if error.status == 429 else None
    return JSONResponse(error.document(), error.status, headers)


async def _http_refusal(request: Request, error: Exception) -> Response:
    """Refusals of Starlette's own: unknown paths and other methods."""
    assert isinstance(error, HTTPException)
    reasons = {
        404: "There is nothing at this address. Use /v1/models or /v1/chat/completions.",
        405: "This method is not supported here. Send GET to /v1/models, and POST to /v1/chat/completions.",
    }
    message = reasons.get(error.status_code, f"{error.detail}. Change the request.")
    return JSONResponse(ApiError(error.status_code, message).document(), error.status_code, error.headers)


async def _to_no_one(request: Request, error: Exception) -> Response:
    """The client has gone away: the response is dropped."""
    return Response()


async def _fault(request: Request, error: Exception) -> Response:
    """A fault of ours. The server logs it."""
    message = "The server failed at this request; its log says more. Try again, or tell the operator."
    return JSONResponse(ApiError(500, message).document(), 500)
