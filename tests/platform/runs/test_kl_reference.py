"""The reference policy in a bundle: which folder ``kl.reference`` means in runs, forks, resumes and rewinds."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.policies.models import Policy
from dressage.runs.models import Run
from dressage.runs.sweep.reconcile import sweep
from dressage.teams.models import Team
from tests.platform.runs.fixtures import Worker, expire_lease, spec_document

Launch = Callable[..., tuple[Run, Worker]]


@pytest.fixture
def operator(api: Callable[..., APIClient], settings: Any, nouns: Path) -> APIClient:
    settings.MAX_ACTIVE_RUNS = 8
    return api("operator")


@pytest.fixture
def other(team: Team, tmp_path: Path) -> Path:
    """The folder of a second policy of the team, ``other``."""
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    Policy.objects.create(
        team=team, slug="other", name="Other", path=str(folder), architecture="B", parameters=2, vocab_size=1,
        max_position_embeddings=96, bytes=1, sha256="1", created_by="x",
    )  # fmt: skip
    return folder


def kl(reference: str | None = None, coefficient: float = 0.1) -> dict[str, Any]:
    return {"coefficient": coefficient} | ({} if reference is None else {"reference": reference})


def reference_of(run_id: str, attempt: int) -> Any:
    """(folder of the policy, folder of the reference or None) in a bundle."""
    bundle = Worker(run_id, attempt).get("bundle").json()
    named = bundle["reference"]
    return Path(bundle["policy"]["path"]), None if named is None else Path(named["path"])


def begin(operator: APIClient, run_id: str) -> Worker:
    assert operator.post(f"/api/v1/runs/{run_id}/start").status_code == 202
    sweep()
    worker = Worker(run_id, Run.objects.get(pk=run_id).attempt)
    worker.state("running")
    return worker


def fork(operator: APIClient, run: str, **parts: Any) -> str:
    answer = operator.post(f"/api/v1/runs/{run}/fork", {"spec": spec_document(**parts)}, format="json")
    assert answer.status_code == 201, answer.content
    return str(answer.json()["id"])


@pytest.fixture
def parent(launch: Launch) -> Run:
    """A run with a checkpoint after step 5."""
    run, worker = launch(kl=kl())
    worker.steps(1, 5)
    worker.checkpoint(5)
    return run


@pytest.mark.parametrize("reference", [None, "base", "start"])
def test_a_new_run_starts_from_its_base(launch: Launch, nouns: Path, reference: str | None) -> None:
    run, worker = launch(kl=kl(reference))
    assert reference_of(run.id, 1) == (nouns, None)
    worker.steps(1, 2)
    worker.checkpoint(2)
    expire_lease(run)
    sweep()
    assert reference_of(run.id, 2) == (nouns, None)


@pytest.mark.parametrize("reference", [None, "base", "start"])
def test_a_fork_and_its_resumes(
    parent: Run, operator: APIClient, nouns: Path, reference: str | None, settings: Any
) -> None:
    child = fork(operator, parent.id, kl=kl(reference))
    origin = settings.RUN_ROOT / child / "origin"
    expected = (origin, None if reference == "start" else nouns)
    worker = begin(operator, child)
    assert reference_of(child, 1) == expected
    worker.steps(1, 2)
    worker.checkpoint(2)
    expire_lease(Run.objects.get(pk=child))
    sweep()
    assert reference_of(child, 2) == expected


@pytest.mark.parametrize("reference", ["base", "start"])
def test_a_fork_of_a_fork_starts_anew(
    parent: Run, operator: APIClient, nouns: Path, settings: Any, reference: str
) -> None:
    first = fork(operator, parent.id, kl=kl("start"))
    worker = begin(operator, first)
    worker.steps(1, 3)
    worker.checkpoint(3)
    second = fork(operator, first, kl=kl(reference))
    begin(operator, second)
    origin = settings.RUN_ROOT / second / "origin"
    assert reference_of(second, 1) == (origin, nouns if reference == "base" else None)


@pytest.mark.parametrize("reference", ["base", "start"])
def test_a_rewind_keeps_the_reference_of_its_parent(
    parent: Run, operator: APIClient, nouns: Path, settings: Any, reference: str
) -> None:
    first = fork(operator, parent.id, kl=kl(reference))
    worker = begin(operator, first)
    worker.steps(1, 3)
    worker.checkpoint(3)
    body = {"target": "thinking.budget", "value": 10}
    path = f"/api/v1/runs/{first}/controls"
    control = operator.post(path, body, format="json", headers={"If-Match": "0"}).json()["id"]
    worker.sync(applied=[{"control_id": control, "state": "applied", "step": 4}])
    rewound = operator.post(f"{path}/{control}/rewind").json()["id"]
    begin(operator, rewound)
    started = settings.RUN_ROOT / first / "origin"
    assert reference_of(rewound, 1) == (nouns, started if reference == "start" else None)


def test_another_policy_as_the_reference(launch: Launch, nouns: Path, other: Path) -> None:
    run, worker = launch(kl=kl("other"))
    assert reference_of(run.id, 1) == (nouns, other)
    assert worker.get("bundle").json()["reference"]["name"] == "other"


def test_without_a_penalty_there_is_no_reference(parent: Run, operator: APIClient) -> None:
    child = fork(operator, parent.id, kl=kl("base", 0.0))
    begin(operator, child)
    assert reference_of(child, 1)[1] is None


@pytest.mark.parametrize(
    ("reference", "says"),
    [
        ("none", "There is no policy 'none' in this team."),
        ("other", "The reference policy 'other' has a vocabulary of 2, and the policy 'small' of 1: "),
    ],
)
def test_what_cannot_be_the_reference_is_refused(operator: APIClient, other: Path, reference: str, says: str) -> None:
    Policy.objects.filter(slug="other").update(vocab_size=2)
    spec = spec_document(kl=kl(reference))
    answer = operator.post("/api/v1/runs", {"name": "n", "spec": spec}, format="json")
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/spec/kl/reference")
    assert answer.json()["detail"].startswith(says)
    assert Run.objects.count() == 0
