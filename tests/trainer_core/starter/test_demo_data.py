"""The demo's datasets: what the script reads out of GSM8K, and the files as they lie in the repository."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

DEMO = Path(__file__).parents[3] / "demo"
TRAINING = ("gsm8k-add-sub", "gsm8k-mul", "gsm8k-div")
EVALUATION = ("gsm8k-eval", "gsm8k-eval-mul", "gsm8k-eval-div")


@pytest.fixture(scope="module")
def build_data() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_data", DEMO / "build_data.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (DEMO / "data" / f"{name}.jsonl").read_text().splitlines()]


def test_only_right_short_calculations_with_a_scratchpad_are_taken(build_data: ModuleType) -> None:
    written = "48/2=24", "5+5=11", "2-3=-1", "7/2=3.5", "12*12=144", "3*12=36", "12345+1=12346", "007+1=8", "1+2+3=6"
    answer = " ".join(f"<<{text}>>" for text in written)
    assert [p.prompt for p in build_data.problems([{"answer": answer}])] == ["48/2=", "3*12="]


def test_questions_keep_their_text_and_final_number(build_data: ModuleType) -> None:
    made = list(build_data.questions([{"question": "How many?", "answer": "<<1+1=2>>2\n#### 1,200"}]))
    assert made == [{"prompt": "How many?", "answer": "1200", "source": "questions"}]


@pytest.mark.parametrize("name", TRAINING + EVALUATION)
def test_committed_rows_are_right(name: str) -> None:
    for row in rows(name):
        assert set(row) == {"prompt", "answer", "source"}
        assert eval(row["prompt"].removesuffix("=")) == int(row["answer"])


def test_training_and_evaluation_share_no_prompt() -> None:
    training = [row["prompt"] for name in TRAINING for row in rows(name)]
    evaluation = [row["prompt"] for name in EVALUATION for row in rows(name)]
    assert len(set(training)) == len(training) == 4400
    assert len(set(evaluation)) == len(evaluation) == 820
    assert not set(training) & set(evaluation)


def test_completions_are_derived_from_the_calculations(build_data: ModuleType) -> None:
    made = build_data.derived({name: rows(name) for name in TRAINING + EVALUATION})
    assert made.keys() == {"gsm8k-worked", "gsm8k-pairs", "gsm8k-worked-eval", "gsm8k-pairs-eval"}
    calculations = {
        suffix: {row["prompt"]: row for name in names for row in rows(name)}
        for suffix, names in (("", TRAINING), ("-eval", EVALUATION))
    }
    for suffix, known in calculations.items():
        learned = [made[f"gsm8k-{kind}{suffix}"] for kind in ("worked", "pairs")]
        assert [rows(f"gsm8k-{kind}{suffix}") for kind in ("worked", "pairs")] == learned
        prompts = [row["prompt"] for found in learned for row in found]
        assert len(set(prompts)) == len(prompts) and set(prompts) <= known.keys()
        for row in learned[0]:
            assert row["completion"] == f"<think>{thinking(row['completion'])}</think>{row['answer']}"
        for row in learned[1]:
            assert row["chosen"].endswith(f"</think>{row['answer']}")
            assert int(row["rejected"]) >= 0 and row["rejected"] != row["answer"]
    assert {"prompt": "48/2=", "answer": "24", "source": "div"}.items() <= build_data.worked(
        {"prompt": "48/2=", "answer": "24", "source": "div"}
    ).items()


def thinking(completion: str) -> str:
    return completion.removeprefix("<think>").partition("</think>")[0]


def test_evaluation_is_exactly_what_the_warm_up_never_draws(build_data: ModuleType) -> None:
    for names, expected in ((TRAINING, False), (EVALUATION, True)):
        answers = [f"<<{row['prompt']}{row['answer']}>>" for name in names for row in rows(name)]
        assert {p.is_held_out for p in build_data.problems([{"answer": a} for a in answers])} == {expected}


def test_files_are_small_and_carry_their_licence() -> None:
    assert sum(path.stat().st_size for path in (DEMO / "data").iterdir()) < 1_500_000
    assert (DEMO / "data" / "LICENSE").read_text().startswith("MIT License")


def test_script_refuses_a_missing_file(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "demo.build_data", str(tmp_path / "train.jsonl"), "--out", str(tmp_path / "out")],
        cwd=DEMO.parent,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "train.jsonl is not a file" in done.stderr
    assert not (tmp_path / "out").exists()
