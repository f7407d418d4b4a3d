"""Plain completions and embeddings as OpenAI-compatible endpoints speak them: texts without a chat template."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trainer_core.link.judge_chat import Answer, ChatCompletions
from trainer_core.link.retry import Transient
from trainer_core.rewards.graders.model.judge import JudgeError


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """A text that is continued as it stands, by the likeliest token at each place."""

    prompt: str
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors of texts."""

    vectors: list[list[float]]
    """One for each text, of any length but the same."""
    prompt_tokens: int


def completion_body(model: str, request: CompletionRequest) -> bytes:
    """The JSON of a continuation that is asked for."""
    fields = {"model": model, "prompt": request.prompt, "max_tokens": request.max_tokens, "temperature": 0.0}
    return json.dumps(fields).encode()


def embedding_body(model: str, texts: Sequence[str]) -> bytes:
    """The JSON of vectors that are asked for."""
    return json.dumps({"model": model, "input": list(texts), "encoding_format": "float"}).encode()


def read_completion(chat: ChatCompletions, status: int, body: str, after_s: float | None) -> Answer:
    """The continuation, whether or not it ended by itself. Raises as ``ChatCompletions.read``."""
    document = _document(chat, status, body, after_s, "/completions, which continues plain text")
    try:
        text = document["choices"][0]["text"]
        usage = document.get("usage") or {}
        if not isinstance(text, str):
            raise TypeError
        return Answer(text, int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError):
        raise Transient(f"its response is not a completion: {chat.excerpt(body)}") from None


def read_embeddings(chat: ChatCompletions, status: int, body: str, after_s: float | None, texts: int) -> Embedded:
    """Vectors of so many texts, in their order. Raises as ``ChatCompletions.read``."""
    document = _document(chat, status, body, after_s, "/embeddings, which computes vectors of texts")
    try:
        data = sorted(document["data"], key=lambda one: one["index"])
        vectors = [[float(value) for value in one["embedding"]] for one in data]
        tokens = int((document.get("usage") or {}).get("prompt_tokens") or 0)
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError):
        raise Transient(f"its response has no embeddings: {chat.excerpt(body)}") from None
    finite = all(math.isfinite(value) for one in vectors for value in one)
    if len(vectors) != texts or len({len(one) for one in vectors}) != 1 or not vectors[0] or not finite:
        raise Transient(f"it did not return {texts} vectors of one length: {chat.excerpt(body)}")
    return Embedded(vectors, tokens)


def _document(chat: ChatCompletions, status: int, body: str, after_s: float | None, path: str) -> dict[str, Any]:
    if status in (404, 405):
        raise JudgeError(f"the endpoint of {chat.model} answered {status}: it has no {path}")
    chat.require(status, body, after_s)
    try:
        return dict(json.loads(body))
    except (ValueError, TypeError, RecursionError):
        raise Transient(f"its response is not a JSON object: {chat.excerpt(body)}") from None
