"""Pages, searches and near-duplicates of versions with millions of rows, and what memory they take.

    python tests/bench/dataset_scale.py [MILLIONS [MILLIONS_OF_DUPLICATES]]

The web process's part is called as its views call it, without a database; the index and the search for duplicates are
the processes that the platform starts for them.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dressage.settings")

import django
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tests.bench.dataset_reading import FILLER
from tests.bench.report import Figure, show

MILLION = 1_000_000
STEP = 100_000
TRIES = 3
RARE = 100_000
"""Of so many rows one has the word ``rare``."""


def tables(rows: int) -> Iterator[pa.Table]:
    """Rows of GSM8K's size, with a level of five and words that few, half and all of them have."""
    from dressage.datasets.versions.storage import SCHEMA

    for start in range(0, rows, STEP):
        numbers = np.arange(start, start + STEP)
        told = pa.array(numbers).cast(pa.string())
        words = np.where(numbers % RARE == 7, "rare ", np.where(numbers % 2, "odd ", "even "))
        names = pa.array((numbers * 7919) % 99_991).cast(pa.string())
        prompts = pc.binary_join_element_wise(
            "In week ", told, " n", names, " sold ", pa.array(words), f"clips. {FILLER * 2}Left?", ""
        )
        levels = pa.array(numbers % 5).cast(pa.string())
        texts = pc.binary_join_element_wise('{"prompt":"', prompts, '","answer":"', told, '","level":', levels, "}", "")
        yield pa.table([texts, prompts, told, pc.utf8_lpad(told, 16, "0")], schema=SCHEMA)


def made(rows: int, folder: Path) -> Any:
    """A version of so many rows, whose notes nobody asks the database for."""
    from dressage.datasets.models import Dataset, DatasetVersion
    from dressage.datasets.versions import storage

    path = storage.write_tables(tables(rows)).rename(folder / f"{rows}.parquet")
    version = DatasetVersion(id=f"dsv_{rows}", number=1, rows=rows, file=path.name, dataset=Dataset(slug="bench"))
    version.seen_by_guest = True
    return version


def seconds(function: Callable[[], Any]) -> float:
    """The shortest of a few calls, by the clock."""
    best = float("inf")
    for _ in range(TRIES):
        began = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - began)
    return best


def pages(version: Any) -> list[Figure]:
    """First and last page of the list, and of the rows as they are stored."""
    from dressage.datasets.rows.query import RowQuery
    from dressage.datasets.search.find import find
    from dressage.datasets.versions import storage

    far = version.rows - 51
    return [
        Figure("first page of the browser", 1e3 * seconds(lambda: find(version, RowQuery(), None, 50)), "ms", "< 300"),
        Figure("page at its end", 1e3 * seconds(lambda: find(version, RowQuery(), far, 50)), "ms", "< 300"),
        Figure("first page of the API", 1e3 * seconds(lambda: [*storage.read_rows(version.path, 0, 50)]), "ms"),
        Figure("page at its end ", 1e3 * seconds(lambda: [*storage.read_rows(version.path, far, 50)]), "ms"),
        Figure("one row of the middle", 1e3 * seconds(lambda: storage.read_rows_at(version.path, [far // 2])), "ms"),
    ]


QUERIES: dict[str, dict[str, Any]] = {
    "a rare word": {"text": "rare"},
    "a word of half the rows": {"text": "odd clips"},
    "a phrase of all rows": {"text": '"counted again"'},
    "a rare word and a tag": {"text": "rare", "tags": ["level=2"]},
    "a tag of a fifth": {"tags": ["level=3"]},
    "an answer": {"answer": "4321"},
    "a length": {"min_length": 200, "max_length": 205},
    "no row": {"text": "nowhere"},
}


def searches(version: Any, how: str) -> list[Figure]:
    """Filtered searches, each with its total."""
    from dressage.datasets.rows.query import RowQuery
    from dressage.datasets.search.find import find

    figures = []
    for name, conditions in QUERIES.items():
        query = RowQuery.model_validate(conditions)
        found = find(version, query, None, 50)
        told = "" if found["total_is"] == "exact" else ", in part"
        taken = seconds(lambda query=query: find(version, query, None, 50))
        figures.append(Figure(f"{name}, {how}{told}", taken, "s", "< 1"))
    return figures


def index(version: Any) -> list[Figure]:
    """The process that makes an index."""
    from dressage.datasets.search import index as made_index

    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", made_index.__name__, str(version.path)], check=True, env=environment())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    size = sum(file.stat().st_size for file in (version.path.parent / "index").iterdir())
    return [
        Figure("making its index, by the clock", time.perf_counter() - began, "s"),
        Figure("making its index, processor time", cpu(after) - cpu(before), "s"),
        Figure("its size", size / 2**20, "MiB"),
    ]


def duplicates(version: Any, folder: Path) -> list[Figure]:
    """The process of the lab that looks for near-duplicates."""
    plan = {
        "operation": {"kind": "duplicates"},
        "version": {"ref": "bench@1", "path": str(version.path), "rows": version.rows},
        "against": [],
        "folder": str(folder),
    }
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "dressage.lab.child"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        text=True, env=environment(),
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(json.dumps(plan) + "\n")
    process.stdin.flush()
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, status
    report = json.loads((folder / "report.json").read_text())["report"]
    assert report["rows"] == version.rows
    return [
        Figure("near-duplicates, by the clock", time.perf_counter() - began, "s", "< 300"),
        Figure("near-duplicates, processor time", cpu(usage), "s"),
        Figure("near-duplicates, memory at most", usage.ru_maxrss / 2**10, "MiB", "< 4,096"),
        Figure("clusters found", report["clusters"]),
    ]


def cpu(usage: resource.struct_rusage) -> float:
    """Processor time of a process or several."""
    return usage.ru_utime + usage.ru_stime


def environment() -> dict[str, str]:
    """Environment in which the platform's modules are found."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def main() -> None:
    """Print the figures."""
    django.setup()
    from django.conf import settings

    sizes = [float(one) for one in sys.argv[1:]] + [5.0, 1.0][len(sys.argv) - 1 :]
    large, compared = (int(MILLION * size) for size in sizes[:2])
    with tempfile.TemporaryDirectory() as name:
        settings.DATASET_ROOT = Path(name)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        version = made(large, Path(name))
        title = f"A version of {large:,} rows, {version.path.stat().st_size / 2**20:,.0f} MiB"
        show(title, [*pages(version), *searches(version, "without an index")])
        if compared:
            folder = Path(name) / "lab"
            folder.mkdir()
            show(f"Near-duplicates among {compared:,} rows", duplicates(made(compared, Path(name)), folder))

        show(title, [*index(version), *searches(version, "with an index")])
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**10
        show(title, [Figure("memory of this process, more than at its start", grown, "MiB")])


if __name__ == "__main__":
    main()
