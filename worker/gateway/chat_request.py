"""Requests for chat completions: what OpenAI's API allows and an engine can do. Everything else is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails, from_json

from worker.engine import Sampling
from worker.gateway.errors import ApiError, refused

MOST_CHOICES: Final = 128
MOST_STOPS: Final = 4
MOST_TOP: Final = 20
MOST_MESSAGES: Final = 4096

NOTHING_ASKED: Final[Mapping[str, frozenset[str]]] = {
    "frequency_penalty": frozenset({"0", "0.0"}),
    "presence_penalty": frozenset({"0", "0.0"}),
    "logit_bias": frozenset({"{}"}),
    "response_format": frozenset({'{"type": "text"}'}),
    "tools": frozenset({"[]"}),
    "tool_choice": frozenset({'"none"'}),
    "modalities": frozenset({'["text"]'}),
    "store": frozenset({"false"}),
}
"""Values, as JSON, of fields that are not supported, which ask for nothing and are therefore accepted."""
REMEDIES: Final[Mapping[str, str]] = {
    "tools": "Describe the tools in a message, and read the calls from the policy's text.",
    "tool_choice": "Describe the tools in a message, and read the calls from the policy's text.",
    "functions": "Describe the functions in a message, and read the calls from the policy's text.",
    "response_format": "Describe the format in a message, and check the answer.",
    "reasoning_effort": "Ask for it in a message.",
    "top_k": "Use top_p.",
}
"""Advice for fields that are not supported."""


class _BodyPart(BaseModel):
    """Base of the parts of a body."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class TextPart(_BodyPart):
    """A part of a message."""

    type: Literal["text"]
    text: str


class ChatMessage(_BodyPart):
    """A message of the conversation."""

    role: Literal["system", "user", "assistant"]
    content: str | list[TextPart]

    @property
    def text(self) -> str:
        """The whole text: parts follow one another without a separator."""
        return self.content if isinstance(self.content, str) else "".join(part.text for part in self.content)


class StreamOptions(_BodyPart):
    """Options of a stream."""

    include_usage: bool = False


class ChatBody(_BodyPart):
    """The supported fields of a request, with OpenAI's defaults."""

    model: str
    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=MOST_MESSAGES)]
    stream: bool = False
    stream_options: StreamOptions | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] = 1.0
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    stop: (
        Annotated[str, Field(min_length=1, max_length=256)]
        | Annotated[list[Annotated[str, Field(min_length=1, max_length=256)]], Field(max_length=MOST_STOPS)]
        | None
    ) = None
    n: Annotated[int, Field(ge=1, le=MOST_CHOICES)] = 1
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] | None = None
    logprobs: bool = False
    top_logprobs: Annotated[int, Field(ge=0, le=MOST_TOP)] = 0


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request as the engine needs it."""

    model: str
    messages: list[dict[str, str]]
    """``{role, content}``, with the content as text."""
    choices: int
    stream: bool
    include_usage: bool
    logprobs: bool
    most_tokens: int | None
    """Most tokens of each choice; None for as many as the model's context holds."""
    temperature: float
    top_p: float
    stops: tuple[str, ...]
    seed: int | None
    top_logprobs: int

    def sampling(self, choice: int, most_tokens: int) -> Sampling:
        """Sampling of one choice. Each has a seed of its own, so that choices of a seeded request differ.

        Args:
            choice: index of the choice.
            most_tokens: most tokens that it may have.
        """
        seeded = self.seed is not None and self.temperature > 0  # greedy sampling needs no seed, and a seed costs time
        return Sampling(
            temperature=self.temperature,
            top_p=self.top_p,
            max_tokens=most_tokens,
            seed=(self.seed + choice) % 2**63 if seeded and self.seed is not None else None,
            top_logprobs=self.top_logprobs,
            stop_strings=self.stops,
        )


def read_request(body: bytes) -> ChatRequest:
    """The request in the body of a POST. Fields that are null have their default.

    Raises:
        ApiError: it is no such request, or asks for something that is not supported.
    """
    try:
        document = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise refused(f"The body is not JSON: {error}.") from error
    if not isinstance(document, dict):
        raise refused("The body must be a JSON object.")
    supported = {name: value for name, value in document.items() if value is not None and _is_supported(name, value)}
    if isinstance(messages := supported.get("messages"), list):
        supported["messages"] = [_message(index, message) for index, message in enumerate(messages)]
    try:
        found = ChatBody.model_validate(supported)
    except ValidationError as error:
        raise _fault(error) from error
    if found.stream_options is not None and not found.stream:
        raise refused("stream_options needs stream: true. Set it, or leave stream_options out.", "stream_options")
    if found.top_logprobs and not found.logprobs:
        raise refused("top_logprobs needs logprobs: true. Set it, or leave top_logprobs out.", "top_logprobs")
    limits = {found.max_tokens, found.max_completion_tokens} - {None}
    if len(limits) > 1:
        raise refused("max_tokens and max_completion_tokens differ. Send only one of them.", "max_tokens")
    return ChatRequest(
        model=found.model,
        messages=[{"role": message.role, "content": message.text} for message in found.messages],
        choices=found.n,
        stream=found.stream,
        include_usage=found.stream_options is not None and found.stream_options.include_usage,
        logprobs=found.logprobs,
        most_tokens=next(iter(limits), None),
        temperature=found.temperature,
        top_p=found.top_p,
        stops=(found.stop,) if isinstance(found.stop, str) else tuple(found.stop or ()),
        seed=found.seed,
        top_logprobs=found.top_logprobs,
    )


def _is_supported(name: str, value: Any) -> bool:
    """False for a field that may be left out. Raises ApiError for one that must not."""
    if name in ChatBody.model_fields:
        return True
    if json.dumps(value) in NOTHING_ASKED.get(name, ()):
        return False
    remedy = REMEDIES.get(name, "Leave it out.")
    raise refused(f"{name} is not supported by this server. {remedy}", name, "unsupported_parameter")


def _message(index: int, message: Any) -> Any:
    """A message without the fields that are null, as clients send back the answers of a server."""
    if not isinstance(message, dict):
        return message
    given = {name: value for name, value in message.items() if value is not None}
    where = f"messages[{index}]"
    if given.get("role") in ("developer", "tool", "function"):
        remedy = "Send it as a system message." if given["role"] == "developer" else "Send it as a user message."
        raise refused(f"The role {given['role']} is not supported by this server. {remedy}", f"{where}.role")
    for name in given.keys() - ChatMessage.model_fields.keys():
        remedy = "Write it into the content."
        raise refused(f"{where}.{name} is not supported by this server. {remedy}", f"{where}.{name}")
    if isinstance(content := given.get("content"), list):
        for place, part in enumerate(content):
            if isinstance(part, dict) and part.get("type") not in (None, "text"):
                kind = f"{where}.content[{place}] has the type {part['type']!r}, which is not supported by this server."
                raise refused(f"{kind} Send text only.", f"{where}.content[{place}].type")
    return given


def _fault(error: ValidationError) -> ApiError:
    """The most exact fault that pydantic found, in OpenAI's form."""
    faults = error.errors(include_url=False, include_input=False)
    fault = max(faults, key=lambda one: len(_field(one)))  # a union has one of each branch
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in _field(fault)).lstrip(".")
    if fault["type"] == "missing":
        return refused(f"{where} is missing. Add it.", where)
    if fault["type"] == "extra_forbidden":
        return refused(f"{where} is not supported by this server. Leave it out.", where, "unsupported_parameter")
    return refused(f"{where}: {fault['msg'][:1].lower()}{fault['msg'][1:]}. Change it, or leave it out.", where)


def _field(fault: ErrorDetails) -> list[int | str]:
    """The location of a fault as clients write it, without pydantic's own names for the branches of a union."""
    *inner, last = fault["loc"]
    names = [part for part in inner if isinstance(part, int) or part in _NAMES]
    is_written = isinstance(last, int) or last in _NAMES or fault["type"] == "extra_forbidden"
    return [*names, last] if is_written else names


_NAMES: Final = frozenset().union(*(kind.model_fields for kind in (ChatBody, ChatMessage, TextPart, StreamOptions)))
