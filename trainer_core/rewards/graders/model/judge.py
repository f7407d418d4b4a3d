"""Interface that graders ask of a judge, and how strictly its answer is read: JSON by schema and nothing else."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, Protocol, TypeVar

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from trainer_core.rewards.errors import GraderError

ENDPOINT_PATTERN = r"^[a-z0-9][a-z0-9_\-]{0,62}$"
"""Slug of a team's judge endpoint."""
TRIES = 3
"""Answers that are asked for before an unreadable judge is an error."""
_END_OF_THOUGHT = "</think>"
_ANOTHER_SEED = 1_000_003
T = TypeVar("T")


class JudgeError(GraderError):
    """The judge is missing, cannot be reached, or does not answer as asked: never a zero."""


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """One question."""

    messages: Sequence[Mapping[str, str]]
    """Chat messages, each ``{"role", "content"}``."""
    temperature: float | None = 0.0
    """None: the endpoint's own."""
    max_tokens: int = 1024
    seed: int | None = None
    response_format: Mapping[str, Any] | None = None
    """OpenAI's ``response_format``."""
    top_p: float | None = None
    reasoning_effort: str | None = None


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """One answer."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    """Time at the endpoint, waiting for a place left out; 0.0 from the cache."""
    cached: bool


class Judges(Protocol):
    """Judge endpoints by slug. Blocking and thread-safe."""

    def ask(self, endpoint: str, request: JudgeRequest) -> JudgeReply:
        """Raises JudgeError: no such endpoint, or no answer after all retries."""

    def ask_all(self, endpoint: str, requests: Sequence[JudgeRequest]) -> list[JudgeReply]:
        """All at once, in order. Raises JudgeError when one of them fails."""

    def forget(self, endpoint: str, request: JudgeRequest) -> None:
        """Keep the answer out of the cache: it was of no use."""

    def agreed(self, kind: Literal["repeat", "swap"], share: float) -> None:
        """Take note of how alike two answers to one question were, from 0 to 1."""


def require(judges: Judges | None) -> Judges:
    """``judges``, or the error that says why nothing was graded."""
    if judges is None:
        raise JudgeError("this grader asks a judge, which is reached only from the cluster")
    return judges


def schema_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """OpenAI's ``response_format`` for answers that fit ``schema``."""
    return {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": dict(schema)}}


def read_json(text: str, schema: Mapping[str, Any]) -> Any:
    """The answer as JSON.

    The whole answer must be the JSON: what a judge quotes from a completion is never picked out of prose. Thinking
    before it, up to the last closing tag, and a fence around it are allowed; a key that stands twice is not.

    Raises:
        JudgeError: it is no JSON, or does not fit ``schema``.
    """
    body = text.rpartition(_END_OF_THOUGHT)[2].strip()
    if body.startswith("```") and body.endswith("```"):
        body = body[3:-3].removeprefix("json").strip()
    try:
        value = json.loads(body, object_pairs_hook=_once, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise JudgeError(f"the judge's answer is no JSON: {_excerpt(text)}") from error
    problem = next(_validator(json.dumps(schema)).iter_errors(value), None)
    if problem is not None:
        raise JudgeError(f"the judge's answer is not of the asked form, {problem.message}: {_excerpt(text)}")
    return value


def ask_readable(
    judges: Judges | None, endpoint: str, requests: Sequence[JudgeRequest], read: Callable[[str], T]
) -> list[T]:
    """Ask all at once; ask again, with another seed, where the answer cannot be read.

    Args:
        read: makes something of an answer's text, or raises JudgeError.

    Raises:
        JudgeError: one could not be read after all tries, or the judge failed.
    """
    judges, found, open_ = require(judges), {}, dict(enumerate(requests))
    for left in reversed(range(TRIES)):
        replies = judges.ask_all(endpoint, list(open_.values()))
        for (place, request), reply in zip(list(open_.items()), replies, strict=True):
            try:
                found[place] = read(reply.text)
                del open_[place]
            except JudgeError:
                judges.forget(endpoint, request)
                if not left:
                    raise
                open_[place] = replace(request, seed=(request.seed or 0) + _ANOTHER_SEED)
        if not open_:
            break
    return [found[place] for place in range(len(requests))]


def with_instruction(messages: Sequence[Mapping[str, str]], instruction: str) -> list[dict[str, str]]:
    """``messages`` with ``instruction`` at the end of one leading system message: many chat templates take only one."""
    plain = [{"role": "system" if m["role"] == "developer" else m["role"], "content": m["content"]} for m in messages]
    if plain and plain[0]["role"] == "system":
        plain[0]["content"] = f"{plain[0]['content']}\n\n{instruction}"
        return plain
    return [{"role": "system", "content": instruction}, *plain]


@lru_cache(maxsize=64)
def _validator(schema: str) -> Any:
    return Draft202012Validator(json.loads(schema))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice")
    return value


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")


def _excerpt(text: str) -> str:
    return repr(text if len(text) <= 200 else f"{text[:200]}…")
