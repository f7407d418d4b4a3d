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
from dressage.lab.plan import LabWork, Result, StoredRows, UnfitError
from trainer_core.link.judge import JudgeEndpoint

NOTES, REPORT, REASON = "notes.parquet", "report.json", "reason.txt"
GONE, UNFIT = 3, 4
"""Exit statuses: where a file of the rows is gone, and where ``reason.txt`` says why the job cannot go on."""


def main() -> None:
    """Read a plan, carry it out, and write ``notes.parquet`` and ``report.json`` into its folder."""
    plan = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    pa.set_cpu_count(1)
    operation = LabOperation.model_validate(plan["operation"]).root
    endpoint = None if plan.get("endpoint") is None else JudgeEndpoint.model_validate(plan["endpoint"])
    others = [_stored(one) for one in plan["against"]]
    work = LabWork(_stored(plan["version"]), others, Path(plan["folder"]), _tell, endpoint)
    try:
        result = carry_out(work, operation)
    except FileNotFoundError:
        sys.exit(GONE)
    except UnfitError as error:
        reason = str(error)
        _replace(work.folder / REASON, lambda path: path.write_text(reason))
        sys.stdout.flush()
        os._exit(UNFIT)  # threads may still wait for answers that nobody needs
    _leave(result, work.folder)


def _stored(document: dict[str, Any]) -> StoredRows:
    return StoredRows(document["ref"], Path(document["path"]), document["rows"])


def _tell(stage: str, done: int, of: int) -> None:
    print(json.dumps({"stage": stage, "done": done, "of": of}), flush=True)


def _leave(result: Result, folder: Path) -> None:
    _replace(folder / NOTES, lambda path: pq.write_table(result.table, path, compression="zstd"))
    report = {"note": result.note, "report": result.report, "drawn": result.drawn}
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
