"""Rows per second that are read, checked and stored of an upload.

    python tests/bench/dataset_reading.py

Rows are of the size and the shape of GSM8K's. Rates are of processor time, so that what else the machine does counts
little. One thread reads and checks, another packs what is stored; of two free cores each has one.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dressage.settings")

import django
import pyarrow as pa
import pyarrow.parquet as pq

from tests.bench.report import Figure, show

ROWS = 30_000
TARGETS = {"jsonl": ">= 100,000", "parquet": ">= 300,000"}
TRIES = 5
FILLER = "Then the rest is counted again, and half of it is given away on the way home. "


def made_rows() -> list[dict[str, str]]:
    """Questions of 235 characters and solutions of 290, with calculations between double brackets."""
    rows = []
    for number in range(ROWS):
        sold = 2 + number % 97
        question = f"In week {number} Natalia sold clips to {sold} of her friends. {FILLER * 2}How many are left?"
        steps = f"She sold {sold}/2 = <<{sold}/2={sold / 2}>>{sold / 2} clips in May.\n" + FILLER * 2
        rows.append({"question": question, "answer": f"{steps}\n#### {number:,}"})
    return rows


def measure(path: Path) -> list[Figure]:
    """Rows per second, checked, and checked and stored: one by one, and by the block, in turns."""
    from dressage.datasets.files.reading import UploadedRows
    from dressage.datasets.versions import storage

    best = dict.fromkeys(("one by one, stored", "by the block", "by the block, stored", "longest thread"), 0.0)

    def rate(name: str, stores: bool, parts: Callable[[UploadedRows], Iterator[Any]]) -> float:
        """Rows per second of processor time of all threads; returns that of this thread alone."""
        with path.open("rb") as file:
            rows = UploadedRows(file, path.name)
            began, mine = time.process_time(), time.thread_time()
            if stores:
                storage.write(parts(rows)).unlink()
            else:
                for _ in parts(rows):
                    pass
            taken, mine = time.process_time() - began, time.thread_time() - mine
        assert rows.rows == ROWS
        best[name] = max(best[name], ROWS / taken)
        return ROWS / max(mine, taken - mine)

    for _ in range(TRIES):
        rate("one by one, stored", True, iter)
        rate("by the block", False, UploadedRows.parts)
        alone = rate("by the block, stored", True, UploadedRows.parts)
        best["longest thread"] = max(best["longest thread"], alone)
    return [
        Figure("checked and stored one by one, of processor time", best["one by one, stored"], "rows/s"),
        Figure("checked by the block, of processor time", best["by the block"], "rows/s"),
        Figure("checked and stored by the block, of processor time", best["by the block, stored"], "rows/s"),
        Figure("the same with two free cores", best["longest thread"], "rows/s", TARGETS[path.suffix[1:]]),
        Figure("times as fast as one by one", best["by the block, stored"] / best["one by one, stored"]),
    ]


def main() -> None:
    """Print the figures."""
    django.setup()
    from django.conf import settings

    with tempfile.TemporaryDirectory() as folder:
        settings.DATASET_ROOT = Path(folder) / "datasets"
        rows = made_rows()
        jsonl, parquet = Path(folder) / "train.jsonl", Path(folder) / "train.parquet"
        jsonl.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        pq.write_table(pa.Table.from_pylist(rows), parquet)
        del rows
        for path in (jsonl, parquet):
            show(f"Uploads of {path.suffix[1:]}, rows of GSM8K's size", measure(path))


if __name__ == "__main__":
    main()
