"""Servings on the worker: the starter policy answers the platform, or clients over HTTP, until nobody asks any more."""

import json
import threading
from collections.abc import Callable, Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import Any

import httpx
import numpy as np
import pytest

from tests.support.about import SAMPLING
from tests.support.quiet_handler import QuietHandler
from trainer_core.link.jobs import SERVING
from trainer_core.link.serving import EMBEDDING, MOST_AT_ONCE, ServingExchange, ServingProgress, unpacked
from worker.cluster.actors import NAMESPACE
from worker.jobs.serving import work
from worker.jobs.serving.work import ServingWork

pytestmark = [
    pytest.mark.live,
    pytest.mark.expensive(15, "starts an engine", about=(*SAMPLING, "worker/judge")),
]
PATH = "/api/v1/link/servings/srv_1"
KEY = "dgw_secret"
KEY_SHA256 = sha256(KEY.encode()).hexdigest()
STARTER = Path(__file__).resolve().parents[4] / "demo" / "starter-policy"


class ServingPlatform:
    """Asks ``questions``, keeps the answers, and refuses once it has all of them."""

    def __init__(self) -> None:
        self.questions: dict[str, dict[str, Any]] = {}
        self.answers: dict[str, dict[str, Any]] = {}
        self.results: list[dict[str, Any]] = []
        self.refuses = False
        self.gateway: dict[str, Any] | None = None
        self.base_urls: Queue[str] = Queue()
        self.most_held = 0
        self.folder, self.name = str(STARTER), "endpoint"
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def job(self) -> dict[str, Any]:
        models = {self.name: {"model": "own", "model_dir": self.folder}}
        return {"id": "srv_1", "models": models, "lease_s": 3.0, "gateway": self.gateway}

    def exchange(self, given: ServingExchange) -> list[dict[str, Any]]:
        for answer in given.answers:
            assert answer.id not in self.answers, "each is answered once"
            self.answers[answer.id] = answer.model_dump(exclude={"id"})
        self.most_held = max(self.most_held, len(given.holding))
        left = [one for key, one in self.questions.items() if key not in self.answers and key not in given.holding]
        return left[: given.room]

    def work(self, fenced: Callable[[], None] = lambda: None) -> None:
        """What a worker in this process does."""
        ServingWork("srv_1", self.url, "srv_secret", fenced).run()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(platform: ServingPlatform) -> type[BaseHTTPRequestHandler]:
    class Handler(QuietHandler):
        def do_GET(self) -> None:
            self._answer(platform.job())

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or "null")
            match self.path.removeprefix(f"{PATH}/"):
                case "exchange":
                    found = platform.exchange(ServingExchange.model_validate(body))
                    over = len(platform.answers) == len(platform.questions)
                    self._answer({"questions": found}, 409 if over else 200)
                case "result":
                    platform.results.append(body)
                    self._answer({})
                case "lease":
                    if body is not None:
                        platform.base_urls.put(ServingProgress.model_validate(body).base_url)
                    self._answer({"lease_s": 3.0}, 409 if platform.refuses else 200)

        def _answer(self, document: Any, status: int = 200) -> None:
            assert self.headers["Authorization"] == "Bearer srv_secret"
            data = json.dumps(document).encode()
            self.answer(status, data)

    return Handler


@pytest.fixture
def platform() -> Iterator[ServingPlatform]:
    made = ServingPlatform()
    yield made
    made.close()


def question(key: str, **more: Any) -> dict[str, Any]:
    return {"id": key, "model": "endpoint", "max_tokens": 16, "temperature": 0.0, **more}


def test_the_starter_policy_answers_until_nobody_asks(
    cluster: None, platform: ServingPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "_MOST_BYTES", 4)  # an exchange holds one answer of the many that are there
    sums = {f"srq_{n}": question(f"srq_{n}", messages=[{"role": "user", "content": f"{n}+1="}]) for n in range(70)}
    platform.questions = {
        **sums,
        "text": question("text", prompt="12+3="),
        "cut": question("cut", prompt="12+3=", max_tokens=1),
        "long": question("long", prompt="1" * 3000),
        "gone": {**question("gone", prompt="1+1="), "model": "solver"},
    }
    platform.work()
    answers = platform.answers
    assert platform.results == [], "a worker that nobody waits for any more says nothing"
    assert platform.most_held <= MOST_AT_ONCE
    assert all(answers[key]["text"] and answers[key]["error"] is None for key in sums)
    assert {answers[key]["finish_reason"] for key in sums} <= {"stop", "length"}
    assert answers["text"]["prompt_tokens"] < answers["srq_12"]["prompt_tokens"] + 3
    assert (answers["cut"]["completion_tokens"], answers["cut"]["finish_reason"]) == (1, "length")
    assert "leaves less than 16 for the answer: the judge's context is 2048" in answers["long"]["error"]
    assert answers["gone"]["error"] == "there is no model 'solver' any more"
    import ray

    named = [entry["name"] for entry in ray.util.list_named_actors(all_namespaces=True)]
    assert not [name for name in named if name.startswith(SERVING.actor("srv_1"))], "they have ended with it"


def test_a_policy_that_cannot_be_served_is_told(cluster: None, platform: ServingPlatform, tmp_path: Path) -> None:
    platform.folder = str(tmp_path / "gone")
    platform.questions = {"text": question("text", prompt="12+3=")}
    platform.work()
    [result] = platform.results
    assert "engine could not start" in result["error"]
    assert platform.answers == {}


def test_clients_use_the_policy_over_http_until_the_platform_refuses(cluster: None, platform: ServingPlatform) -> None:
    """Its address reaches the platform with the lease. What ends the worker ends the server."""
    import ray

    platform.gateway = {"key_sha256": KEY_SHA256, "idle_s": 3600.0}

    def end() -> None:
        """Ends the engine, as the end of a worker's own actor does."""
        ray.kill(ray.get_actor(f"{SERVING.actor('srv_1')}/endpoint", namespace=NAMESPACE))

    worker = threading.Thread(target=lambda: platform.work(end))
    worker.start()
    base_url = platform.base_urls.get(timeout=240)
    with httpx.Client(base_url=base_url, headers={"Authorization": f"Bearer {KEY}"}, timeout=120) as client:
        body = {"model": "endpoint", "messages": [{"role": "user", "content": "12+3="}], "temperature": 0}
        (choice,) = client.post("/chat/completions", json=body).json()["choices"]
        assert choice["finish_reason"] == "stop"
        assert choice["message"]["content"] and "<eos>" not in choice["message"]["content"]
        assert client.get("/models", headers={"Authorization": "Bearer x"}).status_code == 401
        platform.refuses = True
        worker.join(timeout=240)
        with pytest.raises(httpx.TransportError):
            client.get("/models")
    assert platform.results == []


def test_a_policy_that_no_client_uses_is_over(
    cluster: None, platform: ServingPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "IDLE_CHECK_S", 0.1)
    platform.gateway = {"key_sha256": KEY_SHA256, "idle_s": 0.5}
    platform.work()
    assert platform.results == [{"error": None}]
    assert platform.base_urls.get(timeout=0).startswith("http://127.0.0.1:")


def test_a_policy_whose_address_cannot_be_used_is_told(
    cluster: None, platform: ServingPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY_HOST", "somewhere")
    platform.gateway = {"key_sha256": KEY_SHA256, "idle_s": 3600.0}
    platform.work()
    [result] = platform.results
    assert "GATEWAY_HOST='somewhere' is not an IP address such as 0.0.0.0" in result["error"]


def test_the_starter_policy_makes_vectors(cluster: None, platform: ServingPlatform) -> None:
    """Unit vectors; a text has the same one alone and beside longer ones, and another one than other texts."""
    platform.name = EMBEDDING
    texts = ["12+3=", "12+3=", "7*8=", "100-99+98-97+96="]
    platform.questions = {
        "all": {"id": "all", "model": EMBEDDING, "texts": texts, "max_tokens": 1},
        "one": {"id": "one", "model": EMBEDDING, "texts": texts[:1], "max_tokens": 1},
        "long": {"id": "long", "model": EMBEDDING, "texts": ["1", "1" * 3000], "max_tokens": 1},
    }
    platform.work()
    assert platform.results == []
    vectors, alone = (
        np.array(unpacked(platform.answers["all"]["text"], 4)),
        unpacked(platform.answers["one"]["text"], 1),
    )
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1.0] * 4, abs=2e-3)
    assert vectors[0] == pytest.approx(vectors[1], abs=1e-3)
    assert vectors[0] == pytest.approx(np.array(alone[0]), abs=2e-3)
    assert vectors[0] @ vectors[2] < 0.995
    assert platform.answers["all"]["prompt_tokens"] > 3 * platform.answers["one"]["prompt_tokens"]
    assert "the model reads 1 to 2048 tokens, a text has 3000" in platform.answers["long"]["error"]
