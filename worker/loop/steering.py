"""Controls on the worker's side: staged commands change the spec at the boundary they belong to.

A control of ``group_dispatch`` takes effect with the next dispatched batch, one of ``optimizer_step`` with the next
update; ``apply_at`` delays it until that step. Controls of one ``change_set`` take effect together or not at all, at
the latest of their boundaries, because only their combination was validated. The platform lists every open command in
each sync: one that disappears before it was applied was cancelled there, and is dropped here. A control with a ramp
takes effect like any other, and moves its field at every step from then on.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from trainer_core.link.commands import CheckpointCommand, Command, ControlCommand, RampUnderWay
from trainer_core.spec import ControlError, RunSpec, apply_controls, targets
from trainer_core.spec.base import Boundary
from worker.loop.ramps import RampInHand, Ramps
from worker.messages.control import AppliedControl


@dataclass(frozen=True)
class Refused:
    """A control that could not be applied, with the reason."""

    control_id: str
    error: str


Check = Callable[[RunSpec], str | None]
"""An additional rule that only the worker can check. Returns an objection or None. Any objection blocks the change."""


class Steering:
    """The effective spec and its revision."""

    def __init__(self, spec: RunSpec, revision: int, *checks: Check, ramps: Sequence[RampUnderWay] = ()) -> None:
        """``ramps`` began before this attempt, under the spec that it starts with."""
        self.spec = spec
        self.revision = revision
        self.applications = 0
        """Changes that have taken effect: sets, and controls without a set."""
        self.ramps = Ramps(ramps, self._boundaries())
        self._checks = checks
        self._handled: set[str] = set()

    def apply(
        self, commands: Sequence[Command], boundary: Boundary, step: int
    ) -> tuple[list[AppliedControl], list[Refused]]:
        """Apply the controls due at ``boundary`` of ``step``, in revision order. Each command is handled once."""
        applied: list[AppliedControl] = []
        refused: list[Refused] = []
        for together in self._due(commands, boundary, step):
            self._handled.update(command.id for command in together)
            try:
                spec = apply_controls(self.spec, [(command.target, command.value) for command in together])
                self._ask(spec, together)
            except ControlError as error:
                refused += [Refused(command.id, str(error)) for command in together]
                continue
            boundaries = self._boundaries()
            self.ramps.end(command.target for command in together)
            if together[0].ramp is None:
                self.spec = spec
            self.revision = max(self.revision, *(command.revision for command in together))
            self.applications += 1
            for c in together:
                control = AppliedControl(
                    c.id, c.revision, c.target, boundaries[c.target], c.ramp is not None, self.applications
                )
                applied.append(control)
                if c.ramp is not None:
                    self.ramps.begin(RampInHand(control, boundary, step, c.ramp.before, c.value, c.ramp.steps))
        return applied, refused

    def advance(self, boundary: Boundary, step: int) -> tuple[list[AppliedControl], list[str]]:
        """Move the ramps of ``boundary`` to ``step``. Returns those that have reached their end, and objections.

        A ramp whose next value would make the spec invalid keeps its current one; the next step tries again.
        """
        ramps = self.ramps.at(boundary)
        changes = [(ramp.control.target, ramp.at(step)) for ramp in ramps]
        now = {target.path: target.value for target in targets(self.spec)} if changes else {}
        moves = [(target, value) for target, value in changes if now.get(target) != value]
        objections = []
        if moves:
            try:
                self.spec = apply_controls(self.spec, moves)
                self.applications += 1
            except ControlError as error:
                objections.append(str(error))
        ended = [ramp for ramp in ramps if ramp.is_over(step)]
        self.ramps.drop(ended)
        return [replace(ramp.control, is_under_way=False, application=self.applications) for ramp in ended], objections

    def requested_checkpoints(self, commands: Sequence[Command]) -> list[str]:
        """Ids of the requested checkpoints, each returned once."""
        ids = [c.id for c in commands if isinstance(c, CheckpointCommand) and c.id not in self._handled]
        self._handled.update(ids)
        return ids

    def _ask(self, spec: RunSpec, together: Sequence[ControlCommand]) -> None:
        """Raise ControlError if a rule objects to ``spec``, the result of ``together``."""
        for check in self._checks:
            if (objection := check(spec)) is not None:
                raise ControlError(f"{', '.join(command.target for command in together)}: {objection}")

    def _boundaries(self) -> dict[str, Boundary]:
        return {target.path: target.boundary for target in targets(self.spec)}

    def _due(self, commands: Sequence[Command], boundary: Boundary, step: int) -> list[list[ControlCommand]]:
        """Controls to apply now, by revision. Each set is one list, and so is each control without a set."""
        staged = [c for c in commands if isinstance(c, ControlCommand) and c.id not in self._handled]
        if not staged:
            return []
        boundaries = self._boundaries()
        sets: dict[str, list[ControlCommand]] = {}
        for command in sorted(staged, key=lambda c: c.revision):
            sets.setdefault(command.change_set or command.id, []).append(command)
        due: list[list[ControlCommand]] = []
        held: set[str] = set()
        """Fields of controls that wait for another boundary: later controls of the same fields wait for them."""
        for together in sets.values():
            if any(c.apply_at != "next" and step < c.apply_at for c in together):
                continue
            fields = {c.target for c in together}
            # A target that does not exist has no boundary: it is rejected at the first opportunity.
            if latest(boundaries.get(field, boundary) for field in fields) == boundary and not fields & held:
                due.append(together)
            else:
                held |= fields
        return due


def latest(boundaries: Iterable[Boundary]) -> Boundary:
    """The one of ``boundaries`` that comes last within a step."""
    return max(boundaries, key=get_args(Boundary).index)
