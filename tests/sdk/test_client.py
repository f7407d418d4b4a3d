"""The client against the real platform, over HTTP."""

import json
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from dressage.common.roles import Role
from dressage.runs.models import Run
from dressage.teams.models import Team
from dressage_sdk import Client, DressageError, FieldError, RunSpec, models
from dressage_sdk.client import TOKEN, URL
from dressage_sdk.connection import Connection
from dressage_sdk.runs import RunsApi
from tests.platform.runs.fixtures import spec_document
from tests.platform.tokens import token_of
from tests.sdk.conftest import FaultyProxy
from tests.support.guide import ROOT

on_platform = pytest.mark.django_db(transaction=True)
COMPONENTS = json.loads((ROOT / "frontend" / "openapi.json").read_text())["components"]["schemas"]
SHAPES = {
    models.Run: "LiveRun",
    models.RunDetails: "Run",
}
"""Component of the OpenAPI document by the model that reads it; members are compared with it."""


def refused(call: Callable[[], object]) -> DressageError:
    with pytest.raises(DressageError) as caught:
        call()
    return caught.value


@on_platform
def test_runs_come_in_pages_newest_first(runs: RunsApi, proxy: FaultyProxy, make_run: Callable[..., Run]) -> None:
    names = [f"run {number}" for number in range(5)]
    for name in names:
        make_run(name, start=name == "run 3")
    found = runs.list(page_size=2)
    assert proxy.requests == [], "nothing is requested before the first run is read"
    assert next(found).name == "run 4"
    assert len(proxy.requests) == 1
    assert [run.name for run in found] == ["run 3", "run 2", "run 1", "run 0"]
    assert len(proxy.requests) == 3
    assert [run.name for run in runs.list(state="queued")] == ["run 3"]
    assert [run.name for run in runs.list(state=("queued", "draft"), page_size=200)] == names[::-1]
    assert list(runs.list(state="failed")) == []
    assert refused(lambda: list(runs.list(page_size=201))).errors[0].pointer == "/limit"
    error = refused(lambda: list(runs.list(state="asleep")))
    assert (error.status, error.title, error.errors[0].pointer) == (422, "Invalid request", "/state")
    assert "asleep" in str(error) or "draft" in str(error)


LEARNS_ROWS = {
    "policy": {"base": "small"},
    "data": {"sources": [{"name": "add", "dataset": "sums@1"}]},
    "objective": {"type": "sft", "completion": "answer", "max_tokens": 96},
    "schedule": {"steps": 40, "prompts_per_step": 2},
}


@on_platform
@pytest.mark.parametrize("spec", [LEARNS_ROWS, RunSpec.model_validate(LEARNS_ROWS)], ids=["mapping", "model"])
def test_a_run_that_learns_from_rows(runs: RunsApi, nouns: Path, spec: Any) -> None:
    made = runs.create("rows", spec)
    assert (made.objective, made.summary.reward, made.summary.loss) == ("sft", None, None)
    assert "reward" not in made.spec
    assert RunSpec.model_validate(made.spec) == RunSpec.model_validate(LEARNS_ROWS)
    Run.objects.filter(pk=made.id).update(summary={"loss": 0.5, "eval_loss": 0.75})
    assert (runs.get(made.id).summary.loss, runs.get(made.id).summary.eval_loss) == (0.5, 0.75)


def test_a_run_that_learns_from_rows_has_no_reward() -> None:
    runs = RunsApi(Connection("http://127.0.0.1:9", "drs_secret", timeout=1, retries=0))
    error = refused(lambda: runs.create("rows", {**LEARNS_ROWS, "reward": {"definition": "exact@1"}}))
    assert (error.status, [fault.pointer for fault in error.errors]) == (None, ["/spec/reward"])
    assert "remove reward" in error.errors[0].detail


@on_platform
def test_one_run(runs: RunsApi, make_run: Callable[..., Run], nouns: Path, other_team: Team) -> None:
    row = make_run("first", start=True)
    run = runs.get(row.id)
    assert (run.id, run.name, run.state, run.desired_state) == (row.id, "first", "queued", "running")
    assert (run.step, run.total_steps, run.policy, run.queue_position) == (0, 40, "small", 1)
    assert run.created_at == row.created_at.replace(microsecond=run.created_at.microsecond)
    assert (run.summary.reward, run.last_checkpoint, run.cost.gpu_hours) == (None, None, 0.0)
    assert run.spec == row.spec and RunSpec.model_validate(run.effective_spec).schedule.steps == 40
    assert run.model_extra is not None and "waiting" in run.model_extra, "what this version does not know is kept"
    Run.objects.filter(pk=row.id).update(team=other_team)
    for missing in (row.id, "run_unknown", "../teams", ""):
        error = refused(lambda missing=missing: runs.get(missing))
        assert (error.status, error.code) == (404, "not_found")
    assert list(runs.list()) == []


@on_platform
def test_a_run_is_created_once(runs: RunsApi, proxy: FaultyProxy, slept: list[float], nouns: Path) -> None:
    draft = runs.create("draft", spec_document())
    assert (draft.state, draft.spec["schedule"]["steps"]) == ("draft", 40)
    proxy.faults = ["lose", "close"]
    queued = runs.create("queued", RunSpec.model_validate(spec_document()), start=True)
    assert queued.state == "queued"
    assert proxy.requests == ["POST /api/v1/runs"] * 4
    assert len(slept) == 2
    again = runs.create("mine", spec_document(), idempotency_key="sweep-1")
    assert runs.create("mine", spec_document(), idempotency_key="sweep-1").id == again.id
    error = refused(lambda: runs.create("other", spec_document(), idempotency_key="sweep-1"))
    assert (error.status, error.code) == (422, "idempotency_key_reused")
    assert sorted(Run.objects.values_list("name", flat=True)) == ["draft", "mine", "queued"]


@on_platform
def test_a_faulty_spec_is_found_without_a_request(runs: RunsApi, proxy: FaultyProxy, nouns: Path) -> None:
    spec = spec_document(optimizer={"lerning_rate": 1e-6}, schedule={"steps": 0}, loss={"type": "ppo_clip", "top": 1})
    here = refused(lambda: runs.create("faulty", spec))
    assert (here.status, here.title, proxy.requests) == (None, "Invalid spec", [])
    assert (
        FieldError(
            "/spec/optimizer/lerning_rate", "There is no member 'lerning_rate' here; did you mean 'learning_rate'?"
        )
        in here.errors
    )
    there = refused(lambda: runs.create("faulty", spec, check=False))
    assert (there.status, there.errors) == (422, here.errors)
    assert len(proxy.requests) == 1
    absent = refused(lambda: runs.create("absent", spec_document(policy={"base": "large"})))
    assert (absent.status, absent.errors[0].pointer) == (422, "/spec/policy/base")
    assert not Run.objects.exists()


@on_platform
def test_a_token_does_what_its_role_may(live_server: Any, team: Team, nouns: Path) -> None:
    viewer, editor = (Client(live_server.url, token_of(team, role)[1]).runs for role in (Role.VIEWER, Role.EDITOR))
    assert refused(lambda: viewer.create("one", spec_document())).status == 403
    error = refused(lambda: editor.create("two", spec_document(), start=True))
    assert (error.status, error.detail) == (403, "Starting a run needs the role operator.")
    assert list(viewer.list()) == []
    error = refused(lambda: list(Client(live_server.url, "drs_wrong").runs.list()))
    assert (error.status, error.title) == (401, "Not signed in")
    assert error.request_id and error.request_id.startswith("req_")


@on_platform
def test_busy_platforms_are_asked_again(runs: RunsApi, proxy: FaultyProxy, slept: list[float]) -> None:
    proxy.faults = [(503, {"Retry-After": "7"}), "close", (429, {})]
    assert list(runs.list()) == []
    assert len(proxy.requests) == 4
    assert 7.0 <= slept[0] < 8.0 and all(0.0 <= pause <= 4.0 for pause in slept[1:])


@pytest.mark.parametrize(
    ("faults", "requests", "status"),
    [
        ([(502, {})] * 5, 4, 502),
        (["close"] * 5, 4, None),
        ([(503, {"Retry-After": "3600"})], 1, 503),
        ([(500, {})], 1, 500),
        ([(404, {})], 1, 404),
        ([(302, {"Location": "https://elsewhere.test/"})], 1, 302),
        ([(200, {"Content-Type": "text/html"})], 1, 200),
        ([(200, {"Content-Type": "application/json"})], 1, 200),
        ([(200, {"Content-Encoding": "gzip"})] * 5, 4, None),
    ],
)
def test_what_is_no_answer_is_reported(faults: list[Any], requests: int, status: int | None) -> None:
    proxy, slept = FaultyProxy("http://127.0.0.1:9", list(faults)), list[float]()
    try:
        connection = Connection(proxy.url, "drs_secret", timeout=120, retries=3, sleep=slept.append)
        error = refused(lambda: list(RunsApi(connection).list()))
        connection.close()
    finally:
        proxy.close()
    assert (error.status, len(proxy.requests), len(slept)) == (status, requests, requests - 1)
    assert "elsewhere.test" in str(error) if status == 302 else proxy.url in str(error)


def test_a_platform_that_is_down_is_named() -> None:
    with Client("http://127.0.0.1:9", "drs_secret", retries=0) as client:
        error = refused(lambda: client.runs.get("run_1"))
    assert (error.status, error.title) == (None, "No answer")
    assert "http://127.0.0.1:9 cannot be reached: " in str(error)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://rl.example.com", "https://rl.example.com"),
        (" http://rl.example.com:8600/api/v1/ ", "http://rl.example.com:8600"),
        ("https://example.com/rl/", "https://example.com/rl"),
    ],
)
def test_addresses(url: str, address: str) -> None:
    client = Client(url, "drs_secret")
    assert (client.url, repr(client)) == (address, f"Client({address!r})")


@pytest.mark.parametrize(
    "url", ["", "rl.example.com", "ftp://example.com", "http://", "http://a:drs_secret@b", "http://a?b", "http://[::"]
)
def test_addresses_that_are_none(url: str) -> None:
    assert "drs_secret" not in str(refused(lambda: Client(url, "drs_secret")))


@pytest.mark.parametrize("token", ["", " ", "drs_\nsecret", "drs_secret€", "drs secret", "drs_secret\0"])
def test_tokens_that_are_none_are_not_shown(token: str) -> None:
    error = refused(lambda: Client("http://127.0.0.1:9", token))
    assert "secret" not in f"{error}{error!r}"


def test_the_environment_names_platform_and_token(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (URL, TOKEN):
        monkeypatch.delenv(name, raising=False)
    assert str(refused(Client)) == "No address: Set DRESSAGE_URL, or pass url=… to Client."
    monkeypatch.setenv(URL, "http://127.0.0.1:9")
    assert str(refused(Client)) == "No API token: Set DRESSAGE_TOKEN, or pass token=… to Client."
    monkeypatch.setenv(TOKEN, "drs_secret")
    assert Client().url == "http://127.0.0.1:9"
    assert Client("http://127.0.0.1:10").url == "http://127.0.0.1:10"


@on_platform
def test_logs_hold_no_secret(runs: RunsApi, proxy: FaultyProxy, secret: str, caplog: pytest.LogCaptureFixture) -> None:
    for logger in (None, "httpx", "httpcore"):
        caplog.set_level(logging.DEBUG, logger)
    proxy.faults = ["close"]
    assert list(runs.list()) == []
    assert "api/v1/runs" in caplog.text
    assert secret not in caplog.text


@pytest.mark.parametrize("model", SHAPES)
def test_answers_have_the_members_that_models_read(model: type[models.ApiModel]) -> None:
    assert list(_faults(model, COMPONENTS[SHAPES[model]])) == []


def _faults(model: type[models.ApiModel], component: dict[str, Any]) -> Any:
    """Members that the OpenAPI document does not have, may leave out, or may send as null unexpectedly."""
    for name, info in model.model_fields.items():
        schema = component["properties"].get(name)
        if schema is None or name not in component["required"]:
            yield f"{model.__name__}.{name} may be missing"
            continue
        text = json.dumps(schema)
        if ('"null"' in text) != (type(None) in get_args(info.annotation)) and "{}" not in text:
            yield f"{model.__name__}.{name} may be null in one of the two"
        inner = next((kind for kind in (info.annotation, *get_args(info.annotation)) if _is_model(kind)), None)
        if inner is not None:
            [reference] = re.findall(r'"#/components/schemas/(\w+)"', text)
            yield from _faults(inner, COMPONENTS[reference])


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, models.ApiModel)
