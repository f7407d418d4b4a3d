"""Requests to the gateway: what is understood, and what is refused with which sentence."""

import json
from typing import Any

import pytest

from worker.engine import Sampling
from worker.gateway.chat_request import ChatRequest, read_request
from worker.gateway.errors import ApiError

HELLO: dict[str, Any] = {"model": "tiny", "messages": [{"role": "user", "content": "Hello"}]}


def read(**more: Any) -> ChatRequest:
    return read_request(json.dumps({**HELLO, **more}).encode())


def refusal(body: bytes | None = None, **more: Any) -> dict[str, Any]:
    with pytest.raises(ApiError) as raised:
        read_request(json.dumps({**HELLO, **more}).encode() if body is None else body)
    assert raised.value.status == 400
    error: dict[str, Any] = raised.value.document()["error"]
    assert error["type"] == "invalid_request_error"
    return error


def test_the_least_request_has_the_defaults_of_the_api() -> None:
    assert read() == ChatRequest(
        model="tiny",
        messages=[{"role": "user", "content": "Hello"}],
        choices=1,
        stream=False,
        include_usage=False,
        logprobs=False,
        most_tokens=None,
        temperature=1.0,
        top_p=1.0,
        stops=(),
        seed=None,
        top_logprobs=0,
    )
    assert read(**{name: None for name in ("stop", "seed", "n", "temperature", "tools", "user")}) == read()


def test_everything_that_is_supported() -> None:
    found = read(
        messages=[
            {"role": "system", "content": [{"type": "text", "text": "Be "}, {"type": "text", "text": "kind."}]},
            {"role": "user", "content": "Hi"},
            # as a client sends back what a server said
            {"role": "assistant", "content": "Yes?", "refusal": None, "tool_calls": None},
            {"role": "user", "content": ""},
        ],
        stream=True,
        stream_options={"include_usage": True},
        max_completion_tokens=9,
        max_tokens=9,
        temperature=0.5,
        top_p=0.9,
        stop=["a", "b"],
        n=3,
        seed=-5,
        logprobs=True,
        top_logprobs=4,
    )
    assert [message["content"] for message in found.messages] == ["Be kind.", "Hi", "Yes?", ""]
    assert (found.choices, found.stream, found.include_usage, found.logprobs) == (3, True, True, True)
    assert found.sampling(2, 9) == Sampling(
        temperature=0.5, top_p=0.9, max_tokens=9, seed=2**63 - 3, top_logprobs=4, stop_strings=("a", "b")
    )
    assert read(stop="a").stops == ("a",)


def test_choices_of_a_seeded_request_have_seeds_of_their_own() -> None:
    seeded = read(seed=2**63 - 1, n=2)
    assert [seeded.sampling(choice, 1).seed for choice in (0, 1)] == [2**63 - 1, 0]
    assert read(seed=1, temperature=0).sampling(0, 1).seed is None, "greedy sampling needs none, and it costs time"
    assert read().sampling(0, 1).seed is None


def test_values_that_ask_for_nothing_are_accepted() -> None:
    nothing = {
        "frequency_penalty": 0,
        "presence_penalty": 0.0,
        "logit_bias": {},
        "response_format": {"type": "text"},
        "tools": [],
        "tool_choice": "none",
        "modalities": ["text"],
        "store": False,
    }
    assert read(**nothing) == read()


@pytest.mark.parametrize(
    ("more", "param", "sentence"),
    [
        ({"tools": [{"type": "function"}]}, "tools", "Describe the tools in a message"),
        ({"response_format": {"type": "json_object"}}, "response_format", "Describe the format in a message"),
        ({"frequency_penalty": 0.5}, "frequency_penalty", "Leave it out."),
        ({"frequency_penalty": False}, "frequency_penalty", "Leave it out."),
        ({"user": "me"}, "user", "Leave it out."),
        ({"top_k": 5}, "top_k", "Use top_p."),
        ({"nonsense": 1}, "nonsense", "nonsense is not supported by this server. Leave it out."),
        ({"stream": True, "stream_options": {"x": True}}, "stream_options.x", "Leave it out."),
    ],
)
def test_what_is_not_supported_is_refused(more: dict[str, Any], param: str, sentence: str) -> None:
    error = refusal(**more)
    assert (error["param"], error["code"]) == (param, "unsupported_parameter")
    assert sentence in error["message"]


@pytest.mark.parametrize(
    ("more", "param"),
    [
        ({"model": None}, "model"),
        ({"messages": None}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": "Hello"}, "messages"),
        ({"messages": ["Hello"]}, "messages[0]"),
        ({"messages": [{"role": "user"}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": None}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": 1}]}, "messages[0].content"),
        ({"messages": [{"role": "nobody", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "developer", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "tool", "content": "x", "tool_call_id": "1"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": "x", "name": "me"}]}, "messages[0].name"),
        ({"messages": [{"role": "assistant", "tool_calls": [{}]}]}, "messages[0].tool_calls"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages[0].content[0].type"),
        ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "messages[0].content[0].text"),
        ({"temperature": 2.5}, "temperature"),
        ({"temperature": "0.5"}, "temperature"),
        ({"top_p": 0}, "top_p"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": True}, "max_tokens"),
        ({"max_tokens": 4, "max_completion_tokens": 5}, "max_tokens"),
        ({"n": 129}, "n"),
        ({"seed": 2**63}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"stop": ""}, "stop"),
        ({"stop": ["a"] * 5}, "stop"),
        ({"stop": ["a", ""]}, "stop[1]"),
        ({"stream": 1}, "stream"),
        ({"stream_options": {"include_usage": True}}, "stream_options"),
        ({"top_logprobs": 2}, "top_logprobs"),
        ({"logprobs": True, "top_logprobs": 21}, "top_logprobs"),
    ],
)
def test_faults_name_the_field(more: dict[str, Any], param: str) -> None:
    error = refusal(**more)
    assert error["param"] == param
    assert error["message"].endswith("."), "a sentence"


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[]", b"1", b'{"a":' * 5000, b'{"temperature": NaN}'])
def test_what_is_no_json_object_is_refused(body: bytes) -> None:
    assert refusal(body)["message"].startswith("The body")
