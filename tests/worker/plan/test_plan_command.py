"""The planner's command line with given rates: table, JSON, and one sentence for each contradiction."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.trainer_core.planning.rates_for_planning import BY_HAND
from tests.trainer_core.planning.test_plan import SMALL
from tests.trainer_core.specs import document
from worker.plan.__main__ import main


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(document(**SMALL)))
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump({"title": "t", "spec": document(**SMALL)}))
    (tmp_path / "rates.yaml").write_text(yaml.safe_dump(BY_HAND))
    return tmp_path


def run(files: Path, *arguments: str, spec: str = "spec.yaml") -> int:
    return main([str(files / spec), *arguments])


def given(files: Path) -> list[str]:
    return ["--rates", str(files / "rates.yaml")]


def test_the_table_names_every_mode_and_the_source_of_its_rates(files: Path, capsys: pytest.CaptureFixture) -> None:
    assert run(files, "--gpus", "4", *given(files)) == 0
    text = capsys.readouterr().out
    assert "made up for a test" in text
    assert "best split of 4 GPUs" in text
    for mode in ("sync", "streamed", "async", "in_flight"):
        assert f"  {mode} " in text
    assert "17.00 s" in text and "10.2 min" in text


def test_a_run_that_learns_from_rows_has_one_mode(files: Path, capsys: pytest.CaptureFixture) -> None:
    own = {name: document()[name] for name in ("policy", "data")}
    (files / "rows.yaml").write_text(yaml.safe_dump({**own, "objective": {"type": "sft"}}))
    assert run(files, "--gpus", "4", *given(files), spec="rows.yaml") == 0
    text = capsys.readouterr().out
    assert "a step: 32 rows, 100 tokens each" in text
    assert "in_flight" not in text
    assert run(files, "--gpus", "4", spec="rows.yaml") == 2
    assert "give --rates" in capsys.readouterr().err


def test_json_holds_the_same_figures(files: Path, capsys: pytest.CaptureFixture) -> None:
    assert run(files, "--gpus", "8", "--sweep", "--json", "--price", "3", *given(files), spec="recipe.yaml") == 0
    plans: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    assert [plan["gpus"] for plan in plans] == [2, 4, 8]
    assert plans[0]["current"]["step_seconds"] == pytest.approx(17.0)
    assert plans[0]["current"]["cost"] == pytest.approx(3 * plans[0]["current"]["gpu_hours"])


def test_seconds_given_by_hand_replace_those_of_the_file(files: Path, capsys: pytest.CaptureFixture) -> None:
    arguments = ["--gpus", "2", "--json", "--reward-seconds", "3", "--loop-seconds", "0", *given(files)]
    assert run(files, *arguments, "--save-rates", str(files / "used.yaml")) == 0
    (plan,) = json.loads(capsys.readouterr().out)
    assert plan["current"]["step_seconds"] == pytest.approx(17.0 + 2.0 - 0.75)
    assert yaml.safe_load((files / "used.yaml").read_text())["reward_seconds"] == 3.0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--gpus", "1"], "1 GPU cannot hold one rollout engine (1) and one learner rank (1)."),
        (["--gpus", "4", "--price", "-2"], "a price must be 0 or more, not -2."),
    ],
)
def test_contradictions_end_with_2_and_one_sentence(
    files: Path, capsys: pytest.CaptureFixture, arguments: list[str], sentence: str
) -> None:
    assert run(files, *arguments, *given(files)) == 2
    printed = capsys.readouterr()
    assert printed.err == f"worker.plan: {sentence}\n"
    assert printed.out == ""


def test_files_that_cannot_be_used_are_named(files: Path, capsys: pytest.CaptureFixture) -> None:
    (files / "spec.yaml").write_text("rollout: {group_size: 1}")
    assert run(files, "--gpus", "2", *given(files)) == 2
    assert "spec.yaml is not a valid run spec: policy: Field required" in capsys.readouterr().err
    (files / "rates.yaml").write_text(yaml.safe_dump({**BY_HAND, "prompt_tokens": -1}))
    assert run(files, "--gpus", "2", *given(files), spec="recipe.yaml") == 2
    assert "rates.yaml has no valid rates: prompt_tokens:" in capsys.readouterr().err
    assert run(files, "--gpus", "2", "--rates", str(files / "none.yaml"), spec="recipe.yaml") == 2
    assert "none.yaml cannot be read" in capsys.readouterr().err
    assert run(files, "--gpus", "2", spec="recipe.yaml") == 2
    assert "rates are needed: give --rates FILE, or --policy FOLDER" in capsys.readouterr().err
