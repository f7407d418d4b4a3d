"""The process that reads, checks and stores an upload: as this process would, and nothing is left of it."""

import gzip
import io
import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import Any, BinaryIO

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dressage.common.api.client import watch_client
from dressage.common.api.problems import Problem
from dressage.datasets.checking import process
from dressage.datasets.checking.check import CheckOrder, CheckResult, TooManyRows, check
from dressage.datasets.checking.process import check_apart
from dressage.datasets.versions import storage
from tests.support.about import PLATFORM
from tests.support.hostile_files import hostile_files

ROWS = [
    {"question": f"{number}+1=?", "answer": f"It is\n#### {number + 1}", "license": "MIT"} for number in range(6_000)
]
LINES = "".join(f"{json.dumps(row)}\n" for row in ROWS).encode()
REFUSED = [file for file in hostile_files() if file.place is not None][::40]


def ordered(folder: Path, content: bytes, **known: Any) -> CheckOrder:
    order: CheckOrder = {
        "name": "rows",
        "size": len(content),
        "sha256": "",
        "mapping": None,
        "rows_left": 1_000_000,
        "folder": str(folder),
    }
    return order | known  # type: ignore[return-value]


def parquet() -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ROWS), file)
    return file.getvalue()


def apart(content: bytes, folder: Path, file: Callable[[bytes], BinaryIO] = io.BytesIO, **known: Any) -> CheckResult:
    with file(content) as opened:
        result = check_apart(opened, ordered(folder, content, **known))
    assert [str(path) for path in folder.iterdir()] == [result["path"]]
    return result


def on_disk(tmp_path: Path) -> Callable[[bytes], BinaryIO]:
    def opened(content: bytes) -> BinaryIO:
        path = tmp_path / "file"
        path.write_bytes(content)
        return path.open("rb")

    return opened


@pytest.mark.expensive(2, "reads many or large files", about=PLATFORM)
@pytest.mark.parametrize(
    "made", [lambda: LINES, lambda: gzip.compress(LINES), parquet], ids=["lines", "packed", "parquet"]
)
@pytest.mark.parametrize("stored", [False, True], ids=["in memory", "on disk"])
def test_what_comes_of_a_file_is_what_this_process_makes_of_it(
    made: Callable[[], bytes], stored: bool, tmp_path: Path
) -> None:
    content = made()
    result = apart(content, tmp_path / "apart", on_disk(tmp_path) if stored else io.BytesIO)
    wanted = check(io.BytesIO(content), ordered(tmp_path / "here", content))
    assert Path(result["path"]).read_bytes() == Path(wanted["path"]).read_bytes()
    assert {**result, "path": ""} == json.loads(json.dumps({**wanted, "path": ""}))
    assert (result["rows"], result["licence"], result["origin"]["shape"]["name"]) == (6_000, "MIT", "gsm8k")


@pytest.mark.parametrize("file", REFUSED, ids=lambda file: file.what)
def test_a_refusal_is_told_in_the_same_words(file: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "HERE_BYTES", -1)
    told = []
    for way, folder in ((check, tmp_path / "here"), (check_apart, tmp_path / "apart")):
        with pytest.raises(Problem) as refused:
            way(io.BytesIO(file.content), ordered(folder, file.content, name=file.name))
        assert not list(folder.iterdir())
        told.append(vars(refused.value))
    assert told[0] == told[1]


def test_a_file_that_is_not_the_declared_one(tmp_path: Path) -> None:
    with pytest.raises(Problem) as refused:
        check_apart(io.BytesIO(LINES), ordered(tmp_path / "apart", LINES, sha256="0" * 64))
    assert (refused.value.status, refused.value.code) == (422, "wrong_sha256")


@pytest.mark.expensive(2, "reads many or large files", about=PLATFORM)
def test_more_rows_than_are_left(tmp_path: Path) -> None:
    with pytest.raises(TooManyRows):
        check_apart(io.BytesIO(LINES), ordered(tmp_path / "apart", LINES, rows_left=5_999))
    assert not list((tmp_path / "apart").iterdir())
    assert apart(LINES, tmp_path / "apart", rows_left=6_000)["rows"] == 6_000


@pytest.mark.expensive(6, "reads many or large files", about=PLATFORM)
def test_rows_that_take_too_much_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MEMORY_BYTES", 256 << 20)
    lists = ",".join(["[]"] * 330_000)  # a MiB of JSON, and twenty times that as objects
    long = "".join(f'{{"prompt": "{number}", "lists": [{lists}]}}\n' for number in range(60)).encode()
    with pytest.raises(Problem) as refused:
        check_apart(io.BytesIO(long), ordered(tmp_path / "apart", long))
    assert refused.value.code in ("file_takes_too_much_memory", "file_ends_reader")
    assert "GiB of memory" in refused.value.detail
    assert not list((tmp_path / "apart").iterdir())
    assert apart(LINES, tmp_path / "apart")["rows"] == 6_000  # with the same limit


def test_a_file_of_a_few_rows_is_read_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_asked", None)
    assert apart(LINES[:1_000].rpartition(b"\n")[0], tmp_path / "apart")["licence"] == "MIT"


@pytest.mark.expensive(3, "reads rows until the limit", about=("platform/dressage/datasets",))
def test_a_small_archive_of_very_many_rows_ends_at_a_limit_of_processor_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "CPU_S", 2)
    packed = gzip.compress(b'{"prompt":"a"}\n' * 4_000_000, 1)
    assert len(packed) < 1 << 20
    order = {**ordered(tmp_path, packed), "name": "rows.jsonl.gz", "size": 1000}
    with pytest.raises(Problem) as refused:
        check_apart(io.BytesIO(packed), order)  # type: ignore[arg-type]
    assert (refused.value.status, refused.value.code) == (413, "file_takes_too_long")
    assert "more than 2 s of processor time" in refused.value.detail
    assert not list(tmp_path.iterdir())


def test_who_goes_takes_the_process_with_him(tmp_path: Path) -> None:
    """The client leaves while the process reads a file that takes it many times as long."""
    gone = threading.Event()
    before = set(psutil.Process().children(recursive=True))
    content = LINES * 100

    def upload() -> str:
        watch_client(gone)
        with pytest.raises(Problem) as ended:
            check_apart(io.BytesIO(content), ordered(tmp_path / "apart", content))
        return ended.value.code

    with ThreadPoolExecutor(1) as thread:
        outcome = thread.submit(copy_context().run, upload)
        while not set(psutil.Process().children(recursive=True)) - before:
            assert not outcome.done()
        gone.set()
        assert outcome.result(timeout=60) == "client_gone"
    assert set(psutil.Process().children(recursive=True)) == before
    assert not list((tmp_path / "apart").iterdir())


def test_what_killed_processes_have_left_is_removed_after_a_day(tmp_path: Path) -> None:
    folder, file = tmp_path / f"{process.PREFIX}x", tmp_path / "upload-x.tmp"
    folder.mkdir()
    (folder / "upload-y.tmp").write_text("half")
    file.write_text("half")
    (tmp_path / "dts_x").mkdir()
    assert process.sweep(tmp_path, time.time() + 23 * 3600) == 0
    assert process.sweep(tmp_path, time.time() + 25 * 3600) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["dts_x"]


def test_it_knows_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRESSAGE_SECRET_KEY", "secret")
    assert "secret" not in process._environment().values()


def test_versions_of_it_can_be_read(tmp_path: Path) -> None:
    result = apart(parquet(), tmp_path / "apart")
    row = next(iter(storage.read_rows(Path(result["path"]), 5_999, 1)))
    assert (row["index"], row["prompt"], row["answer"]) == (5_999, "5999+1=?", "6000")
