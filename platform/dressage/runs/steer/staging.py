"""Staging of controls by users, one at a time or several as a set. The run's row is locked for each change."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem, conflict, invalid
from dressage.runs.facts import ramps
from dressage.runs.facts.control_events import record_control_event
from dressage.runs.facts.documents import control_document
from dressage.runs.life.lifecycle import locked
from dressage.runs.models import Control, Run
from dressage.runs.needs import references, reward_versions
from dressage.runs.states import ACTIVE, RunState
from dressage.runs.steer.change_sets import staged_spec
from dressage.teams.models import Team
from dressage.teams.services import record_audit
from trainer_core.spec import Change, ControlError, RunSpec, apply_controls, targets, valid_order
from trainer_core.spec.ramps import can_ramp

STEERABLE = ACTIVE | {RunState.QUEUED, RunState.SUSPENDED}


@dataclass(frozen=True)
class ChangeRequest:
    """A user's request. Several changes form one set, which is staged as a whole or not at all."""

    changes: Sequence[Change]
    apply_at: int | None = None
    ramp_steps: int | None = None
    reason: str = ""
    reverts: Control | None = None
    listed: bool = True
    """Whether the body lists the changes. If so, faults point to ``/changes/<index>``."""

    def refusal(self, index: int, member: str, detail: str, code: str) -> Problem:
        """422 for one of the changes."""
        where = f"/changes/{index}" if self.listed else ""
        return invalid(f"{where}/{member}", detail, code=code)


@transaction.atomic
def stage_control(
    team: Team,
    actor: Actor,
    run_id: str,
    *,
    revision: int,
    target: str,
    value: Any,
    apply_at: int | None = None,
    ramp_steps: int | None = None,
    reason: str = "",
    reverts: Control | None = None,
) -> Control:
    """Stage a change of one field.

    Args:
        team: the caller's team.
        actor: who changes it.
        run_id: the run.
        revision: the last revision that the caller has seen (``If-Match``).
        target: dotted path, such as ``thinking.budget``.
        value: its new value.
        apply_at: step; None means as soon as possible.
        ramp_steps: steps over which numbers move to their new values; None means that they take effect in one step.
        reason: the actor's explanation.
        reverts: the control whose old value this restores.

    Raises:
        Problem: 412, with the other changes, if someone else was faster; 409 if the run cannot be steered in its state;
            422 for a target or value that gives no valid spec, a step in the past, or a reward that the team lacks or
            cannot run.
    """
    request = ChangeRequest([(target, value)], apply_at, ramp_steps, reason, reverts, listed=False)
    return _stage(team, actor, run_id, revision, request)[0]


@transaction.atomic
def stage_controls(
    team: Team,
    actor: Actor,
    run_id: str,
    *,
    revision: int,
    changes: Sequence[Change],
    apply_at: int | None = None,
    ramp_steps: int | None = None,
    reason: str = "",
) -> list[Control]:
    """Stage several changes as one set: only the spec with all of them must be valid, and all take effect together.

    Args:
        team: the caller's team.
        actor: who changes them.
        run_id: the run.
        revision: the last revision that the caller has seen (``If-Match``).
        changes: targets with their new values, at least one.
        apply_at: step; None means as soon as possible.
        ramp_steps: steps over which numbers move to their new values; None means that they take effect in one step.
        reason: the actor's explanation.

    Returns:
        One control for each change, in the same order.

    Raises:
        Problem: as ``stage_control``; a 422 names the index of the faulty change. Nothing is staged then.
    """
    return _stage(team, actor, run_id, revision, ChangeRequest(changes, apply_at, ramp_steps, reason))


def _stage(team: Team, actor: Actor, run_id: str, revision: int, request: ChangeRequest) -> list[Control]:
    run = locked(run_id, team)
    _require_steerable(run)
    _require_revision(run, revision)
    if request.apply_at is not None and not run.step < request.apply_at <= run.total_steps:
        raise invalid("/apply_at", f"apply_at must be a step from {run.step + 1} to {run.total_steps}.")
    if request.ramp_steps is not None:
        last = (request.apply_at or run.step + 1) + request.ramp_steps - 1
        if last > run.total_steps:
            raise invalid("/ramp_steps", f"The ramp would end at step {last}, but the run ends at {run.total_steps}.")
    spec = staged_spec(run)
    changed = _require_valid(team, spec, request, dict(ramps.ends(run)))
    made = _create(run, actor, spec, changed, request)
    for control in sorted(made, key=lambda control: control.revision):
        record_control_event(run, control, run.step)
    _record_staged(team, actor, run, made, request)
    return made


def _require_valid(team: Team, spec: RunSpec, request: ChangeRequest, ends: dict[str, Any]) -> RunSpec:
    """``spec`` with the changes. Raises a 422 problem if one of them is invalid.

    ``ends`` are the final values of the ramps in progress, by field. The spec must also be valid with them.
    """
    known = {target.path: target.value for target in targets(spec)}
    try:
        changed = apply_controls(spec, request.changes)
    except ControlError as error:
        member = "value" if request.changes[error.index][0] in known else "target"
        raise request.refusal(error.index, member, str(error), "control_refused") from error
    _require_rewards(team, spec, changed, request)
    _require_valid_end(changed, request, ends)
    after = {target.path: target.value for target in targets(changed)}
    for index, (path, _) in enumerate(request.changes):
        if request.ramp_steps is not None and not can_ramp(known[path], after[path]):
            detail = f"{path} goes from {known[path]!r} to {after[path]!r}: only numbers can be ramped."
            raise request.refusal(index, "value", detail, "no_ramp")
        if after[path] == known[path] and path not in ends:
            raise request.refusal(index, "value", f"{path} is {after[path]!r} already.", "no_change")
    return changed


def _require_valid_end(changed: RunSpec, request: ChangeRequest, ends: dict[str, Any]) -> None:
    """Require that ramps in progress can still reach their ends; those of the changed fields end now."""
    named = {path for path, _ in request.changes}
    left = [(path, value) for path, value in ends.items() if path not in named]
    try:
        apply_controls(changed, left)
    except ControlError as error:
        detail = f"The ramp of {left[error.index][0]} could not reach its end: {error}. Revert it first."
        raise request.refusal(0, "value", detail, "control_refused") from error


def _create(run: Run, actor: Actor, spec: RunSpec, changed: RunSpec, request: ChangeRequest) -> list[Control]:
    """The rows, in the order of the changes. Their revisions follow an order in which each step gives a valid spec.

    A worker from before there were sets applies them one by one, in the order of their revisions.
    """
    before = {target.path: target for target in targets(spec)}
    after = {target.path: target.value for target in targets(changed)}
    change_set = Control.new_change_set() if len(request.changes) > 1 else None
    made: dict[int, Control] = {}
    for index in valid_order(spec, request.changes):
        path = request.changes[index][0]
        run.revision += 1
        made[index] = Control.objects.create(
            run=run,
            revision=run.revision,
            change_set=change_set,
            target=path,
            boundary=before[path].boundary,
            before=before[path].value,
            value=after[path],
            apply_at=request.apply_at,
            ramp_steps=request.ramp_steps,
            reason=request.reason,
            actor_kind=actor.kind,
            actor_id=actor.id,
            actor_name=actor.name,
            reverts=request.reverts,
        )
    run.save(update_fields=["revision", "updated_at"])
    return [made[index] for index in range(len(request.changes))]


def _record_staged(team: Team, actor: Actor, run: Run, made: list[Control], request: ChangeRequest) -> None:
    """Write one entry to the audit log, however many controls were staged."""
    action = "control.revert" if request.reverts else "control.stage"
    first = made[0]
    if first.change_set is None:
        before = {"run": run.id, "target": first.target, "value": first.before}
        after = {"run": run.id, "target": first.target, "value": first.value, "revision": first.revision}
        record_audit(team, actor, action, "control", first.id, before=before, after=after, reason=request.reason)
        return
    before = {"run": run.id, "changes": [{"target": c.target, "value": c.before} for c in made]}
    after = {"run": run.id, "changes": [control_facts(control) for control in made]}
    record_audit(team, actor, action, "change_set", first.change_set, before=before, after=after, reason=request.reason)


def control_facts(control: Control) -> dict[str, Any]:
    """A control in the audit entry of its set."""
    return {
        "control": control.id, "target": control.target, "value": control.value, "revision": control.revision
    }  # fmt: skip


def _require_steerable(run: Run) -> None:
    if run.state == RunState.DRAFT:
        raise conflict("The run has not been started: fork it with another spec instead.", code="wrong_state")
    if run.state not in STEERABLE:
        raise conflict(f"The run is {run.state}: fork it to continue with another value.", code="wrong_state")


def _require_rewards(team: Team, before: RunSpec, changed: RunSpec, request: ChangeRequest) -> None:
    """Require that the parts of a changed reward exist now. Otherwise the worker would only fail later."""
    index = next((at for at, (path, _) in enumerate(request.changes) if path.startswith("reward.")), None)
    if index is None:
        return
    found = references.resolve(team, changed).errors + reward_versions.errors_of_change(team, before, changed)
    errors = [error for error in found if error["pointer"].startswith(("/spec/reward/", "/spec/advantage/"))]
    if errors:
        raise request.refusal(index, "value", errors[0]["detail"], "unknown_reference")


def _require_revision(run: Run, seen: int) -> None:
    if seen == run.revision:
        return
    others = [control_document(control) for control in run.controls.filter(revision__gt=seen).order_by("revision")]
    who = f"; {others[-1]['actor']} changed {others[-1]['target']} to {others[-1]['value']!r}" if others else ""
    raise Problem(
        412,
        "Precondition failed",
        f"The run is at revision {run.revision}, not {seen}{who}.",
        code="stale_revision",
        extra={"revision": run.revision, "changes": others},
    )
