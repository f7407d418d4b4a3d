"""Controls on the worker's side: staged commands become changes of the spec at the boundary they belong to.

A control of ``group_dispatch`` takes effect with the next batch that is dispatched, one of ``optimizer_step`` with the
next update; ``apply_at`` holds it back until that step. The platform names every open command with each sync, so a
command that disappears before it was applied has been cancelled there and is forgotten here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from trainer_core.spec import ControlError, RunSpec, apply_control, targets
from trainer_core.spec.base import Boundary
from worker.messages.control import AppliedControl


@dataclass(frozen=True)
class Refused:
    """A control that could not be applied, with the reason."""

    control_id: str
    error: str


Check = Callable[[RunSpec], str | None]
"""A further rule that the worker alone can check; returns the objection or None. The spec changes if all agree."""


class Steering:
    """The effective spec and its revision."""

    def __init__(self, spec: RunSpec, revision: int, *checks: Check) -> None:
        self.spec = spec
        self.revision = revision
        self._checks = checks
        self._handled: set[str] = set()

    def apply(
        self, commands: list[dict[str, Any]], boundary: Boundary, step: int
    ) -> tuple[list[AppliedControl], list[Refused]]:
        """Apply what is due at ``boundary`` of ``step``, in revision order. Each command is handled once."""
        applied: list[AppliedControl] = []
        refused: list[Refused] = []
        for command in self._due(commands, boundary, step):
            self._handled.add(command["id"])
            try:
                spec = apply_control(self.spec, command["target"], command["value"])
                for check in self._checks:
                    if (objection := check(spec)) is not None:
                        raise ControlError(f"{command['target']}: {objection}")
            except ControlError as error:
                refused.append(Refused(command["id"], str(error)))
                continue
            self.spec = spec
            self.revision = max(self.revision, command["revision"])
            applied.append(AppliedControl(command["id"], command["revision"], command["target"]))
        return applied, refused

    def requested_checkpoints(self, commands: list[dict[str, Any]]) -> list[str]:
        """Ids of the checkpoints that were asked for, each named once."""
        ids = [c["id"] for c in commands if c["type"] == "checkpoint" and c["id"] not in self._handled]
        self._handled.update(ids)
        return ids

    def _due(self, commands: list[dict[str, Any]], boundary: Boundary, step: int) -> list[dict[str, Any]]:
        staged = [c for c in commands if c["type"] == "control" and c["id"] not in self._handled]
        if not staged:
            return []
        boundaries = {target.path: target.boundary for target in targets(self.spec)}
        # A target that does not exist has no boundary: it is refused at the first occasion.
        here = [c for c in staged if boundaries.get(c["target"], boundary) == boundary]
        return sorted(
            (c for c in here if c["apply_at"] == "next" or step >= c["apply_at"]), key=lambda c: c["revision"]
        )
