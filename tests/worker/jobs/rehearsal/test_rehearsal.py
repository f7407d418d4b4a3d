"""Rehearsals on the worker: the starter policy's engine, the run's own reward workers, a platform on the loopback."""

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.support.about import SAMPLING
from tests.support.quiet_handler import QuietHandler
from tests.worker.loop.conftest import POLICY, REWARD, rows, tiny_spec
from tests.worker.loop.platform_double import parquet_bytes
from trainer_core.link.jobs import REHEARSAL
from trainer_core.link.rehearsal import RehearsalResult
from worker.jobs.rehearsal.work import RehearsalWork

ABOUT = (*SAMPLING, "trainer_core/diagnosis")
BOXED = {"components": [{"name": "right", "grader": {"type": "math", "extraction": "boxed"}}]}


class RehearsalPlatform:
    """Hands out one rehearsal and keeps what it is told."""

    def __init__(self) -> None:
        self.job: dict[str, Any] = {}
        self.files: dict[str, bytes] = {}
        self.leases: list[dict[str, Any]] = []
        self.results: list[dict[str, Any]] = []
        self.lease_status = 200
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def dataset(self, name: str, lines: list[dict[str, Any]]) -> dict[str, Any]:
        data = parquet_bytes(lines)
        path = f"/api/v1/link/rehearsals/rhs_1/datasets/{name}"
        self.files[path] = data
        return {"url": path, "sha256": hashlib.sha256(data).hexdigest(), "rows": len(lines)}

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(platform: RehearsalPlatform) -> type[BaseHTTPRequestHandler]:
    class Handler(QuietHandler):
        def do_GET(self) -> None:
            self._answer(200, platform.files.get(self.path) or json.dumps(platform.job).encode())

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or "{}")
            if self.path.endswith("/lease"):
                platform.leases.append(body)
                self._answer(platform.lease_status, b'{"lease_s": 1.0}')
            else:
                assert self.path == "/api/v1/link/rehearsals/rhs_1/result"
                platform.results.append(body)
                self._answer(200, b"{}")

        def _answer(self, status: int, data: bytes) -> None:
            assert self.headers["Authorization"] == "Bearer rhs_secret"
            self.answer(status, data)

    return Handler


@pytest.fixture
def platform() -> Iterator[RehearsalPlatform]:
    made = RehearsalPlatform()
    yield made
    made.close()


@pytest.fixture
def held(platform: RehearsalPlatform) -> Callable[..., RehearsalResult]:
    """``held(spec, reward, **job)``: what a worker in this process has told the platform of such a rehearsal."""

    def hold(spec: dict[str, Any], reward: dict[str, Any] = REWARD, **changes: Any) -> RehearsalResult:
        policy = changes.pop("policy", str(POLICY))
        fenced = changes.pop("fenced", lambda: None)
        datasets = {
            "add@1": platform.dataset("add@1", rows("gsm8k-add-sub", 40)),
            "mul@1": platform.dataset("mul@1", rows("gsm8k-mul", 40)),
            "eval@1": platform.dataset("eval@1", rows("gsm8k-eval", 8)),
        }
        platform.job = {
            "id": "rhs_1",
            "bundle": {
                "run_id": "rhs_1",
                "attempt": 1,
                "spec": spec,
                "revision": 0,
                "policy": {"name": "starter", "path": policy},
                "reward": {"ref": "calculation@1", "definition": reward},
                "datasets": datasets,
                "run_dir": "/nowhere",
            },
            "prompts": 4,
            "samples": 4,
            "limit_s": 300.0,
            "lease_s": 3.0,
            **changes,
        }
        RehearsalWork("rhs_1", platform.url, "rhs_secret", fenced).run()
        [result] = platform.results
        return RehearsalResult.model_validate(result)

    return hold


def actors() -> list[str]:
    """Names of the rehearsal's live actors."""
    import ray

    named = [entry["name"] for entry in ray.util.list_named_actors(all_namespaces=True)]
    return [name for name in named if name.startswith(REHEARSAL.actor("rhs_1"))]


@pytest.mark.live
@pytest.mark.expensive(25, "starts an engine and a reward worker", about=ABOUT)
def test_a_rehearsal_of_the_starter_policy(
    cluster: None, platform: RehearsalPlatform, held: Callable[..., RehearsalResult]
) -> None:
    spec = tiny_spec(data__sources=[{"name": "add", "dataset": "add@1"}, {"name": "mul", "dataset": "mul@1"}])
    report = held(spec, BOXED).report
    assert report is not None
    assert [(group.source, group.row) for group in report.groups] == [
        *(("add", row) for row in (0, 10, 20, 30)),
        *(("mul", row) for row in (0, 10, 20, 30)),
    ]
    first = report.groups[0]
    row = rows("gsm8k-add-sub", 1)[0]
    assert "".join(piece.text for piece in first.pieces if not piece.control) == row["prompt"]
    assert first.prompt_tokens == len(first.pieces)
    assert (first.answer, first.left_out, len(first.samples)) == (row["answer"], 0, 4)
    for gold, sample in ((group.answer, one) for group in report.groups for one in group.samples):
        assert 1 <= sample.tokens <= 24
        assert (sample.reward, sample.parts, sample.error) == (0.0, {"right": 0.0}, None), "the policy writes no boxes"
        assert sample.reasons == {"right": f"The answer has no \\boxed{{}}; the gold answer is “{gold}”."}
    assert report.signal_share == 0.0
    assert [finding.kind for finding in report.findings].count("constant_reward") == 1
    [constant] = [finding for finding in report.findings if finding.kind == "constant_reward"]
    assert constant.message.startswith("All 32 rewards are 0. 0 of 32 answers hold a \\boxed{}")
    speed = report.speed
    assert min(speed.start_s, speed.generate_s, speed.tokens_per_s, speed.running, speed.prompt_tokens) > 0
    assert speed.peak is not None
    assert (speed.peak.operations_per_s > 1e8, speed.peak.gpu) == (True, torch.cuda.is_available())
    assert {lease["phase"] for lease in platform.leases} == {"loading", "generating"}
    assert actors() == [], "engine and reward worker have ended with it"


@pytest.mark.live
@pytest.mark.expensive(1, "starts processes that it ends at once", about=ABOUT)
@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"policy": "/gone"}, "The policy folder /gone does not exist on this machine."),
        ({"limit_s": 0.0}, "The dry run did not finish within 0 s: its engine or its graders did not start."),
    ],
)
def test_a_rehearsal_that_cannot_be_held_says_why(
    cluster: None, held: Callable[..., RehearsalResult], changes: dict[str, Any], error: str
) -> None:
    result = held(tiny_spec(), **changes)
    assert result.report is None
    assert result.error is not None
    assert result.error.startswith(error)


def test_a_spec_that_is_not_valid_here_is_refused(held: Callable[..., RehearsalResult]) -> None:
    result = held(tiny_spec(rollout__group_size=0))
    assert (result.error or "").startswith("The run's description is not valid: ")


@pytest.mark.live
@pytest.mark.expensive(8, "starts processes that it ends at once", about=ABOUT)
def test_a_cancelled_rehearsal_ends_its_worker(
    cluster: None, platform: RehearsalPlatform, held: Callable[..., RehearsalResult], tmp_path: Path
) -> None:
    platform.lease_status = 409
    fenced = threading.Event()
    # Stands in for the actor, which ends itself: this process must not.
    held(tiny_spec(), fenced=fenced.set, limit_s=2.0, lease_s=0.3)
    assert fenced.is_set()
