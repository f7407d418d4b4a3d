"""A served policy as programs use it: the official client against the starter policy's real engine."""

import json
import shutil
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import openai
import pytest
from openai import OpenAI

from tests.support.installation import wait_until
from worker.engine import InferenceEngine
from worker.gateway.server import PolicyServer
from worker.judge.served import ServeConfig

pytestmark = [
    pytest.mark.live,
    pytest.mark.expensive(
        20, "starts an engine", about=("worker/gateway", "worker/engine", "worker/judge", "trainer_core/prompting")
    ),
]
STARTER = Path(__file__).resolve().parents[3] / "demo" / "starter-policy"
KEY = "dgw_secret"
END = "<eos>"
"""The policy's end of a sequence. This copy of the policy does not know it as one, so a completion is as long as a test
needs it; others name it as a stop string."""
FOREVER = 1900


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> PolicyServer:
    folder = tmp_path_factory.mktemp("policies") / "endless"
    shutil.copytree(STARTER, folder)
    for name in ("config.json", "generation_config.json"):
        if (path := folder / name).exists():
            document = json.loads(path.read_text())
            document.pop("eos_token_id", None)
            path.write_text(json.dumps(document))
    made = PolicyServer()
    made.start(ServeConfig(folder, 16))
    return made


@pytest.fixture(scope="module")
def base_url(server: PolicyServer) -> str:
    return server.listen("starter", sha256(KEY.encode()).hexdigest())


@pytest.fixture(scope="module")
def client(base_url: str) -> Iterator[OpenAI]:
    with OpenAI(base_url=base_url, api_key=KEY, max_retries=0, timeout=120) as made:
        yield made


@pytest.fixture
def parked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Requests that the engine has dropped before their end."""
    found: list[str] = []
    park = InferenceEngine.park

    def noting(self: InferenceEngine, request_ids: Any = None) -> Any:
        found.extend(request_ids)
        return park(self, request_ids)

    monkeypatch.setattr(InferenceEngine, "park", noting)
    return found


def asked(text: str = "12+3=", **more: Any) -> dict[str, Any]:
    return {"model": "starter", "messages": [{"role": "user", "content": text}], "max_tokens": 24, **more}


def test_it_is_bound_to_the_loopback_alone(base_url: str) -> None:
    assert base_url.startswith("http://127.0.0.1:")
    assert base_url.endswith("/v1")


def test_the_client_lists_the_model(client: OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["starter"]


def test_a_wrong_key_is_refused(base_url: str) -> None:
    with (
        OpenAI(base_url=base_url, api_key="dgw_guess", max_retries=0) as guessing,
        pytest.raises(openai.AuthenticationError, match="The key is missing or wrong"),
    ):
        guessing.chat.completions.create(**asked())


def test_a_completion_ends_before_its_stop_string(client: OpenAI, server: PolicyServer) -> None:
    completion = client.chat.completions.create(**asked(temperature=0, stop=[END], logprobs=True))
    (choice,) = completion.choices
    text = choice.message.content
    assert choice.finish_reason == "stop"
    assert text and END not in text
    assert choice.logprobs is not None and choice.logprobs.content is not None
    assert "".join(token.token for token in choice.logprobs.content) == text
    usage = completion.usage
    assert usage is not None
    (prompt,) = server._tokenizer.encode_rows([{"messages": asked()["messages"]}])
    assert usage.prompt_tokens == len(prompt)
    assert usage.completion_tokens == len(choice.logprobs.content) + 1, "the stop string was generated, too"
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    cut = client.chat.completions.create(**asked(temperature=0, max_tokens=1)).choices[0]
    assert (cut.finish_reason, cut.message.content) == ("length", choice.logprobs.content[0].token)


@pytest.mark.parametrize("stop", [None, ["3", END], "="])
def test_a_stream_says_the_same_as_a_whole_answer(client: OpenAI, stop: list[str] | str | None) -> None:
    """Text, log-probabilities, reasons and use, of several choices drawn at random with a seed."""
    body = asked(n=3, seed=7, temperature=1.5, top_p=0.95, logprobs=True, top_logprobs=3, stop=stop)
    whole = client.chat.completions.create(**body)
    texts, tokens, reasons = ["", "", ""], [[], [], []], [None, None, None]  # type: ignore[var-annotated]
    usage, chunks = None, 0
    for chunk in client.chat.completions.create(**body, stream=True, stream_options={"include_usage": True}):
        assert usage is None, "the last chunk has it"
        usage = chunk.usage
        for choice in chunk.choices:
            chunks += 1
            assert reasons[choice.index] is None, "nothing follows the reason"
            texts[choice.index] += choice.delta.content or ""
            if choice.logprobs is not None:
                tokens[choice.index] += choice.logprobs.content or []
            reasons[choice.index] = choice.finish_reason
    assert texts == [choice.message.content for choice in whole.choices]
    assert [choice.index for choice in whole.choices] == [0, 1, 2]
    assert tokens == [choice.logprobs.content for choice in whole.choices if choice.logprobs]
    assert reasons == [choice.finish_reason for choice in whole.choices]
    assert usage == whole.usage
    if stop is None:
        assert set(reasons) == {"length"}
        assert len(set(texts)) > 1, "each choice has a seed of its own"
        assert chunks > 3 * 12, "token by token"
        assert all(len(token.top_logprobs) == 3 for choice in tokens for token in choice)
        assert all(token.logprob <= 0 for choice in tokens for token in choice)


def test_messages_go_through_the_chat_template(client: OpenAI) -> None:
    def use(messages: list[dict[str, Any]]) -> int:
        usage = client.chat.completions.create(**{**asked(max_tokens=1), "messages": messages}).usage
        assert usage is not None
        return usage.prompt_tokens

    def user(content: Any) -> dict[str, Any]:
        return {"role": "user", "content": content}

    parts = [{"type": "text", "text": "12+"}, {"type": "text", "text": "3="}]
    assert use([user("12+3=")]) == use([user(parts)]) == len("12+3=")
    # The starter's template takes the last question alone.
    assert use([user("12+3="), {"role": "assistant", "content": "15"}, user("1+1=")]) == len("1+1=")
    assert use([user("12+3=<eos>")]) == len("12+3=<eos>"), "text that looks like a control token is text"


def test_questions_of_many_threads_run_together(client: OpenAI) -> None:
    def answer(number: int) -> str | None:
        body = asked(f"{number}+1=", temperature=0, stop=[END])
        return client.chat.completions.create(**body).choices[0].message.content

    alone = [answer(number) for number in range(10, 22)]
    with ThreadPoolExecutor(12) as threads:
        assert list(threads.map(answer, range(10, 22))) == alone


def test_streams_advance_side_by_side(client: OpenAI, parked: list[str]) -> None:
    """All have begun before any has ended, and closing them ends their work in the engine."""
    streams = [client.chat.completions.create(**asked(stream=True, max_completion_tokens=FOREVER, max_tokens=FOREVER))
               for _ in range(8)]  # fmt: skip
    for stream in streams:
        texts = (chunk.choices[0].delta.content for chunk in stream)
        assert next(text for text in texts if text)
    for stream in streams:
        stream.close()
    wait_until(lambda: len(parked) == 8, 60, lambda: f"dropped: {parked}")


def test_a_client_that_goes_away_ends_a_whole_answer(base_url: str, server: PolicyServer, parked: list[str]) -> None:
    wait_until(lambda: not server._engine._open, 60)
    body = json.dumps(asked(max_tokens=FOREVER, n=2)).encode()
    host, _, port = base_url.removeprefix("http://").removesuffix("/v1").partition(":")
    with socket.create_connection((host, int(port))) as connection:
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {KEY}\r\n"
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        wait_until(lambda: len(server._engine._open) == 2, 60, every=0.001)
    wait_until(lambda: len(parked) == 2 and not server._engine._open, 60, lambda: f"dropped: {parked}")
    assert server.idle_s() >= 0


def test_what_the_context_does_not_hold_is_refused(client: OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="the model's context is 2048 tokens") as raised:
        client.chat.completions.create(**asked(max_tokens=2048))
    assert raised.value.code == "context_length_exceeded"
    with pytest.raises(openai.BadRequestError, match="Describe the tools in a message") as raised:
        client.chat.completions.create(**asked(tools=[{"type": "function", "function": {"name": "f"}}]))
    assert raised.value.code == "unsupported_parameter"
