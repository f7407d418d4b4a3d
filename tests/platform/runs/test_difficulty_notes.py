"""Row notes of difficulty reach the runs that begin from them, and nobody else."""

import io
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem
from dressage.datasets.models import DatasetVersion
from dressage.datasets.versions import notes
from dressage.datasets.versions.notes import NoteSource
from dressage.runs.models import Run
from dressage.runs.sweep import reconcile
from tests.platform.runs.fixtures import Worker, expire_lease

Launch = Callable[..., tuple[Run, Worker]]
SOURCE: NoteSource = {"kind": "difficulty", "id": "prof_1", "arguments": {}}
MEASURED = {"pass_rate": pa.array([0.25, None], pa.float64()), "samples": pa.array([8, 0], pa.int64())}
BAND = {"type": "difficulty_band"}
BY_NOTES = {"type": "goldilocks", "rates": "notes"}


@pytest.fixture
def noted(nouns: Any, actor: Actor) -> DatasetVersion:
    version = DatasetVersion.objects.get()
    notes.write(version, "difficulty", pa.table(MEASURED), by=actor, source=SOURCE)
    return version


@pytest.mark.parametrize("curriculum", [BAND, BY_NOTES, {"type": "difficulty_target"}, {"type": "uniform"}])
def test_a_run_begins_from_the_notes(launch: Launch, noted: DatasetVersion, curriculum: dict[str, Any]) -> None:
    run, worker = launch(curriculum=curriculum)
    named = worker.get("bundle").json()["datasets"]["sums@1"]["difficulty"]
    assert named == {"url": f"/api/v1/link/runs/{run.id}/datasets/sums@1/difficulty"}
    file = worker.get("datasets/sums@1/difficulty")
    table = pq.read_table(io.BytesIO(b"".join(file.streaming_content)))
    assert table.to_pydict() == {"pass_rate": [0.25, None], "samples": [8, 0]}


@pytest.mark.parametrize("curriculum", [{**BAND, "start_from_notes": False}, {"type": "goldilocks"}])
def test_a_run_that_does_not_want_them_is_told_of_none(
    launch: Launch, noted: DatasetVersion, curriculum: dict[str, Any]
) -> None:
    _, worker = launch(curriculum=curriculum)
    assert "difficulty" not in worker.get("bundle").json()["datasets"]["sums@1"]


def test_notes_without_samples_are_no_prior(launch: Launch, nouns: Any, actor: Actor) -> None:
    rates = pa.table({"pass_rate": MEASURED["pass_rate"]})
    notes.write(DatasetVersion.objects.get(), "difficulty", rates, by=actor, source=SOURCE)
    _, worker = launch(curriculum=BAND)
    assert "difficulty" not in worker.get("bundle").json()["datasets"]["sums@1"]


def test_without_notes_nothing_is_told_and_nothing_is_there(launch: Launch) -> None:
    _, worker = launch(curriculum=BAND)
    assert "difficulty" not in worker.get("bundle").json()["datasets"]["sums@1"]
    worker.get("datasets/sums@1/difficulty", 404)
    worker.get("datasets/other@1/difficulty", 404)


def test_held_out_data_bring_none(launch: Launch, noted: DatasetVersion, actor: Actor) -> None:
    lines = b'{"prompt": "2+2=", "answer": "4"}\n'
    from dressage.datasets.services import create_dataset

    made = create_dataset(noted.dataset.team, actor, name="Held", file=io.BytesIO(lines), size=len(lines))
    held = made.versions.get()
    one = pa.table({"pass_rate": pa.array([0.5]), "samples": pa.array([4])})
    notes.write(held, "difficulty", one, by=actor, source=SOURCE)
    _, worker = launch(curriculum=BAND, evaluation={"sources": [{"name": "held", "dataset": "held@1"}]})
    found = worker.get("bundle").json()["datasets"]
    assert "difficulty" in found["sums@1"] and "difficulty" not in found["held@1"]


def test_a_run_that_goes_on_has_them_in_its_checkpoint(launch: Launch, noted: DatasetVersion) -> None:
    run, worker = launch(curriculum=BAND)
    worker.checkpoint(3)
    expire_lease(run)
    reconcile.sweep()
    run.refresh_from_db()
    again = Worker(run.id, run.attempt).get("bundle").json()
    assert again["resume"]["step"] == 3 and "difficulty" not in again["datasets"]["sums@1"]


def test_goldilocks_by_notes_needs_notes(make_run: Callable[..., Run]) -> None:
    with pytest.raises(Problem) as refused:
        make_run(curriculum=BY_NOTES)
    errors = refused.value.errors
    assert [error["pointer"] for error in errors] == ["/spec/data/sources/0/dataset", "/spec/data/sources/1/dataset"]
    assert errors[0]["detail"].startswith("sums@1 has no row notes 'difficulty', which the curriculum needs")
    assert not Run.objects.exists()


def test_a_run_keeps_what_it_was_given_when_the_notes_go(launch: Launch, noted: DatasetVersion, actor: Actor) -> None:
    run, worker = launch(curriculum=BY_NOTES)
    worker.checkpoint(3)
    notes.delete(notes.named(noted, "difficulty"), actor)
    expire_lease(run)
    reconcile.sweep()
    run.refresh_from_db()
    assert Worker(run.id, run.attempt).get("bundle").json()["resume"]["step"] == 3
