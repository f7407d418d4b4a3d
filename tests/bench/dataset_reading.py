"""Rows per second that are read, checked and stored of an upload, and what memory that takes.

    python tests/bench/dataset_reading.py

Rows are of the size and the shape of GSM8K's. Rates are of processor time, so that what else the machine does counts
little; one thread does the work.
"""

import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dressage.settings")

import django
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 30_000
TARGETS = {"jsonl": 100_000, "parquet": 300_000}
TRIES = 3
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


def measure(path: Path) -> tuple[float, float]:
    """Rows per second of processor time: checked, and checked and stored."""
    from dressage.datasets import storage
    from dressage.datasets.reading import UploadedRows

    rates = []
    for stores in (False, True):
        best = 0.0
        for _ in range(TRIES):
            with path.open("rb") as file:
                rows, began = UploadedRows(file, path.name), time.process_time()
                if stores:
                    storage.write(rows.parts()).unlink()
                else:
                    for _ in rows.parts():
                        pass
                best = max(best, rows.rows / (time.process_time() - began))
            assert rows.rows == ROWS
        rates.append(best)
    return rates[0], rates[1]


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
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            checked, stored = measure(path)
            grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10
            kind = path.suffix[1:]
            print(f"{kind}: {checked:,.0f} rows/s checked, {stored:,.0f} rows/s checked and stored", end="")
            print(f" (target {TARGETS[kind]:,} on two cores), {grown} MiB more at most")


if __name__ == "__main__":
    main()
