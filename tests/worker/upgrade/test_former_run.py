"""The folder of a run that the worker of before has left is read by the worker of now.

The files were written by the code of commit 0f010f5, in a run that trained (see ``tests/data/installation/README.md``).
"""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.link.events import KINDS, LinkEvent, StateData, event_data
from trainer_core.spec import RunSpec
from trainer_core.steering.curriculum import Curriculum
from trainer_core.steering.experience_replay import ReplayBuffer
from trainer_core.steering.guards import GuardWatch
from trainer_core.steering.length_schedule import LengthSchedule
from trainer_core.update.learner import Learner
from trainer_core.update.saving.saved import SavedCheckpoint
from worker.link.journal import Journal, journal_path
from worker.loop.checkpoints import Checkpoints, Wish

ROOT = Path(__file__).resolve().parents[3]
FORMER = ROOT / "tests" / "data" / "installation"


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    """A copy of the run's folder, to go on in."""
    return Path(shutil.copytree(FORMER / "run", tmp_path / "run"))


@pytest.fixture
def state() -> Any:
    """What the loop of before has put into the checkpoint of step 2."""
    saved = json.loads((FORMER / "run" / "checkpoints" / "step-000002-a1" / "training" / "state.json").read_text())
    return saved["extra"]


@pytest.fixture
def spec() -> RunSpec:
    return RunSpec.model_validate_json((FORMER / "run" / "spec.json").read_text())


def journal_lines() -> list[dict[str, Any]]:
    lines = (FORMER / "run" / "journal" / "attempt-1.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines[:-1]]


def test_a_journal_goes_on_where_it_was_cut(run_dir: Path) -> None:
    events = [record for record in journal_lines() if "seq" in record]
    last = events[-1]["seq"]
    journal = Journal(journal_path(run_dir, 1))
    assert (journal.last_seq, journal.acked_seq, journal.unacked) == (last, last - 2, 2)
    assert [json.loads(text) for text in journal.batch(10, 10**6)] == events[-2:]
    journal.append([{"seq": last + 1, "kind": "log", "step": None, "at": "2026-11-22T06:00:00Z", "data": {}}])
    journal.acknowledge(last)
    assert [json.loads(text)["seq"] for text in journal.batch(10, 10**6)] == [last + 1]
    journal.close()


def test_every_event_of_before_is_one_of_the_contract() -> None:
    found = set()
    for record in journal_lines():
        if "seq" in record:
            event = LinkEvent.model_validate(record)
            data = event_data(event)
            found.add(event.kind)
            told = data.model_dump(mode="json", exclude_unset=True)
            assert set(record["data"]) >= told.keys() - {"by_request"}
    assert found >= {"state", "phase", "step", "eval", "rollouts", "checkpoint", "alert", "log"}
    assert found <= KINDS.keys()


@pytest.mark.parametrize("reason, asked", [("asked to pause", True), ("A guard has paused the run.", False)])
def test_a_pause_of_before_tells_who_wanted_it(reason: str, asked: bool) -> None:
    assert StateData.model_validate({"state": "paused", "reason": reason}).by_request is asked


def test_checkpoints_of_an_earlier_attempt_are_known_and_pruned(run_dir: Path) -> None:
    folder = run_dir / "checkpoints"
    # The run asked for rewind points at steps 2 and 3 and ended at 4: only what is added here may go.
    (folder / "step-000001-a1").mkdir()
    with (folder / "reasons.jsonl").open("a") as file:
        file.write(json.dumps({"name": "step-000001-a1", "reasons": ["schedule"]}) + "\n")

    class Link:
        acked_seq = 1

        def emit(self, *_: Any) -> int:
            return 1

    link: Any = Link()
    second = Checkpoints(run_dir, 2, 1, link)
    path = second.path(6)
    path.mkdir()
    second.announce(6, [Wish("schedule")], SavedCheckpoint(str(path), 1, "0" * 64, 6))
    left = sorted(path.name for path in folder.iterdir() if path.is_dir())
    assert left == ["step-000002-a1", "step-000003-a1", "step-000004-a1", "step-000006-a2"]


def test_the_loop_goes_on_from_the_state_of_before(state: Any, spec: RunSpec) -> None:
    rows = {
        "add": read_rows("gsm8k-add-sub", 64),
        "mul": read_rows("gsm8k-mul", 64),
    }
    curriculum = Curriculum(spec, rows, spec.schedule.seed)
    curriculum.load(state["curriculum"])
    now = json.loads(json.dumps(curriculum.state()))
    assert {name: now[name] for name in state["curriculum"]} == state["curriculum"]
    drawn = {draw.prompt_id for draw in curriculum.draw(spec.schedule.prompts_per_step, 3)}
    sampled = {
        row["prompt_id"]
        for record in journal_lines()
        if record.get("kind") == "rollouts" and record["step"] == 3
        for row in record["data"]["rows"]
    }
    assert sampled and sampled <= drawn, "the next prompts are those that the worker of before drew"
    guards, lengths, replay = GuardWatch(spec.guards), LengthSchedule(spec), ReplayBuffer(spec)
    guards.load(state["guards"])
    counted = {name: guards.state()[name] for name in ("outside", "past")}
    assert counted == {name: state["guards"][name] for name in counted}
    for part, saved in ((lengths, state["lengths"]), (replay, state["replay"])):
        part.load(saved)
        assert json.loads(json.dumps(part.state())) == saved
    assert state["replay"]["groups"], "a group with its tokens is among what was kept"
    assert (state["step"], state["pending"]) == (2, [])
    assert state["tokens_total"] > 0 and state["elapsed_s"] > 0


@pytest.mark.expensive(3, "loads a policy and learns a step")
def test_the_learner_goes_on_from_a_checkpoint_of_before() -> None:
    learner, spec = Learner(FORMER / "policy", make_spec()), make_spec()
    extra = learner.load(FORMER / "checkpoint")
    assert (learner.version, extra) == (2, {"step": 2, "curriculum": {"drawn": [1, 2], "rng": None}})
    weights, stored = learner.weights(), load_file(FORMER / "checkpoint" / "model.safetensors")
    assert weights.keys() == stored.keys()
    assert all(np.array_equal(weights[name], stored[name]) for name in weights)
    learner.update(make_groups(3), spec, 3)
    assert learner.version == 3
    assert any(not np.array_equal(learner.weights()[name], stored[name]) for name in stored)


def read_rows(name: str, count: int) -> list[dict[str, Any]]:
    lines = (ROOT / "demo" / "data" / f"{name}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines[:count]]
