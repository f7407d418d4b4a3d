"""The child process of a check, seen from the web process: it has its own memory and interpreter lock."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

import structlog

from dressage.common.api.client import client_is_gone
from dressage.common.api.errors import FieldError
from dressage.common.api.problems import Problem
from dressage.datasets.checking.answers import OUT_OF_MEMORY, to_problem
from dressage.datasets.checking.check import CheckOrder, CheckResult, TooManyRows, check
from dressage.datasets.files.formats import is_plain_text

logger = structlog.get_logger(__name__)
MEMORY_BYTES = 4 << 30
"""Memory limit of the process. Files with ordinary rows need a tenth of it, whatever their size."""
CPU_S, BYTES_A_SECOND = 15, 32 << 10
"""Processor time of the process, in seconds: so much for any file, and one more for so many bytes. Files with ordinary
rows need a tenth of it; an archive of a few hundred kilobytes can hold millions of rows."""
HERE_BYTES = 1 << 18
"""Maximum size of plain text that is checked in this process, which is faster than starting another."""
PREFIX = "checking-"
"""Prefix of the folders that the processes write to."""
_NICE = 5
_OUT_OF_TIME = "out_of_time"
_SPARED_S = 24 * 3600
"""Time after the last write before a file is removed. No check takes that long."""
_LOOK_S = 0.2
"""Interval at which the client's connection is checked."""
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "VIRTUAL_ENV")


def check_apart(file: BinaryIO, order: CheckOrder) -> CheckResult:
    """Run ``check`` in a separate process that leaves nothing behind.

    Raises:
        Problem: as ``check`` does; 413 if reading takes too much memory or processor time; 400 if the client has
            disconnected.
        TooManyRows: as ``check`` does.
    """
    if order["size"] <= HERE_BYTES and is_plain_text(file):
        return check(file, order)
    root = Path(order["folder"])
    root.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=root))
    try:
        with _descriptor_of(file) as descriptor:
            answer = _asked(descriptor, {**order, "folder": str(folder)})
        result = _result(answer)
        descriptor, kept = tempfile.mkstemp(prefix="upload-", suffix=".tmp", dir=root)
        os.close(descriptor)
        os.replace(result["path"], kept)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {**result, "path": kept}


def sweep(root: Path, now: float) -> int:
    """Remove the leftovers of checks whose two processes were both killed. Returns how many.

    Args:
        root: the folder of all datasets.
        now: seconds since 1970.
    """
    removed = 0
    for path in (*root.glob(f"{PREFIX}*"), *root.glob("upload-*.tmp")):
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < now - _SPARED_S:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
                removed += 1
    return removed


def _result(answer: dict[str, Any]) -> CheckResult:
    if "problem" in answer:
        raise to_problem(answer["problem"])
    if "too_many_rows" in answer:
        raise TooManyRows
    if OUT_OF_MEMORY in answer:
        raise Problem(
            413,
            "File too large",
            f"Reading the file takes more than {MEMORY_BYTES >> 30} GiB of memory, as rows of nearly a MiB each can. "
            "Split it, or shorten its rows. Nothing was stored.",
            code="file_takes_too_much_memory",
        )
    if _OUT_OF_TIME in answer:
        raise Problem(
            413,
            "File too large",
            f"Reading the file takes more than {answer[_OUT_OF_TIME]} s of processor time: it has very many rows for "
            "its size. Split it, or send it uncompressed. Nothing was stored.",
            code="file_takes_too_long",
        )
    if "os_error" in answer:
        raise OSError(*answer["os_error"])
    return cast(CheckResult, answer["checked"])


def _asked(descriptor: int, order: CheckOrder) -> dict[str, Any]:
    """The answer of the process. The process is killed if the client disconnects or this thread must end."""
    cpu_s = CPU_S + order["size"] // BYTES_A_SECOND
    limits = map(str, (descriptor, MEMORY_BYTES, _NICE, cpu_s))
    command = [sys.executable, "-m", "dressage.datasets.checking.child", *limits]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pass_fds=[descriptor],
        env=_environment(),
        start_new_session=True,  # a keyboard interrupt is meant for this process only
    )
    assert process.stdin and process.stdout
    try:
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps(order).encode() + b"\n")
            process.stdin.flush()  # and left open: the process ends when it closes
        told: list[bytes] = []
        reader = threading.Thread(target=_read, args=(process.stdout, told), daemon=True)
        reader.start()
        while reader.is_alive():
            reader.join(_LOOK_S)
            if client_is_gone():
                raise Problem(400, "Request cancelled", "The client has gone. Nothing was stored.", code="client_gone")
        status = process.wait()
        if told and told[0]:
            answer: dict[str, Any] = json.loads(told[0])
            return answer
        if status == -signal.SIGXCPU:
            return {_OUT_OF_TIME: cpu_s}
        if status == -signal.SIGKILL:  # by the kernel, because it ran out of memory
            return {OUT_OF_MEMORY: True}
        if status < 0:  # C code ends like this as well if an allocation fails
            logger.error("a file has ended the process that checked it", signal=signal.Signals(-status).name)
            raise _broken()
        raise RuntimeError(f"the process that checks a file has ended with status {status}; its error stands above")
    finally:
        process.kill()
        process.wait()
        with suppress(BrokenPipeError):
            process.stdin.close()
        process.stdout.close()


def _broken() -> Problem:
    detail = (
        f"The process that read the file has died: the file is broken, or takes more than {MEMORY_BYTES >> 30} GiB of "
        "memory. Write it again with another program, or in smaller parts. Nothing was stored."
    )
    errors = [FieldError(pointer="/file", detail=detail)]
    return Problem(422, "The file has errors", detail, errors=errors, code="file_ends_reader")


def _read(output: IO[bytes], told: list[bytes]) -> None:
    told.append(output.read())


@contextmanager
def _descriptor_of(file: BinaryIO) -> Iterator[int]:
    """An open descriptor of a file's content. A file in memory is copied to disk."""
    try:
        descriptor = file.fileno()
    except (AttributeError, io.UnsupportedOperation):
        with tempfile.TemporaryFile(prefix="dataset-") as copy:
            file.seek(0)
            shutil.copyfileobj(file, copy)
            copy.flush()
            yield copy.fileno()
        return
    file.flush()
    yield descriptor


def _environment() -> dict[str, str]:
    """The part of this process's environment that the child may see, without secrets."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    path = os.pathsep.join(filter(None, sys.path))
    # Freed memory no longer counts towards the limit.
    return {**kept, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
