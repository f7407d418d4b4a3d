"""Rows that are taken by the block: the same file, faults, findings and columns as row by row, whatever they hold."""

import io
import json
import random
import threading
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dressage.common.api.problems import Problem
from dressage.datasets.cards.row_licences import LicencesOf
from dressage.datasets.files import parquet
from dressage.datasets.files.ahead import ahead
from dressage.datasets.files.columnar import lines, patience
from dressage.datasets.files.columnar.column import StoredColumn, may_have_tokens
from dressage.datasets.files.columnar.stored import TakenRows
from dressage.datasets.files.reading import UploadedRows
from dressage.datasets.versions import storage
from tests.support.about import PLATFORM
from tests.support.hostile_files import GOOD, hostile_files
from trainer_core.datasets import control_tokens
from trainer_core.datasets.invisible import is_blank
from trainer_core.datasets.mapping import DatasetMapping

FILES = hostile_files()


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Blocks of a few rows, so that small files have many, and none is passed over."""
    monkeypatch.setattr(lines, "_READ_BYTES", 3_000)
    monkeypatch.setattr(lines, "_SMALL", 300)
    monkeypatch.setattr(parquet, "_BATCH_ROWS", 32)
    monkeypatch.setattr(parquet, "_READ_ROWS", 64)
    monkeypatch.setattr(parquet, "_FEW_ROWS", 2)
    monkeypatch.setattr(patience, "_FIRST", 1_000_000)
    monkeypatch.setattr(storage.settings, "DATASET_ROOT", tmp_path)


def both(content: bytes, name: str = "rows", mapping: DatasetMapping | None = None) -> int:
    """Read a file both ways, and compare all that comes of it. Returns how many rows were taken by the block."""
    alone, together = (UploadedRows(BytesIO(content), name, mapping) for _ in range(2))
    taken = 0

    def parts() -> Any:
        nonlocal taken
        for part in together.parts():
            taken += len(part) if isinstance(part, TakenRows) else 0
            yield part

    assert outcome(alone, iter(alone)) == outcome(together, parts())
    return taken


def outcome(rows: UploadedRows, parts: Any) -> dict[str, Any]:
    licences = LicencesOf(parts)
    path = storage.write(licences)
    try:
        told: dict[str, Any] = {
            "file": path.read_bytes(),
            "rows": rows.rows,
            "errors": rows.errors,
            "columns": rows.described_columns(),
            "names": list(rows.columns),
            "warnings": rows.findings.warnings(),
            "licence": licences.together(),
        }
        try:
            rows.raise_errors()
            told["origin"] = rows.origin(name="rows", size=1, sha256="0")
        except Problem as problem:
            told["problem"] = (problem.status, problem.detail, problem.errors, problem.extra)
        return told
    finally:
        path.unlink()


@pytest.mark.expensive(4, "reads many or large files", about=PLATFORM)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.what)
def test_hostile_files(file: Any) -> None:
    both(file.content, file.name)


@pytest.mark.parametrize("file", [one for one in FILES if one.content.lstrip()[:1] == b"{"], ids=lambda file: file.what)
def test_hostile_lines_among_good_ones(file: Any) -> None:
    good = GOOD * 40
    assert both(good + file.content + b"\n" + good, file.name)


def lines_of(rows: list[dict[str, Any]], **options: Any) -> bytes:
    return "".join(f"{json.dumps(row, **options)}\n" for row in rows).encode()


def parquet_of(rows: list[dict[str, Any]]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), file, row_group_size=100)
    return file.getvalue()


SHAPES: dict[str, dict[str, Any]] = {
    "gsm8k": {"question": 'How many?\n"Five" \\ é', "answer": "2+3=<<2+3=5>>5\n#### 1,005", "licence": "mit"},
    "own": {"prompt": "1+1=", "answer": "2", "level": 3, "share": 0.1, "easy": True, "none": None},
    "own without answers": {"prompt": "\u4f60\u597d"},
    "chat": {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "1+1="}], "id": 1},
    "verl": {
        "prompt": [{"content": "1+1=", "role": "user"}],
        "reward_model": {"ground_truth": "2", "style": "rule"},
        "extra_info": {"z": 1, "a": [{"y": "b", "x": None}]},
    },
    "math": {"problem": "What is 1+1?", "solution": "It is \\boxed{2}.", "level": "Level 1", "unique_id": "a/1"},
    "question": {"question": "1+1=", "answer": 2},
    "mbpp": {"task_id": 1, "text": "Add.", "code": "pass", "test_list": ["assert 1"], "license": "MIT"},
}


@pytest.mark.parametrize("name", SHAPES)
def test_most_rows_of_known_shapes_are_taken_by_the_block(name: str) -> None:
    rows = [varied(SHAPES[name], number) for number in range(200)]
    for content in (lines_of(rows), lines_of(rows, ensure_ascii=False, separators=(",", ":")), parquet_of(rows)):
        assert both(content) > 150
    assert both(lines_of(rows).replace(b"\n", b"\r\n")) > 150


def varied(row: dict[str, Any], number: int) -> dict[str, Any]:
    return {
        name: f"{number} {value}"
        if name in ("question", "prompt", "problem", "text") and isinstance(value, str)
        else number
        if name in ("id", "task_id")
        else f"{value}{number % 150}"
        if name == "unique_id"
        else value
        for name, value in row.items()
    }


def test_a_mapping() -> None:
    mapping = DatasetMapping.model_validate({"prompt": {"kind": "columns", "template": "{q}"}, "answer": {"path": "a"}})
    rows = [{"q": f"{number}+1=", "a": str(number + 1)} for number in range(100)]
    assert both(lines_of(rows), mapping=mapping) > 80
    lenient = mapping.model_copy(update={"faulty_rows": "leave_out"})
    assert both(lines_of([*rows, {"q": "", "a": "1"}, *rows]), mapping=lenient) > 150


ODD: list[Any] = [
    None, True, 0, -1, 1 << 53, -(1 << 53), (1 << 53) + 1, 1 << 70, 0.1, 1e22, -0.0, 1e-7, "", " ", "\u200b", "\u3000x",
    "x<|im_start|>", "<<1>>[INST]", "\x7f\x01\n\"\\/", "\u2028é\U0001f600", [], ["a", 1.5], [["<s>"]], {},
    {"b": {"d": 1, "c": [1 << 60]}, "a": "\ud7ff"}, "#### 5", "a\n#### 1,000", "####",
    [{"role": "user", "content": "a"}],
    [{"role": "user", "content": " "}], [{"content": "a", "role": "tool"}], float("nan"), "MIT", "a" * 3_000,
]  # fmt: skip
PIECES = [b"", b"  ", b"\t", b"{", b"}", b"[]", b'{"prompt":"a"}{"prompt":"b"}', b'{"prompt":', b'"a"}',
          b'"answer":"2"}',
          b'{"prompt":"a","prompt":"b"}', b'{"prompt":"a","answer":"\\u0022","answer":"b"}', b'{"x":{"prompt":"a"}',
          b'{"prompt":"a\\u0000"}', b'{"prompt":"\\ud800"}', b'{"prompt":"\xff"}', b"\xef\xbb\xbf", b"\r", b"null",
          b'{"prompt" : "a","answer":"\\u00e9"}', b'{"\\u0070rompt":"a","answer":"b"}']  # fmt: skip


@pytest.mark.expensive(8, "reads many or large files", about=PLATFORM)
@settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 1 << 40), st.sampled_from(list(SHAPES)), st.sampled_from([0, 1, 5, 40]), st.booleans())
def test_random_rows(seed: int, name: str, odds: int, packs: bool) -> None:
    """Rows of a shape, some with other values, more columns, others in another order; and lines that are no rows."""
    chance = random.Random(seed)
    rows = [varied(SHAPES[name], number) for number in range(chance.randrange(1, 160))]
    for _ in range(odds):
        row = chance.choice(rows)
        column = chance.choice([*row, "id", "license", "tests", "more", "solution"])
        row[column] = chance.choice(ODD)
        if chance.random() < 0.2:
            pairs = list(row.items())
            chance.shuffle(pairs)
            row.clear()
            row.update(pairs)
    told = [lines_of([row], ensure_ascii=chance.random() < 0.5)[:-1] for row in rows]
    for _ in range(odds if chance.random() < 0.5 else 0):
        told.insert(chance.randrange(len(told) + 1), chance.choice(PIECES))
    end = chance.choice([b"\n", b"\r\n"])
    both(end.join(told) + chance.choice([b"", end]))
    if packs:
        try:
            content = parquet_of(rows)
        except (pa.ArrowException, OverflowError, UnicodeError):
            return  # values of several types are no column
        both(content)


@pytest.mark.expensive(3, "reads many or large files", about=PLATFORM)
@settings(deadline=None, max_examples=500)
@given(st.text(st.sampled_from('<>|/[]｜ax_1 \n"thinkINST\u0301'), max_size=60))
def test_tokens_are_found_where_the_other_pattern_finds_them(text: str) -> None:
    for one in (text, f"<|{text}|>", f"<｜{text}｜>", f"<think>{text}", f"[/INST]{text}"):
        assert may_have_tokens(one) == bool(control_tokens(one))


@settings(max_examples=300)
@given(st.lists(st.text(st.sampled_from('a!~ \u200b\u00e9\u3164\n"\\\x01\x7f<'), max_size=3), min_size=1, max_size=5))
def test_texts_are_seen_where_each_is_by_itself(texts: list[str]) -> None:
    assert StoredColumn(texts).all_seen == (not any(map(is_blank, texts)))


def test_the_next_item_is_made_ahead_and_no_other() -> None:
    made: list[int] = []
    second = threading.Event()

    def items() -> Iterator[int]:
        for number in range(1, 4):
            made.append(number)
            if number == 2:
                second.set()
            yield number
        raise ValueError("behind the third")

    found = ahead(items())
    assert next(found) == 1
    assert second.wait(10)
    assert made == [1, 2]
    assert [next(found), next(found)] == [2, 3]
    with pytest.raises(ValueError, match="behind the third"):
        next(found)


def test_who_stops_early_waits_for_the_item_that_is_made() -> None:
    going, may_go_on, closed = threading.Event(), threading.Event(), []

    def items() -> Iterator[int]:
        yield 1
        going.set()
        may_go_on.wait(10)
        closed.append("made")
        yield 2

    found = ahead(items())
    assert next(found) == 1
    assert going.wait(10)
    threading.Timer(0.05, may_go_on.set).start()
    found.close()
    assert closed == ["made"]


def test_many_faults_end_the_reading_at_the_same_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dressage.datasets.files.reading.MAX_REPORT_ROWS", 7)
    both((GOOD * 30 + b"{\n") * 9)


def test_a_line_without_end_among_others() -> None:
    long = b'{"prompt": "' + b"a" * (3 << 20) + b'"}\n'
    assert both(GOOD * 30 + long + GOOD * 30 + b"\n{}\n" + GOOD * 30)
    assert both(GOOD * 30 + b'{"prompt": "' + b"a" * (1 << 20) + b"\r" * (3 << 20) + b"\n" + GOOD * 30)


def test_after_losses_blocks_are_read_row_by_row_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "_FIRST", 2)
    one = patience.Patience()
    tried = []
    for _ in range(12):
        tried.append(one.tries())
        one.lose()
    assert tried == [True, True, False, False, True, True, False, False, False, False, True, True]
    one = patience.Patience()
    one.lose()
    one.reward()
    one.lose()
    assert one.tries()
