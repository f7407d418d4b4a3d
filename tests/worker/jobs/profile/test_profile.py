"""Profiles on the worker: the starter policy answers sums, and another worker goes on behind what was handed in."""

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.support.about import SAMPLING
from tests.support.quiet_handler import QuietHandler
from tests.worker.loop.conftest import POLICY, rows, tiny_spec
from tests.worker.loop.platform_double import parquet_bytes
from trainer_core.link.jobs import PROFILE
from trainer_core.link.profile import ProfileBatch, ProfileJob, ProfileResult, ProfileRow
from worker.errors import RolloutError
from worker.jobs.profile.work import ProfileWork

PATH = "/api/v1/link/profiles/prf_1"
NUMBERS = {"components": [{"name": "right", "grader": {"type": "numeric"}}], "success_threshold": 1.0}


class ProfilePlatform:
    """Hands out one profile and keeps what it is told."""

    def __init__(self) -> None:
        data = parquet_bytes([*rows("gsm8k-add-sub", 12), *rows("gsm8k-mul", 12)])
        self.file = data
        self.batches: list[dict[str, Any]] = []
        self.results: list[dict[str, Any]] = []
        source = [{"name": "rows", "dataset": "add@1"}]
        self.job: dict[str, Any] = {
            "id": "prf_1",
            "bundle": {
                "run_id": "prf_1",
                "attempt": 1,
                "spec": tiny_spec(data__sources=source, evaluation={"sources": []}),
                "revision": 0,
                "policy": {"name": "starter", "path": str(POLICY)},
                "reward": {"ref": "calculation@1", "definition": NUMBERS},
                "datasets": {
                    "add@1": {"url": f"{PATH}/datasets/add@1", "sha256": hashlib.sha256(data).hexdigest(), "rows": 24}
                },
                "run_dir": "/nowhere",
            },
            "plan": {"budget": 120, "first": 4, "most": 8, "target_error": 0.0},
            "threshold": 1.0,
            "limit_s": 300.0,
            "lease_s": 3.0,
        }
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def work(self) -> ProfileResult:
        """What a worker in this process has told in the end."""
        ProfileWork("prf_1", self.url, "prf_secret", lambda: None).run()
        return ProfileResult.model_validate(self.results.pop())

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(platform: ProfilePlatform) -> type[BaseHTTPRequestHandler]:
    class Handler(QuietHandler):
        def do_GET(self) -> None:
            self._answer(platform.file if "/datasets/" in self.path else json.dumps(platform.job).encode())

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or "{}")
            kept = {"batches": platform.batches, "result": platform.results}.get(self.path.removeprefix(f"{PATH}/"))
            if kept is not None:
                kept.append(body)
            self._answer(b"{}")

        def _answer(self, data: bytes) -> None:
            assert self.headers["Authorization"] == "Bearer prf_secret"
            self.answer(200, data)

    return Handler


@pytest.fixture
def platform() -> Iterator[ProfilePlatform]:
    made = ProfilePlatform()
    yield made
    made.close()


@pytest.mark.parametrize(("batches", "answered"), [(0, ["The engine is gone."]), (1, [])])
def test_an_engine_that_is_lost_behind_a_batch_is_left_to_another_worker(
    platform: ProfilePlatform, monkeypatch: pytest.MonkeyPatch, batches: int, answered: list[str]
) -> None:
    def sample(job: ProfileJob, *given: Any) -> ProfileResult:
        for number in range(batches):
            given[-1](
                ProfileBatch(
                    number=number, rows=(ProfileRow(row=0, asked=1, samples=1, correct=1),), tokens=1, seconds=1.0
                )
            )
        raise RolloutError("The engine is gone.")

    monkeypatch.setattr("worker.jobs.profile.work.sample_rows", sample)
    ProfileWork("prf_1", platform.url, "prf_secret", lambda: None).run()
    assert len(platform.batches) == batches
    assert [result["error"] for result in platform.results] == answered


@pytest.mark.live
@pytest.mark.expensive(35, "starts an engine and a reward worker twice", about=(*SAMPLING, "trainer_core/profiling"))
def test_a_profile_by_the_starter_policy_and_another_worker(cluster: None, platform: ProfilePlatform) -> None:
    result = platform.work()
    assert result.error is None
    assert result.votes
    assert result.stopped in ("budget", "settled", "most")
    batches = [ProfileBatch.model_validate(batch) for batch in platform.batches]
    assert [batch.number for batch in batches] == list(range(len(batches)))
    assert [row.row for row in batches[0].rows] == list(range(24))
    newest = {row.row: row for batch in batches for row in batch.rows}
    asked = [row.asked for row in newest.values()]
    assert min(asked) >= 4
    assert max(asked) > 4, "further samples go to rows that are not settled"
    assert max(asked) <= 8
    assert sum(asked) <= 120
    for row in newest.values():
        assert row.samples == row.asked
        assert row.correct + sum(answer.votes for answer in row.answers) <= row.samples
        votes = [answer.votes for answer in row.answers]
        assert votes == sorted(votes, reverse=True)
    assert any(row.answers for row in newest.values())
    import ray

    named = [entry["name"] for entry in ray.util.list_named_actors(all_namespaces=True)]
    assert not [name for name in named if name.startswith(PROFILE.actor("prf_1"))], "they have ended with it"

    first = batches[0].model_dump(mode="json")["rows"]
    platform.job |= {"done": first, "batches": 1, "plan": {**platform.job["plan"], "budget": 100}}
    platform.batches.clear()
    assert platform.work().stopped == "budget"
    again = [ProfileBatch.model_validate(batch) for batch in platform.batches]
    assert again[0].number == 1
    assert sum(len(batch.rows) for batch in again) < 24, "no row is sampled anew"
    known = {row["row"]: row for row in first}
    assert all(row.asked > known[row.row]["asked"] for batch in again for row in batch.rows)
