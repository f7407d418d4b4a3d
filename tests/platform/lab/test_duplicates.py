"""Duplicates: what is told as one, and, as many, what is not."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dressage.datasets.models import DatasetVersion
from dressage.lab.arguments import FindDuplicates
from dressage.lab.duplicates import find
from dressage.lab.duplicates.bands import shape_for
from dressage.lab.plan import LabWork, StoredRows
from tests.support.about import PLATFORM

LONG = (
    "Weng earns $12 an hour for babysitting. Yesterday, she just did 50 minutes of babysitting, then walked home with "
    "her two younger brothers through the park near the old station. How much did she earn in all?"
)
EQUAL = [
    ("How many horses are there?", "how many   HORSES are there"),
    ("Find $x$ if x + 5 = 7.", "Find $x$ if x + 5 = 7"),
    ("He said “go”, and went.", 'He said "go" and went.'),
    ("小明有三个苹果，他吃了一个。", "小明有三个苹果 他吃了一个"),
    ("Cafe\u0301 costs 3.5 euros?", "Caf\u00e9 costs 3.5 euros"),
    ("Сколько всего лошадей в конюшне?", "сколько всего лошадей в конюшне"),
]
NEAR = [
    (LONG, LONG.replace("Weng", "Mara")),
    (LONG, LONG + " Explain."),
    (LONG, LONG.replace("old station", "old train station")),
    (
        "甲" * 3 + "小明昨天在商店里买了很多苹果和香蕉然后他走路回家了",
        "甲" * 3 + "小明昨天在商店里买了很多苹果和香蕉然后他走路回家",
    ),
]
OTHERS = [
    ("Find x if x + 5 = 7.", "Find x if x - 5 = 7."),
    ("How many is 3.5 times 2?", "How many is 35 times 2?"),
    ("Compute 2(x+1).", "Compute 2x+1."),
    ("Compute n! + 1", "Compute n + 1"),
    ("Let f'(x) = 2", "Let f(x) = 2"),
    (LONG, LONG.replace("50", "55")),
    (LONG, LONG.replace("two younger", "three younger")),
    (LONG, LONG[: len(LONG) // 2]),
    ("小明有三个苹果", "小明有五个苹果"),
    ("Write a poem about the sea.", "Write a poem about the sky."),
]


@pytest.fixture
def search(make: Callable[..., DatasetVersion], tmp_path: Path) -> Callable[..., Any]:
    """``search(rows, **options)``: (clusters by row, kept, report), without a job around it."""

    def run(
        rows: list[Any], others: tuple[DatasetVersion, ...] = (), **options: Any
    ) -> tuple[list[Any], list[bool], Any]:
        version = make(rows, name=f"Rows {random.random()}")
        folder = tmp_path / version.id
        folder.mkdir()
        stored = [StoredRows(one.ref, one.path, one.rows) for one in (version, *others)]
        work = LabWork(stored[0], stored[1:], folder, lambda *_: None)
        result = find.find_duplicates(work, FindDuplicates(kind="duplicates", **options))
        columns = result.table.to_pydict()
        return columns["cluster"], columns["keep"], result.report

    return run


@pytest.mark.parametrize(("pairs", "kind"), [(EQUAL, "equal"), (NEAR, "near")])
def test_each_pair_is_one_cluster(search: Callable[..., Any], pairs: list[tuple[str, str]], kind: str) -> None:
    for one, other in pairs:
        clusters, keep, report = search([one, "Something else altogether, of no use.", other])
        assert (clusters, keep) == ([1, None, 1], [True, True, False]), (one, other)
        assert [found["kind"] for found in report["largest"]] == [kind]


def test_other_questions_are_told_apart(search: Callable[..., Any]) -> None:
    for one, other in OTHERS:
        clusters, keep, _ = search([one, other])
        assert (clusters, keep) == ([None, None], [True, True]), (one, other)


def test_no_false_pair_among_templates(search: Callable[..., Any]) -> None:
    """A template with names and numbers: near ones have the same numbers, and all that are near are found."""
    names = ["Ann", "Bob", "Cem", "Dia", "Eve"]
    text = LONG.replace("$12", "${}").replace("Weng", "{}")
    rows = [text.format(name, number) for number in range(200) for name in names]
    random.Random(1).shuffle(rows)
    clusters, keep, report = search(rows)
    by_cluster: dict[int, set[str]] = {}
    for row, cluster in zip(rows, clusters, strict=True):
        by_cluster.setdefault(cluster, set()).add(row.split("$")[1].split(" ")[0])
    assert len(by_cluster) == 200 and all(len(numbers) == 1 for numbers in by_cluster.values())
    assert (report["kept"], sum(keep), report["near_rows"], report["equal_rows"]) == (200, 200, 800, 0)
    _, _, all_one = search(rows, same_figures=False)
    assert all_one["kept"] == 1


@pytest.mark.expensive(3, "starts a job's process", about=PLATFORM)
def test_recall_just_above_the_threshold(search: Callable[..., Any]) -> None:
    """Pairs with a known Jaccard similarity: of words alone, shingles are the words."""
    rng = random.Random(2)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(rng.choices(letters, k=9)) for _ in range(60_000)]
    rows = []
    for number in range(300):
        shared = words[number * 130 : number * 130 + 100]
        fresh = words[number * 130 + 100 : number * 130 + 122]
        # 100 of 122 are shared: 0.82. Beside it a pair of 100 of 130: 0.77.
        rows += [" ".join(shared + fresh[:11]), " ".join(shared + fresh[11:])]
    _, _, report = search(rows, shingle=1)
    assert report["clusters"] >= 295
    assert min(one["similarity"] for one in report["largest"]) == pytest.approx(100 / 122, abs=1e-4)
    _, _, report = search(rows, shingle=1, threshold=0.83)
    assert report["clusters"] == 0


def test_the_bands_find_what_they_must() -> None:
    for threshold in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95):
        bands, length = shape_for(threshold)
        assert bands * length <= 128
        assert 1 - (1 - threshold**length) ** bands >= 0.995


def test_different_answers_come_first(search: Callable[..., Any]) -> None:
    rows = [{"prompt": "What is half of it?", "answer": one} for one in ("1", "1", "1")]
    rows += [{"prompt": "What is twice this?", "answer": one} for one in ("2", " 2 ", None, "3")]
    _, _, report = search(rows)
    assert (report["conflicts"], report["clusters"], report["kept"]) == (1, 2, 2)
    first = report["largest"][0]
    assert first["answers_differ"] and [row["answer"] for row in first["rows"]] == ["2", " 2 ", None, "3"]
    assert [row["index"] for row in first["rows"]] == [3, 4, 5, 6]


def test_rows_of_other_versions_are_not_kept(search: Callable[..., Any], make: Callable[..., DatasetVersion]) -> None:
    other = make([LONG.replace("Weng", "Mara"), "Of no use."], name="Others")
    clusters, keep, report = search([LONG, "Alone, and quite alone.", "of no use"], (other,))
    assert (clusters, keep) == ([1, None, 2], [False, True, False])
    assert (report["elsewhere"], report["equal_rows"], report["near_rows"], report["kept"]) == (2, 1, 1, 1)
    assert {row["ref"] for row in report["largest"][0]["rows"]} > {other.ref}


def test_columns_and_chats(search: Callable[..., Any]) -> None:
    def chat(system: str, *said: str) -> dict[str, Any]:
        roles = ("user", "assistant", "user")
        turns = [{"role": role, "content": text} for role, text in zip(roles, said, strict=False)]
        return {"messages": [{"role": "system", "content": system}, *turns]}

    rows = [chat("Be kind.", "Why?"), chat("Be brief.", "why"), chat("", "A", "B", "Yes"), chat("", "C", "D", "Yes")]
    assert search(rows)[0] == [1, 1, None, None]
    sums = [{"prompt": "Same.", "answer": str(n), "level": n % 2} for n in range(4)]
    assert search(sums)[0] == [1, 1, 1, 1]
    assert search(sums, columns=["prompt", "answer"])[0] == [None] * 4
    assert search(sums, columns=["level"])[0] == [1, 2, 1, 2]
    blank = [{"prompt": "One thing."}, {"prompt": "Another.", "hint": "x"}, {"prompt": "Third.", "hint": "X"}]
    assert search(blank, columns=["hint"])[0] == [None, 1, 1]


@pytest.mark.expensive(3, "starts a job's process", about=PLATFORM)
def test_hostile_rows(search: Callable[..., Any]) -> None:
    """Equal rows by the thousand, rows of a megabyte, rows of signs alone."""
    long = "".join(chr(97 + (n * n) % 26) if n % 7 else " " for n in range(1_000_000))
    rows = ["Always the same."] * 20_000 + [long, long + "x", "?!", "...", "…", "\u0301", "😀", "😀😀"]
    clusters, keep, report = search(rows)
    assert clusters[:20_000] == [1] * 20_000 and sum(keep[:20_000]) == 1
    assert clusters[20_000:20_002] == [2, 2]
    assert clusters[20_002:] == [None] * 6
    assert (report["equal_rows"], report["near_rows"]) == (19_999, 1)
