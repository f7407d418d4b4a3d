"""Questions about stables, and a model that writes them anew and answers them: for tests of syntheses."""

import json
import re
from typing import Any

from dressage.datasets.models import DatasetVersion
from dressage.datasets.versions import storage
from dressage.lab.models import LabJob

SYNTHESIS: dict[str, Any] = {"kind": "synthesis", "endpoint": "model", "variations": 2, "attempts": 4}


def question_of(body: dict[str, Any]) -> str:
    return str(body["messages"][-1]["content"])


def is_writing(body: dict[str, Any]) -> bool:
    return "variations of a question" in str(body["messages"][0]["content"])


def written(*texts: str) -> str:
    return json.dumps({"variations": list(texts)})


def number_in(body: dict[str, Any]) -> int:
    found = re.search(r"(\d+) horses", question_of(body))
    assert found
    return int(found[1])


def source(number: int) -> dict[str, Any]:
    question = f"A stable has {number} horses and {number} ponies. How many animals stand in the stable?"
    return {"prompt": question, "answer": str(2 * number), "level": 3}


def retold(number: int) -> str:
    return f"There are {number} ponies together with {number} horses; give the count of all of them."


def asked_anew(number: int) -> str:
    return f"Somebody keeps {number} horses beside {number} ponies. Say what they come to in sum."


def solved(body: dict[str, Any]) -> str:
    return f"Twice as many: \\boxed{{{2 * number_in(body)}}}."


def writes_two(body: dict[str, Any]) -> str:
    number = number_in(body)
    return written(retold(number), asked_anew(number)) if is_writing(body) else solved(body)


def rows_of(version: DatasetVersion) -> list[tuple[str, dict[str, Any]]]:
    identified = storage.read_identified(version.path, range(version.rows))
    rows = [one["row"] for one in storage.read_rows(version.path, 0, version.rows)]
    return [(row_id, row) for (_, row_id, _), row in zip(identified, rows, strict=True)]


def refusals(job: LabJob) -> list[tuple[str, str]]:
    return [(one["reason"], one["detail"]) for one in (job.report or {})["synthesis"]["refused_ones"]]
