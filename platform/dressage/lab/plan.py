"""Plan and result of a job, as exchanged with its process, which has no database access."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from dressage.lab.asking.served import QuestionPipe
from trainer_core.link.judge import JudgeEndpoint
from trainer_core.rewards import RewardDefinition


class UnfitError(Exception):
    """The job cannot continue. The message is a sentence for the user who started it."""


@dataclass(frozen=True, slots=True)
class StoredRows:
    """A version's rows."""

    ref: str
    path: Path
    rows: int


@dataclass(frozen=True, slots=True)
class LabWork:
    """The rows to process, and the folder for intermediate results."""

    version: StoredRows
    against: list[StoredRows]
    folder: Path
    """The job's own folder. Files in it were left by an earlier process of the same job."""
    told: Callable[[str, int, int], None]
    """Called with (stage, rows or steps done, rows or steps in all)."""
    endpoint: JudgeEndpoint | None = None
    """The model to use, if any, with its key."""
    solver: JudgeEndpoint | None = None
    """The model that answers what the other one has written, if it is a different one."""
    reward: RewardDefinition | None = None
    """The reward that compares answers, if any."""
    pipe: QuestionPipe | None = None
    """Connection to models that the cluster serves, if one is used."""
    chosen: frozenset[int] | None = None
    """Numbers of the rows to ask a model about; None if a sample decides."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of an operation."""

    note: str
    """Name of the row notes."""
    table: pa.Table
    """The notes, one line for each row of the version in order."""
    report: dict[str, Any]
    drawn: list[tuple[int, str, float]] | None = None
    """(number, id, score) of rows that people may mark, in drawing order; None if there are none."""
    made: list[tuple[str, dict[str, Any]]] | None = None
    """(id, row) of the rows of a version to create; None if none is created."""
