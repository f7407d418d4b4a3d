"""Runs a job on a worker of the platform: a child process reads the rows, and this one stores its result.

The worker may be killed at any point. The child ends with it, and the next worker's child continues with the files in
the folder.
"""

import json
import shutil
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from typing import IO, Any

import pyarrow.parquet as pq
import structlog
from django.db import transaction

from dressage.common.actors import Actor
from dressage.datasets import selectors
from dressage.datasets.models import DatasetVersion
from dressage.datasets.versions import notes
from dressage.jobs.local import NotOurs, Stopping, claim, doing, end, fail, is_cancelled, own_locked, report, wait
from dressage.jobs.stopping import is_stopping
from dressage.lab.arguments import SynthesiseRows
from dressage.lab.asking.endpoints import endpoint_for, served_endpoints, solver_for
from dressage.lab.asking.relay import EVERY_S as RELAY_EVERY_S
from dressage.lab.asking.relay import ServedRelay
from dressage.lab.asking.served import ANSWERS, ASKED
from dressage.lab.child import GONE, NOTES, REASON, REPORT, UNFIT
from dressage.lab.models import LabJob, LabKind, LabState
from dressage.lab.reports import completed
from dressage.lab.synthesis.chosen import kept_choice
from dressage.lab.synthesis.rewards import verifying_reward
from dressage.lab.synthesis.store import NotStored, store_version

logger = structlog.get_logger(__name__)
EVERY_S = 1.0
_MISSING = "A file of the rows is missing. Create the version again, or have the operator restore the file."
_CRASHED = (
    "The process that read the rows ended early, most likely out of memory. Try again, or use fewer rows; see the"
    " platform's log."
)

_CARRIED = {
    LabKind.DUPLICATES: False,
    LabKind.PARAPHRASES: False,
    LabKind.CONTAMINATION: True,
    LabKind.STATISTICS: True,
    LabKind.QUALITY: True,
    LabKind.MEMORISATION: True,
    LabKind.SYNTHESIS: False,
}
"""Whether findings about a row also hold for it in other versions. A cluster, for example, is specific to one
version."""


def carry_out(job_id: str) -> None:
    """Continue a job, unless it is over, another worker has it, or it must wait its turn."""
    job = claim(LabJob, job_id)
    if job is None:
        return
    begun = time.monotonic()
    try:
        with doing(job, LookupError):
            folder = job.work_folder
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            # A complete result from an earlier process is only stored: creating it may have cost money.
            status = 0 if (folder / REPORT).exists() else _run(job, _plan(job, folder))
            if status == 0:
                _keep(job, folder, time.monotonic() - begun)
            else:
                fail(job, _reason(status, folder))
    except NotStored as error:
        wait(job, str(error), stage="")
    except NotOurs:
        _leave(job)


def _reason(status: int, folder: Path) -> str:
    if status == UNFIT:
        return (folder / REASON).read_text()
    return _MISSING if status == GONE else _CRASHED


def _leave(job: LabJob) -> None:
    """Remove the output of a process whose job was cancelled. Files of another worker stay."""
    if is_cancelled(job):
        shutil.rmtree(job.work_folder, ignore_errors=True)


def _plan(job: LabJob, folder: Path) -> dict[str, Any]:
    others = [selectors.version_by_ref(job.team, ref, new=False) for ref in job.operation.get("against", [])]
    return {
        "operation": job.operation,
        "version": _stored(job.version),
        "against": [_stored(one) for one in others],
        "folder": str(folder),
        "endpoint": endpoint_for(job),
        "solver": solver_for(job),
        **_synthesis(job, folder),
    }


def _synthesis(job: LabJob, folder: Path) -> dict[str, Any]:
    """The part of the plan that only syntheses have: the chosen rows, always the same ones, and the reward."""
    if job.kind != LabKind.SYNTHESIS:
        return {"chosen": None, "reward": None}
    operation = SynthesiseRows.model_validate(job.operation)
    reward = verifying_reward(job.team, operation)
    return {
        "chosen": kept_choice(folder, job.version, operation),
        "reward": None if reward is None else reward.model_dump(mode="json"),
    }


def _stored(version: DatasetVersion) -> dict[str, Any]:
    if version.is_deleted:
        raise LookupError(f"The dataset version {version.ref} was deleted in the meantime.")
    return {"ref": version.ref, "path": str(version.path), "rows": version.rows}


def _run(job: LabJob, plan: dict[str, Any]) -> int:
    """The exit status of the job's process. Progress is written once a second. Raises NotOurs and Stopping."""
    process = subprocess.Popen(
        [sys.executable, "-m", "dressage.lab.child"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin and process.stdout
    served = served_endpoints(job, plan)
    relay = ServedRelay(job, served) if served else None
    try:
        _tell_process(process, plan)  # its input stays open: the process ends when it closes
        lines: Queue[str] = Queue()
        reader = threading.Thread(target=_read, args=(process.stdout, lines), daemon=True)
        reader.start()
        while process.poll() is None:
            _wait_and_tell(job, process, lines, relay)
        return process.returncode
    finally:
        process.kill()
        process.wait()
        with suppress(BrokenPipeError):
            process.stdin.close()
        if relay is not None and not is_stopping() and LabJob.objects.filter(pk=job.pk, attempt=job.attempt).exists():
            relay.close()  # otherwise another worker continues, and finds the model still served


def _read(output: IO[str], lines: "Queue[str]") -> None:
    for line in output:
        lines.put(line)


def _wait_and_tell(
    job: LabJob, process: "subprocess.Popen[str]", lines: "Queue[str]", relay: ServedRelay | None
) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(EVERY_S if relay is None else RELAY_EVERY_S)
    if is_stopping():
        raise Stopping
    last: dict[str, Any] = {}
    asked: list[dict[str, Any]] = []
    with suppress(Empty):
        while True:
            line = json.loads(lines.get_nowait())
            if ASKED in line:
                asked.append(line[ASKED])
            else:
                last = line
    fields = {"stage": last["stage"], "steps_done": last["done"], "steps_total": last["of"]} if last else {}
    if relay is not None:
        relay.ask(asked)
        _tell_process(process, {ANSWERS: relay.answers()})
        fields |= {} if relay.stage is None else {"stage": relay.stage}
    if not report(job, **fields):
        raise NotOurs


def _tell_process(process: "subprocess.Popen[str]", line: Any) -> None:
    """Write a line to a process, which may have ended."""
    assert process.stdin
    with suppress(BrokenPipeError):
        process.stdin.write(json.dumps(line) + "\n")
        process.stdin.flush()


def _keep(job: LabJob, folder: Path, seconds: float) -> None:
    """Store notes, report and possibly a version together, so that a finished job has all of them."""
    found = json.loads((folder / REPORT).read_text())
    table = pq.read_table(folder / NOTES)
    report = completed({job.kind: found["report"]})

    def finish(locked: LabJob, made: DatasetVersion | None) -> None:
        source: notes.NoteSource = {"kind": job.kind, "id": job.id, "arguments": job.operation}
        notes.write(
            job.version, found["note"], table, by=Actor(**job.actor), source=source, carried=_CARRIED[LabKind(job.kind)]
        )
        LabJob.objects.filter(version=job.version, kind=job.kind).exclude(pk=job.pk).update(notes=[])
        fields = {"report": report, "notes": [found["note"]], "drawn": found["drawn"], "made": made}
        end(locked, LabState.DONE, seconds=seconds, **fields)

    if job.kind == LabKind.SYNTHESIS:
        store_version(job, folder, finish)
        return
    with transaction.atomic():
        locked = own_locked(job)
        if locked is not None:
            finish(locked, None)
