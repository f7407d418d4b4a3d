"""The process of a job: reads its plan from the standard input, tells its progress line by line, leaves its result.

It has memory and processor time of its own, so that the worker's other threads, which are for runs, go on. It knows no
database. It ends when its parent does: the input is then closed.
"""

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dressage.lab.arguments import LabOperation
from dressage.lab.operations import carry_out
from dressage.lab.plan import LabWork, Result, StoredRows

NOTES, REPORT = "notes.parquet", "report.json"
GONE = 3
"""Exit status where a file of the rows is gone."""


def main() -> None:
    """Read a plan, carry it out, and write ``notes.parquet`` and ``report.json`` into its folder."""
    plan = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    pa.set_cpu_count(1)
    operation = LabOperation.model_validate(plan["operation"]).root
    work = LabWork(_stored(plan["version"]), [_stored(one) for one in plan["against"]], Path(plan["folder"]), _tell)
    try:
        result = carry_out(work, operation)
    except FileNotFoundError:
        sys.exit(GONE)
    _leave(result, work.folder)


def _stored(document: dict[str, Any]) -> StoredRows:
    return StoredRows(document["ref"], Path(document["path"]), document["rows"])


def _tell(stage: str, done: int, of: int) -> None:
    print(json.dumps({"stage": stage, "done": done, "of": of}), flush=True)


def _leave(result: Result, folder: Path) -> None:
    _replace(folder / NOTES, lambda path: pq.write_table(result.table, path, compression="zstd"))
    report = {"note": result.note, "report": result.report}
    _replace(folder / REPORT, lambda path: path.write_text(json.dumps(report)))


def _replace(path: Path, write: Any) -> None:
    temporary = path.with_suffix(".tmp")
    write(temporary)
    os.replace(temporary, path)


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    main()
