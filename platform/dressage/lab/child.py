"""The child process of a job: reads its plan from standard input, reports progress line by line, and writes its result.

It has its own memory and processor time, so that the worker's other threads, which are for runs, are not slowed down.
It has no database access. It ends when its parent does, because its input is closed then.
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
from dressage.lab.asking.served import QuestionPipe
from dressage.lab.operations import carry_out
from dressage.lab.plan import LabWork, Result, StoredRows, UnfitError
from trainer_core.link.judge import JudgeEndpoint
from trainer_core.rewards import RewardDefinition

NOTES, REPORT, REASON, ROWS = "notes.parquet", "report.json", "reason.txt", "rows.json"
GONE, UNFIT = 3, 4
"""Exit statuses: a file of the rows no longer exists; ``reason.txt`` says why the job cannot continue."""
_WRITING = threading.Lock()


def main() -> None:
    """Read a plan and carry it out. Leaves notes, the report and possibly rows of a new version in its folder."""
    plan = json.loads(sys.stdin.readline())
    pipe = QuestionPipe(_write)
    threading.Thread(target=_hear_parent, args=(pipe,), daemon=True).start()
    pa.set_cpu_count(1)
    operation = LabOperation.model_validate(plan["operation"]).root
    work = LabWork(
        version=_stored(plan["version"]),
        against=[_stored(one) for one in plan["against"]],
        folder=Path(plan["folder"]),
        told=_tell,
        endpoint=_endpoint(plan.get("endpoint")),
        solver=_endpoint(plan.get("solver")),
        pipe=pipe,
        reward=None if plan.get("reward") is None else RewardDefinition.model_validate(plan["reward"]),
        chosen=None if plan.get("chosen") is None else frozenset(plan["chosen"]),
    )
    try:
        result = carry_out(work, operation)
    except FileNotFoundError:
        sys.exit(GONE)
    except UnfitError as error:
        reason = str(error)
        _replace(work.folder / REASON, lambda path: path.write_text(reason))
        sys.stdout.flush()
        os._exit(UNFIT)  # threads may still be waiting for answers that are no longer needed
    _leave(result, work.folder)


def _stored(document: dict[str, Any]) -> StoredRows:
    return StoredRows(document["ref"], Path(document["path"]), document["rows"])


def _endpoint(document: dict[str, Any] | None) -> JudgeEndpoint | None:
    return None if document is None else JudgeEndpoint.model_validate(document)


def _tell(stage: str, done: int, of: int) -> None:
    _write({"stage": stage, "done": done, "of": of})


def _write(line: dict[str, Any]) -> None:
    with _WRITING:
        print(json.dumps(line), flush=True)


def _leave(result: Result, folder: Path) -> None:
    _replace(folder / NOTES, lambda path: pq.write_table(result.table, path, compression="zstd"))
    if result.made is not None:
        _replace(folder / ROWS, lambda path: path.write_text(json.dumps(result.made)))
    report = {"note": result.note, "report": result.report, "drawn": result.drawn}
    _replace(folder / REPORT, lambda path: path.write_text(json.dumps(report)))


def _replace(path: Path, write: Any) -> None:
    temporary = path.with_suffix(".tmp")
    write(temporary)
    os.replace(temporary, path)


def _hear_parent(pipe: QuestionPipe) -> None:
    """Receive the parent's answers until it ends, then exit."""
    for line in sys.stdin:
        pipe.take(json.loads(line))
    os._exit(1)


if __name__ == "__main__":
    main()
