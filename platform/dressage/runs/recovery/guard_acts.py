"""Actions of guards: those of users, but done by ``guard:<name>``, and limited so that no guard acts forever.

A change of a field is an ordinary control: staged, checked as a whole, audited, and reverted like any other. A roll
back is a child run that continues from the checkpoint before the guard's first objection, like a rewind. It is started
immediately.
"""

from collections.abc import Callable, Sequence
from typing import Any

from django.db import transaction

from dressage.common.api.problems import Problem
from dressage.runs.facts.findings import FindingDocument, findings_of, guard_actor, set_outcome
from dressage.runs.life.lifecycle import locked
from dressage.runs.life.services import start_run
from dressage.runs.models import Run
from dressage.runs.recovery.branches import roll_back_to
from dressage.runs.recovery.checkpoints import newest_whole
from dressage.runs.states import ControlState
from dressage.runs.steer.change_sets import staged_spec
from dressage.runs.steer.staging import stage_control
from dressage.telemetry.events import append_event
from trainer_core.spec import Change, ControlError, RunSpec, targets
from trainer_core.spec.operation.guards import Guard, KnobChange, keys

LONGEST_LINE = 100
"""Maximum number of ancestors of a run to check for earlier roll backs."""


@transaction.atomic
def change_field(run_id: str, finding: FindingDocument) -> None:
    """Stage the change of a guard that has just acted. If that is impossible, an event of the run reports it."""
    run = locked(run_id)
    spec = staged_spec(run)
    guard = _guard(spec, finding["guard"])
    if guard is None or guard.change is None:
        return  # users have changed it in the meantime
    refusal = _may_change(run, guard, finding)
    if refusal is not None:
        _refuse(run, finding, refusal)
        return
    try:
        value = new_value(spec, guard.change)
        control = stage_control(
            run.team,
            guard_actor(finding["guard"]),
            run.id,
            revision=run.revision,
            target=guard.change.target,
            value=value,
            reason=finding["message"],
        )
    except (Problem, ControlError) as error:
        _refuse(run, finding, error.detail if isinstance(error, Problem) else str(error))
        return
    set_outcome(locked(run_id), finding["guard"], control=control.id)


def roll_back(run_id: str, guard_key: str) -> None:
    """Create and start the child run of a guard that rolls its run back. Skips a finding that has an outcome."""
    try:
        _read_before_locking(run_id, guard_key)
        with transaction.atomic():
            _roll_back(run_id, guard_key)
    except Problem as problem:
        with transaction.atomic():
            run = locked(run_id)
            finding = next((one for one in findings_of(run) if one["guard"] == guard_key), None)
            if finding is not None:
                _refuse(run, finding, problem.detail)


def open_roll_backs() -> list[tuple[str, str]]:
    """(run, guard) of roll backs that have not been carried out yet."""
    wanted = [{"action": "roll_back", "outcome": None}]
    found = Run.objects.filter(findings__contains=wanted).values_list("pk", "findings")
    return [(run, one["guard"]) for run, all_ in found for one in all_ or () if _is_open(one)]


def new_value(spec: RunSpec, change: KnobChange) -> Any:
    """New value of a field. A factor applies to the current or staged value; whole numbers stay whole.

    Raises:
        ControlError: the run no longer has such a field.
    """
    if change.multiply is None:
        value = change.value
        return int(value) if isinstance(value, float) and value.is_integer() else value
    before = next((target.value for target in targets(spec) if target.path == change.target), None)
    if isinstance(before, bool) or not isinstance(before, int | float):
        raise ControlError(f"{change.target} is not a number that can be multiplied")
    product = before * change.multiply
    return round(product) if isinstance(before, int) else product


def _roll_back(run_id: str, guard_key: str) -> None:
    run = locked(run_id)
    finding = next((one for one in findings_of(run) if one["guard"] == guard_key and _is_open(one)), None)
    if finding is None:
        return
    guard = _guard(RunSpec.model_validate(run.effective_spec), guard_key)
    if guard is None or guard.action != "roll_back":
        _refuse(run, finding, "The guard was changed in the meantime.")
        return
    done = _rolled_back(run, guard_key)
    if done >= guard.at_most:
        _refuse(run, finding, f"It has rolled this run back {_times(done)}, the maximum.")
        return
    checkpoint = newest_whole(run, before_step=finding["since"])
    if checkpoint is None:
        _refuse(run, finding, f"No checkpoint from before step {finding['since']} remains.")
        return
    actor = guard_actor(guard_key)
    child = roll_back_to(run.team, actor, run, checkpoint, _change_of(guard), finding["message"])
    start_run(run.team, actor, child.id)
    message = f"{actor.label} continues in the run {child.name} from the checkpoint of step {checkpoint.step}."
    append_event(run, "log", {"level": "warn", "message": message}, step=run.step)
    set_outcome(run, guard_key, child=child.id)


def _read_before_locking(run_id: str, guard_key: str) -> None:
    """Verify the checkpoint while the run is not locked: its worker's messages wait for the lock."""
    run = Run.objects.get(pk=run_id)
    finding = next((one for one in findings_of(run) if one["guard"] == guard_key and _is_open(one)), None)
    if finding is not None:
        newest_whole(run, before_step=finding["since"])


def _change_of(guard: Guard) -> Callable[[RunSpec], Sequence[Change]]:
    """Changes with which the child starts, given its spec at the checkpoint."""
    change = guard.change
    return lambda spec: () if change is None else ((change.target, new_value(spec, change)),)


def _may_change(run: Run, guard: Guard, finding: FindingDocument) -> str | None:
    """Reason the guard must not change the field now."""
    made = run.controls.filter(actor_kind="guard", actor_id=guard_actor(finding["guard"]).id).order_by("revision")
    if len(made) >= guard.at_most:
        return f"It has changed this run {_times(len(made))}, the maximum."
    last = made.last()
    if last is None:
        return None
    if last.state == ControlState.STAGED:
        return f"Its change of {last.target} waits for the worker."
    at = last.applied_step
    if at is not None and abs((finding["step"] or 0) - at) < guard.cooldown:
        return f"It changed {last.target} at step {at}, and waits {guard.cooldown} steps."
    return None


def _rolled_back(run: Run, guard_key: str) -> int:
    """Number of roll backs by this guard that led to the run, and from it."""
    label = guard_actor(guard_key).label
    count = run.children.filter(created_by=label).count()
    at: Run | None = run
    for _ in range(LONGEST_LINE):
        if at is None or at.created_by != label:
            break
        count, at = count + 1, at.parent
    return count


def _guard(spec: RunSpec, key: str) -> Guard | None:
    return dict(zip(keys(spec.guards), spec.guards, strict=True)).get(key)


def _is_open(finding: Any) -> bool:
    return finding["action"] == "roll_back" and finding["outcome"] is None


def _refuse(run: Run, finding: FindingDocument, why: str) -> None:
    title = f"Guard: {finding['guard']}"
    message = f"It could not act: {why}"
    append_event(run, "alert", {"level": "warn", "title": title, "message": message}, step=run.step)
    before = finding["outcome"]
    control, child = (None, None) if before is None else (before["control"], before["run"])
    set_outcome(run, finding["guard"], control=control, child=child, refused=why)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
