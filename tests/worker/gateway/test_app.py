"""The gateway's web application before an engine is involved: who is let in, and what is refused."""

import logging
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from worker.engine import EngineError, Request
from worker.engine.thread import Listener
from worker.engine.tokenizer import PolicyTokenizer
from worker.gateway import app as gateway_app
from worker.gateway.app import Gateway, build_app

STARTER = Path(__file__).resolve().parents[3] / "demo" / "starter-policy"
KEY = "dgw_secret"
HASH = sha256(KEY.encode()).hexdigest()
HELLO: dict[str, Any] = {"model": "tiny", "messages": [{"role": "user", "content": "1+1="}]}


class LostEngine:
    """An engine that has failed, as ``EngineThread`` is then. ``requests`` are those that have reached it."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def submit(self, request: Request, listener: Listener, *, wants_progress: bool = False) -> None:
        self.requests.append(request)
        raise EngineError("the engine has failed: out of memory")

    def abort(self, request_id: str) -> None: ...


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def engine() -> LostEngine:
    return LostEngine()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def gateway(engine: LostEngine, clock: Clock) -> Gateway:
    return Gateway("tiny", engine, PolicyTokenizer(STARTER), (), 64, clock)


@pytest.fixture
def client(gateway: Gateway) -> Iterator[TestClient]:
    app = build_app(gateway, HASH)
    with TestClient(app, headers={"Authorization": f"Bearer {KEY}"}, raise_server_exceptions=False) as made:
        yield made


def refusal(response: Any, status: int) -> dict[str, Any]:
    assert response.status_code == status, response.text
    error: dict[str, Any] = response.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert KEY not in response.text
    return error


@pytest.mark.parametrize(
    "authorization",
    ["", "Bearer", "Bearer dgw_secre", f"Bearer {KEY}x", f"Basic {KEY}", KEY, f"Bearer {HASH}"],
)
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/models", "/nothing"])
def test_without_the_key_nothing_is_answered(
    client: TestClient, engine: LostEngine, path: str, authorization: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    headers = {"Authorization": authorization}
    response = client.post(path, json=HELLO, headers=headers)
    error = refusal(response, 401)
    assert (error["code"], response.headers["WWW-Authenticate"]) == ("invalid_api_key", "Bearer")
    assert "Send the key of this serving" in error["message"]
    assert engine.requests == []
    assert KEY not in caplog.text


def test_the_models_are_listed(client: TestClient) -> None:
    document = client.get("/v1/models", headers={"Authorization": f"bearer  {KEY} "}).json()
    (model,) = document["data"]
    assert document["object"] == "list"
    assert (model["id"], model["object"], model["owned_by"]) == ("tiny", "model", "dressage")


def test_other_addresses_and_methods_are_refused(client: TestClient) -> None:
    assert "Use /v1/models or /v1/chat/completions" in refusal(client.get("/v1/nothing"), 404)["message"]
    assert "Send GET to /v1/models" in refusal(client.get("/v1/chat/completions"), 405)["message"]


def test_another_model_is_refused(client: TestClient, engine: LostEngine) -> None:
    error = refusal(client.post("/v1/chat/completions", json={**HELLO, "model": "gpt-x"}), 404)
    assert (error["code"], error["param"]) == ("model_not_found", "model")
    assert "Send model: 'tiny'." in error["message"]
    assert engine.requests == []


def test_what_the_context_does_not_hold_is_refused(client: TestClient, engine: LostEngine) -> None:
    long = {**HELLO, "messages": [{"role": "user", "content": "1+" * 60}]}
    error = refusal(client.post("/v1/chat/completions", json=long), 400)
    assert error["code"] == "context_length_exceeded"
    assert "the model's context is 64 tokens" in error["message"]
    error = refusal(client.post("/v1/chat/completions", json={**HELLO, "max_tokens": 64}), 400)
    assert "and 64 are wanted for the answer" in error["message"]
    assert engine.requests == []


def test_a_large_body_is_refused_before_it_is_read(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway_app, "MOST_BYTES", 1 << 20)
    sent: list[int] = []

    def body() -> Iterator[bytes]:
        for _ in range(16):
            sent.append(1)
            yield b"x" * (1 << 18)

    assert "larger than 1 MiB" in refusal(client.post("/v1/chat/completions", content=body()), 413)["message"]


def test_a_template_that_refuses_the_messages_says_so(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    from worker.errors import StartError

    def refuse(self: PolicyTokenizer, rows: object) -> None:
        raise StartError("The policy's chat template refuses a row's messages: no system message, please")

    monkeypatch.setattr(PolicyTokenizer, "encode_rows", refuse)
    error = refusal(client.post("/v1/chat/completions", json=HELLO), 400)
    assert (error["param"], "no system message, please" in error["message"]) == ("messages", True)


def test_an_engine_that_has_failed_says_what_to_do(client: TestClient, engine: LostEngine) -> None:
    error = refusal(client.post("/v1/chat/completions", json={**HELLO, "n": 2}), 503)
    assert error["type"] == "server_error"
    assert error["message"].startswith("The policy cannot answer: the engine has failed: out of memory. Serve it again")
    assert len(engine.requests) == 1, "the second choice is not tried"
    streamed = client.post("/v1/chat/completions", json={**HELLO, "stream": True})
    *_, last = streamed.text.strip().split("\n\n")
    assert (streamed.status_code, "out of memory" in last) == (200, True)
    assert "[DONE]" not in streamed.text


def test_too_many_are_refused(client: TestClient, engine: LostEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway_app, "MOST_OPEN", 3)
    response = client.post("/v1/chat/completions", json={**HELLO, "n": 4})
    error = refusal(response, 429)
    assert (error["code"], error["type"], response.headers["Retry-After"]) == (
        "rate_limit_exceeded",
        "rate_limit_error",
        "1",
    )
    assert engine.requests == []
    refusal(client.post("/v1/chat/completions", json={**HELLO, "n": 3}), 503)


def test_it_is_idle_since_the_last_completion(client: TestClient, gateway: Gateway, clock: Clock) -> None:
    clock.now += 5
    assert gateway.idle_s == 5
    client.get("/v1/models")
    assert gateway.idle_s == 5, "only completions count"
    client.post("/v1/chat/completions", json=HELLO)
    assert gateway.idle_s == 0
    clock.now += 2
    assert gateway.idle_s == 2
