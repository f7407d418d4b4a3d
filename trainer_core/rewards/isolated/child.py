"""Grading process: takes jobs one after another and answers each."""

import json
import pickle  # nosec B403
import resource
import signal
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.grader_model import GraderModel
from trainer_core.rewards.graders import grade, leaves
from trainer_core.rewards.isolated import wire
from trainer_core.rewards.isolated.process import LOAD_S
from trainer_core.rewards.reasons import joined, told
from trainer_core.rewards.sample import Sample
from trainer_core.rewards.trace import shown
from trainer_core.spec.untrusted import Check

MOST_RESIDENT = 256 << 20
"""A process that holds more memory after a job, in bytes, ends itself: the next one starts small."""
_LONGEST_ERROR = 20_000
_PAGE = resource.getpagesize()


@dataclass(frozen=True, slots=True)
class GradeRequest:
    """One grade that is asked for."""

    grader: GraderModel
    sample: Sample
    item: Mapping[str, Any]
    cpu_s: float


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """One check of a text that is asked for."""

    check: Check
    text: str
    cpu_s: float


def serve(channel: socket.socket, memory_bytes: int) -> None:
    """Grade until the owner hangs up."""
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while (message := wire.receive(channel)) is not None:
        answer = _answer(channel, message)
        del message
        answer["last"] = bool(answer.get("memory")) or _resident() > MOST_RESIDENT
        wire.send(channel, json.dumps(answer).encode())
        if answer["last"]:
            return


def _answer(channel: socket.socket, message: bytes) -> dict[str, Any]:
    started = time.process_time()
    try:
        _limit(LOAD_S)
        job: GradeRequest | CheckRequest = pickle.loads(message)  # nosec B301  (imports the grader's module)
        if isinstance(job, GradeRequest):
            for leaf in leaves(job.grader):
                leaf.load()
        wire.send(channel, wire.LOADED)
        started = time.process_time()
        _limit(job.cpu_s)
        answer = {"fault": job.check(job.text)} if isinstance(job, CheckRequest) else _graded(job)
    except GraderError as error:
        answer = {"error": _short(str(error))}
    except MemoryError:
        answer = {"memory": True}
    except BaseException as error:  # a library in Rust may panic, and that is no Exception
        answer = {"bug": _short(f"{type(error).__name__}: {error}"), "traceback": shown(error)[-_LONGEST_ERROR:]}
    finally:
        _limit(0.0)
    return {**answer, "cpu_s": time.process_time() - started}


def _graded(job: GradeRequest) -> dict[str, Any]:
    with told() as reasons:
        value = float(grade(job.grader, job.sample, job.item))
    return {"value": value, "reason": joined(reasons)}


def _limit(seconds: float) -> None:
    """Have the kernel end this process after so much processor time, inside a C function too. 0: never."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


def _short(text: str) -> str:
    return text[:_LONGEST_ERROR]


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE
