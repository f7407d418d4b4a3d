"""Responses to requests for chat completions: whole documents, and chunks of a stream."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from typing import Any, Final

from worker.gateway.answers import ChosenToken, Piece
from worker.gateway.chat_request import ChatRequest
from worker.gateway.errors import ApiError
from worker.gateway.text import UNFINISHED

LEAST_LOGPROB: Final = -9999.0
"""Value for a token of probability 0, as in OpenAI's API: JSON has no infinity."""
DONE: Final = "data: [DONE]\n\n"


class ChatResponse:
    """The response to one request."""

    def __init__(self, request: ChatRequest, prompt_tokens: int, token_text: Callable[[int], str]) -> None:
        """
        Args:
            request: what was asked.
            prompt_tokens: number of tokens of the prompt.
            token_text: text of a token.
        """
        self._request, self._prompt_tokens, self._token_text = request, prompt_tokens, token_text
        self._generated = 0
        self._head = {"id": f"chatcmpl-{secrets.token_hex(12)}", "created": int(time.time()), "model": request.model}

    async def whole(self, pieces: AsyncIterator[Piece]) -> dict[str, Any]:
        """The document of a completion that is not streamed. Raises ApiError as ``pieces`` do."""
        choices = []
        async for piece in pieces:  # each is a whole choice
            self._generated += piece.generated
            message = {"role": "assistant", "content": piece.text, "refusal": None}
            choices.append({"index": piece.choice, "message": message, **self._rest(piece)})
        choices.sort(key=lambda choice: choice["index"])
        return {**self._head, "object": "chat.completion", "choices": choices, "usage": self._usage()}

    async def events(self, pieces: AsyncIterator[Piece]) -> AsyncGenerator[str, None]:
        """The server-sent events of a stream. An error ends it as an event of its own."""
        try:
            for choice in range(self._request.choices):
                yield self._chunk([_delta(choice, {"role": "assistant", "content": ""})])
            async for piece in pieces:
                self._generated += piece.generated
                if piece.text or piece.tokens:
                    rest = {**self._rest(piece), "finish_reason": None}
                    yield self._chunk([_delta(piece.choice, {"content": piece.text}, **rest)])
                if piece.finish is not None:
                    yield self._chunk([_delta(piece.choice, {}, finish_reason=piece.finish)])
        except ApiError as error:
            yield _event(error.document())
            return
        if self._request.include_usage:
            yield self._chunk([], self._usage())
        yield DONE

    def _chunk(self, choices: list[dict[str, Any]], usage: dict[str, int] | None = None) -> str:
        chunk = {**self._head, "object": "chat.completion.chunk", "choices": choices}
        return _event({**chunk, "usage": usage} if self._request.include_usage else chunk)

    def _rest(self, piece: Piece) -> dict[str, Any]:
        """The fields of a choice after its text."""
        wanted = self._request.logprobs
        logprobs = {"content": [self._token(token) for token in piece.tokens], "refusal": None} if wanted else None
        return {"logprobs": logprobs, "finish_reason": piece.finish}

    def _token(self, token: ChosenToken) -> dict[str, Any]:
        top = [self._one(*one) for one in token.top]
        return {**self._one(token.id, token.logprob), "top_logprobs": top}

    def _one(self, token: int, logprob: float) -> dict[str, Any]:
        text = self._token_text(token)
        own_bytes = None if UNFINISHED in text else list(text.encode())  # a part of a character has no known bytes
        return {"token": text, "logprob": max(logprob, LEAST_LOGPROB), "bytes": own_bytes}

    def _usage(self) -> dict[str, int]:
        total = self._prompt_tokens + self._generated
        return {
            "prompt_tokens": self._prompt_tokens,
            "completion_tokens": self._generated,
            "total_tokens": total,
        }


def models(names: Sequence[str], created: int) -> dict[str, Any]:
    """The list of the models that are served since ``created``, in Unix seconds."""
    data = [{"id": name, "object": "model", "created": created, "owned_by": "dressage"} for name in names]
    return {"object": "list", "data": data}


def _delta(choice: int, delta: dict[str, str], **rest: Any) -> dict[str, Any]:
    return {"index": choice, "delta": delta, "logprobs": None, "finish_reason": None, **rest}


def _event(document: dict[str, Any]) -> str:
    return f"data: {json.dumps(document, ensure_ascii=False, separators=(',', ':'))}\n\n"
