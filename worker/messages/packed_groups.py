"""Whole groups sent to the learner and back, packed by the codec of ``columns``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import Any

from trainer_core.episodes import ARRAYS, Group, Trajectory
from worker.messages.columns import Column

_OTHERS = tuple(field.name for field in fields(Trajectory) if field.name not in ARRAYS)


@dataclass(frozen=True, slots=True)
class PackedGroups:
    """Groups with all of their trajectories, as columns."""

    bare: list[Group]
    """The groups, without their trajectories."""
    counts: list[int]
    """Number of trajectories of each group."""
    columns: dict[str, Column]
    """Columns by field. Fields that no trajectory has are left out."""
    others: list[tuple[Any, ...]]
    """Fields that are not arrays, by trajectory."""

    @classmethod
    def of(cls, groups: Sequence[Group], without: Sequence[str] = ()) -> PackedGroups:
        """Pack groups without the array fields in ``without``."""
        trajectories = [trajectory for group in groups for trajectory in group.trajectories]
        columns = {
            name: column
            for name in ARRAYS
            if name not in without and (column := Column.of([getattr(one, name) for one in trajectories])) is not None
        }
        return cls(
            [replace(group, trajectories=[]) for group in groups],
            [len(group.trajectories) for group in groups],
            columns,
            [tuple([getattr(one, name) for name in _OTHERS]) for one in trajectories],
        )

    def groups(self) -> list[Group]:
        """The groups. Their arrays share memory, and are read-only if they come from another process."""
        columns = {name: column.arrays() for name, column in self.columns.items()}
        nothing: list[None] = [None] * len(self.others)
        rows = zip(*(columns.get(name, nothing) for name in ARRAYS), self.others, strict=True)
        made = (
            Trajectory(**dict(zip(ARRAYS, arrays, strict=True)), **dict(zip(_OTHERS, others, strict=True)))
            for *arrays, others in rows
        )
        return [
            replace(group, trajectories=list(islice(made, count)))
            for group, count in zip(self.bare, self.counts, strict=True)
        ]
