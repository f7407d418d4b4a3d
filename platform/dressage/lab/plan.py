"""Plan of a job and its result, as its process is told and tells them: it knows no database."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from dressage.lab.asking.served import QuestionPipe
from trainer_core.link.judge import JudgeEndpoint
from trainer_core.rewards import RewardDefinition


class UnfitError(Exception):
    """A job that cannot go on, with a sentence for whoever asked for it."""


@dataclass(frozen=True, slots=True)
class StoredRows:
    """A version's rows."""

    ref: str
    path: Path
    rows: int


@dataclass(frozen=True, slots=True)
class LabWork:
    """The rows to look at, and the folder that keeps what is done."""

    version: StoredRows
    against: list[StoredRows]
    folder: Path
    """The job's own; what lies in it was left by an earlier process of the same job."""
    told: Callable[[str, int, int], None]
    """Called with (stage, rows or steps done, rows or steps in all)."""
    endpoint: JudgeEndpoint | None = None
    """The model that is asked, where one is, with its key."""
    solver: JudgeEndpoint | None = None
    """The model that answers what the other has written, where it is another one."""
    reward: RewardDefinition | None = None
    """The reward by which answers are compared, where they are."""
    pipe: QuestionPipe | None = None
    """The way to models that the cluster serves, where one is asked."""
    chosen: frozenset[int] | None = None
    """Numbers of the rows that a model is asked about; None where a sample says which."""


@dataclass(frozen=True, slots=True)
class Result:
    """What was found."""

    note: str
    """Name of the row notes."""
    table: pa.Table
    """The notes, a line for each row of the version in order."""
    report: dict[str, Any]
    drawn: list[tuple[int, str, float]] | None = None
    """(number, id, score) of rows that people may mark, in the order in which they are drawn; None where none are."""
    made: list[tuple[str, dict[str, Any]]] | None = None
    """(id, row) of new rows of a version that is to be made; None where none is."""
