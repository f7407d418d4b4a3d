"""Prompts that the planner is given: rows as uploads take them, and refusals in one sentence."""

import json
from pathlib import Path

import pytest

from trainer_core.planning import PlanError
from worker.plan.documents import read_rows

GSM8K = Path(__file__).parents[2] / "data" / "references" / "gsm8k" / "test.jsonl"


def test_rows_of_known_shapes_are_mapped_and_repeated(tmp_path: Path) -> None:
    lines = GSM8K.read_text().splitlines()[:2]
    (tmp_path / "two.jsonl").write_text("\n".join(lines))
    found = read_rows(tmp_path / "two.jsonl", 3)
    questions = [json.loads(line)["question"] for line in [*lines, lines[0]]]
    assert [row["messages"] for row in found] == [[{"role": "user", "content": question}] for question in questions]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "must contain one JSON object per line, with a prompt or messages."),
        ("[1]", "must contain one JSON object per line, with a prompt or messages."),
        ('{"query": "?"}', "It has the columns `query`."),
        ('{"question": "?", "answer": "#### "}', "There is nothing after the `####` of `answer`."),
    ],
)
def test_other_rows_are_refused(tmp_path: Path, content: str, told: str) -> None:
    (tmp_path / "rows.jsonl").write_text(content)
    with pytest.raises(PlanError) as caught:
        read_rows(tmp_path / "rows.jsonl", 1)
    assert told in str(caught.value)
