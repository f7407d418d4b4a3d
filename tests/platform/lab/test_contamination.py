"""Contamination: rows that evaluation sets have, and, as many, rows that they have not."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rest_framework.test import APIClient

from dressage.datasets.models import DatasetVersion
from dressage.datasets.selectors import version_by_ref
from dressage.datasets.versions import notes, storage
from dressage.lab.arguments import FindContamination
from dressage.lab.contamination import meetings
from dressage.lab.contamination.find import find_contamination
from dressage.lab.models import LabJob
from dressage.lab.plan import LabWork, StoredRows
from dressage.teams.models import Team
from tests.support.about import PLATFORM

QUESTION = (
    "A robe takes 2 bolts of blue fiber and half that much white fiber. The tailor of the village sews it for a friend "
    "who lives near the river. How many bolts in total does it take?"
)
HORSES = (
    "The farmer keeps his horses in a stable behind the old mill, and every horse eats three sacks of oats in a week. "
    "In winter he buys hay from a neighbour. How much will he have to store for a month?"
)
CHINESE = "小明昨天在商店里买了很多苹果和香蕉然后他走路回家了路上遇到一个老朋友他们一起去公园玩了整整一个下午"
FILLER = "Here is something that was said at the market before anybody else had come to listen to it."
PLANTED = [
    (QUESTION, QUESTION, "equal"),
    ("  " + QUESTION.upper().replace(". ", " .  "), QUESTION, "equal"),
    ("How many horses are there", "How many horses are there?", "equal"),
    (CHINESE, CHINESE.replace("他", "他", 1) + "。", "equal"),
    (QUESTION.replace("tailor", "weaver"), QUESTION, "near"),
    (QUESTION + " Explain briefly.", QUESTION, "part"),
    (f"{FILLER} {QUESTION} {FILLER.replace('market', 'station')}", QUESTION, "part"),
    (QUESTION, f"{FILLER} {QUESTION} {FILLER.replace('market', 'station')}", "part"),
    (QUESTION[: QUESTION.index("How many")], QUESTION, "part"),
    (f"{FILLER} {CHINESE}", CHINESE, "part"),
]
CLEAN = [
    (QUESTION.replace("2 bolts", "7 bolts"), QUESTION),
    (QUESTION.replace("half", "twice"), QUESTION),
    (f"{FILLER} {QUESTION.replace('2 bolts', '9 bolts')}", QUESTION),
    (HORSES, QUESTION),
    (f"{HORSES} {FILLER}", f"{QUESTION} {FILLER}"),
    ("How many horses are there?", "How many cows are there?"),
    ("How many bolts in total does it take?", QUESTION),
    (CHINESE[::-1], CHINESE),
    ("?!", "..."),
    (" ".join(f"word{n}" for n in range(12)), " ".join(f"word{n}" for n in range(12)) + " goes on in another way"),
]


@pytest.fixture
def search(make: Callable[..., DatasetVersion], tmp_path: Path) -> Callable[..., Any]:
    """``search(rows, *sets, **options)``: (notes by column, report), without a job around it."""

    def run(rows: list[Any], *sets: list[Any], **options: Any) -> tuple[dict[str, list[Any]], Any]:
        stored = []
        for one in (rows, *sets):
            version = make(one, name=f"Rows {random.random()}")
            stored.append(StoredRows(version.ref, version.path, version.rows))
        folder = tmp_path / f"work-{random.random()}"
        folder.mkdir()
        operation = FindContamination(kind="contamination", against=[one.ref for one in stored[1:]], **options)
        result = find_contamination(LabWork(stored[0], stored[1:], folder, lambda *_: None), operation)
        return result.table.to_pydict(), result.report

    return run


@pytest.mark.parametrize(("row", "other", "match"), PLANTED)
def test_what_an_evaluation_set_has_is_found(search: Callable[..., Any], row: str, other: str, match: str) -> None:
    found, report = search(["Of no use to anybody here.", row], ["Another one, quite alone.", other])
    assert (found["match"], found["clean"], found["row"]) == ([None, match], [True, False], [None, 2])
    assert (report["clean"], report[f"{match}_rows"], report["sets"][0]["found"]) == (1, 1, 1)
    assert report["largest"][0]["row"]["index"] == 1
    assert report["largest"][0]["met"]["index"] == 1


@pytest.mark.parametrize(("row", "other"), CLEAN)
def test_other_questions_are_clean(search: Callable[..., Any], row: str, other: str) -> None:
    found, report = search([row], [other])
    assert found["clean"] == [True] and report["clean"] == 1
    assert report["largest"] == [] and report["sets"][0]["found"] == 0


def test_other_numbers_are_told(search: Callable[..., Any]) -> None:
    row = f"{FILLER} {QUESTION.replace('2 bolts', '9 bolts')}"
    found, report = search([row], [QUESTION])
    assert (found["match"], found["clean"], report["other_numbers"]) == (["other_numbers"], [True], 1)
    found, report = search([row], [QUESTION], same_figures=False)
    assert (found["match"], found["clean"], report["other_numbers"]) == (["part"], [False], 0)


def test_what_all_rows_say_is_no_contamination(search: Callable[..., Any]) -> None:
    """Instructions before every question, here and in the evaluation set; one question both have."""
    said = "Solve the following problem step by step and put the final answer of your work in a box at the very end: "
    words = [f"thing{n}" for n in range(2_000)]
    rng = random.Random(3)
    rows = [said + " ".join(rng.choices(words, k=25)) for _ in range(60)]
    others = [said + " ".join(rng.choices(words, k=25)) for _ in range(40)]
    found, report = search([*rows, others[7]], others)
    assert found["clean"] == [True] * 60 + [False]
    assert report["common_runs"] > 0 and found["row"][60] == 8
    few, report = search(rows[:5], others[:5])  # too few rows to tell what is common
    assert report["common_runs"] == 0 and few["clean"].count(False) == 0


def test_the_row_that_shares_most_is_named(search: Callable[..., Any]) -> None:
    part = QUESTION[: QUESTION.index("sews")]
    found, report = search([f"{FILLER} {QUESTION}"], [part, HORSES], [HORSES, QUESTION, part])
    assert found["against"][0].endswith("@1") and found["row"] == [2]
    assert [one["found"] for one in report["sets"]] == [0, 1]
    words = len(QUESTION.split())
    assert found["longest"] == [words] and found["share"] == [1.0]


def test_share_and_longest_are_exact(search: Callable[..., Any]) -> None:
    """Texts of words that are nowhere else: 20 of 40 words in one piece are 8 of 28 runs."""
    letters = "abcdefghijklmnopqrstuvwxyzäöüßéèàçñøåæœþðłőűşč"
    mine, theirs = ([f"{side}{letters[n]}" for n in range(40)] for side in ("mine", "theirs"))
    theirs[10:30] = mine[5:25]
    found, _ = search([" ".join(mine)], [" ".join(theirs)], threshold=0.2)
    assert (found["share"], found["longest"], found["match"]) == ([round(8 / 28, 4)], [20], ["part"])
    found, _ = search([" ".join(mine)], [" ".join(theirs)], threshold=0.3)
    assert (found["share"], found["longest"], found["clean"]) == ([round(8 / 28, 4)], [20], [True])
    theirs[20] = "other"  # two pieces of 10 and 9 words, both shorter than a run
    found, _ = search([" ".join(mine)], [" ".join(theirs)], threshold=0.2)
    assert (found["share"], found["longest"], found["against"]) == ([0.0], [0], [None])


@pytest.mark.expensive(2, "starts a job's process", about=PLATFORM)
def test_planted_rows_among_many(search: Callable[..., Any]) -> None:
    """Every tenth row holds an evaluation question, every tenth other one such a question with another number."""
    words = [f"thing{n}" for n in range(5_000)]
    rng = random.Random(4)

    def text(size: int) -> str:
        return " ".join(rng.choices(words, k=size))

    others = [f"{text(20)} {rng.randrange(10**6)} {text(10)}" for _ in range(300)]
    rows, wanted = [], []
    for n in range(1_000):
        if n % 10 == 0:
            rows.append(f"{text(5)} {others[n // 10]} {text(5)}")
        elif n % 10 == 5:
            figure = others[n // 10].split()[20]
            rows.append(f"{text(5)} {others[n // 10].replace(figure, str(int(figure) + 1))} {text(5)}")
        else:
            rows.append(text(40))
        wanted.append(n % 10 != 0)
    found, report = search(rows, others)
    assert found["clean"] == wanted
    assert (report["part_rows"], report["sets"][0]["found"]) == (100, 100)


def test_columns_that_are_compared(search: Callable[..., Any]) -> None:
    rows = [{"prompt": "Red.", "solution": QUESTION}, {"prompt": QUESTION, "solution": "Blue."}]
    found, _ = search(rows, [QUESTION])
    assert found["clean"] == [True, False]
    found, _ = search(rows, [{"prompt": "Green.", "solution": QUESTION}], columns=["prompt", "solution"])
    assert found["clean"] == [False, False]


@pytest.mark.expensive(2, "starts a job's process", about=PLATFORM)
def test_a_later_process_goes_on(
    make: Callable[..., DatasetVersion], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an earlier process has kept is not read again, and the outcome is the same."""
    rng = random.Random(5)
    rows = [" ".join(f"w{rng.randrange(9_000)}" for _ in range(30)) for _ in range(9_000)]
    version, other = make(rows), make([*rows[100:110], *rows[8_900:8_910]], name="Held out")
    stored = [StoredRows(one.ref, one.path, one.rows) for one in (version, other)]
    operation = FindContamination(kind="contamination", against=[other.ref])
    monkeypatch.setattr(meetings, "_SLICES_AT_ONCE", 1)
    read: list[int] = []

    class Killed(Exception):
        """Stands for a process that ends."""

    def told(stage: str, done: int, rows: int) -> None:
        if stage == "Reading rows":
            read.append(done)
            if len(read) == 3:
                raise Killed

    with pytest.raises(Killed):
        find_contamination(LabWork(stored[0], stored[1:], tmp_path, told), operation)
    kept = sorted(path.name for path in tmp_path.glob("meetings-*.npz"))
    assert len(kept) == 2 and read[0] == 0
    before = read[-1]
    read.clear()
    read.append(0)  # this one is not killed
    read.extend([0, 0])
    result = find_contamination(LabWork(stored[0], stored[1:], tmp_path, told), operation)
    assert read[3] == before and read[-1] == 9_000
    assert np.flatnonzero(~np.array(result.table["clean"])).tolist() == [*range(100, 110), *range(8_900, 8_910)]
    assert result.report["equal_rows"] == 20


@pytest.mark.expensive(4, "starts a job's process", about=PLATFORM)
def test_hostile_rows(search: Callable[..., Any]) -> None:
    """Rows of a megabyte, of one word again and again, of signs, and evaluation sets of those."""
    long = " ".join(f"w{(n * n) % 977}" for n in range(150_000))
    again = "again " * 50_000
    rows = [" x", "😀", "...", long, again, f"{long} more", "Always the same."] + ["Always the same."] * 3_000
    found, report = search(rows, [long, again, "Always the same.", "😀"])
    assert found["clean"][:7] == [True, False, True, False, False, False, False]
    assert found["match"][1:7] == ["equal", None, "equal", "equal", found["match"][5], "equal"]
    assert report["equal_rows"] == 3_004 and report["rows"] == 3_007


def test_an_evaluation_set_of_short_rows_has_no_runs(search: Callable[..., Any]) -> None:
    found, report = search(["What is 2 + 2?", "What is 2 + 3?", QUESTION], ["what is 2 + 2", "Who?"])
    assert found["clean"] == [False, True, True]
    assert (report["equal_rows"], report["common_runs"], report["sets"][0]["found"]) == (1, 0, 1)


@pytest.mark.expensive(3, "starts a job's process", about=PLATFORM)
def test_a_version_without_them(
    make: Callable[..., DatasetVersion], finish: Callable[..., LabJob], editor: APIClient, team: Team
) -> None:
    version, held = make([QUESTION, HORSES, "How many horses are there?"]), make([QUESTION], name="Held out")
    job = finish(version, {"kind": "contamination", "against": [held.ref]})
    assert job.state == "done", job.error
    report = editor.get(f"/api/v1/lab-jobs/{job.pk}").json()["report"]
    assert (report["duplicates"], report["statistics"]) == (None, None)
    assert report["contamination"]["sets"] == [{"ref": held.ref, "rows": 1, "found": 1}]
    path = f"/api/v1/datasets/{version.dataset_id}/versions/{version.number}/derive"
    query = {"notes": [{"notes": "contamination", "column": "clean", "equals": True}]}
    made = editor.post(path, {"operation": {"name": "filter", "query": query}}, format="json")
    assert (made.status_code, made.json()["counts"]["removed"]) == (201, 1)
    second = version_by_ref(team, "sums@2")
    assert [row["prompt"] for row in storage.read_rows(second.path, 0, 9)] == [HORSES, "How many horses are there?"]
    assert notes.read(second, "contamination").to_pydict()["clean"] == [True, True]
    assert editor.post(f"/api/v1/lab-jobs/{job.pk}/undo").json()["notes"] == []
    assert notes.of(version) == []


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"against": []}, "/operation/against"),
        ({"against": ["nothing@1"]}, "/operation/against/0"),
        ({"run": 4}, "/operation/run"),
        ({"threshold": 0}, "/operation/threshold"),
        ({"columns": ["nothing"]}, "/operation/columns/0"),
        ({"near": 0.2}, "/operation/near"),
        ({"common": 2}, "/operation/common"),
        ({"words": 13}, "/operation/words"),
    ],
)
def test_what_cannot_be_is_refused(
    make: Callable[..., DatasetVersion], ask: Callable[..., Any], change: dict[str, Any], pointer: str
) -> None:
    version, held = make([QUESTION]), make([HORSES], name="Held out")
    answer = ask(version, {"kind": "contamination", "against": [held.ref], **change})
    assert answer.status_code == 422, answer.json()
    assert pointer in [error["pointer"] for error in answer.json()["errors"]]


def test_a_version_is_not_compared_with_itself(make: Callable[..., DatasetVersion], ask: Callable[..., Any]) -> None:
    version = make([QUESTION])
    answer = ask(version, {"kind": "contamination", "against": [version.ref]})
    assert answer.status_code == 422
