"""Child runs: a fork takes a checkpoint's weights; a rewind continues from it as if a control had never been made."""

import shutil
from collections.abc import Callable, Sequence
from typing import Any

from django.db import transaction

from dressage.clusters.selectors import cluster_names
from dressage.common.actors import Actor
from dressage.common.api.problems import Problem, conflict, invalid, not_found
from dressage.runs.facts import selectors
from dressage.runs.life.damage import require_whole
from dressage.runs.life.lifecycle import locked
from dressage.runs.life.services import create_run
from dressage.runs.models import Checkpoint, Control, Run
from dressage.runs.needs import objective, origin_policy
from dressage.runs.recovery.checkpoints import copy_as_origin, newest_whole
from dressage.runs.steer.change_sets import IN_EFFECT, members, spec_with
from dressage.teams.models import Team
from trainer_core.spec import Change, ControlError, RunSpec, apply_controls

LATEST: Any = object()
"""The parent's newest checkpoint, or its base policy if it has none."""
OF_THE_PARENT: Any = object()
"""The cluster that people chose for the parent, unless it is gone."""


def fork_run(
    team: Team,
    actor: Actor,
    run_id: str,
    *,
    name: str | None = None,
    spec: RunSpec | None = None,
    checkpoint_id: Any = LATEST,
    cluster: Any = OF_THE_PARENT,
) -> Run:
    """A draft run that starts with the weights of a checkpoint and counts its steps from 1.

    Args:
        team: the caller's team.
        actor: who forks.
        run_id: the parent.
        name: by default the parent's name with a suffix.
        spec: by default the parent's effective spec.
        checkpoint_id: the id of a checkpoint of the parent or any other run of the team; None starts with the base
            policy.
        cluster: the cluster to train on; None leaves it to the platform.

    Raises:
        Problem: 404 for an unknown run, 409 if the checkpoint's files are gone or damaged, 422 if it was trained from
            another policy than ``spec`` names or for another objective, and for other faults.
    """
    parent = selectors.plain_run(team, run_id, with_spec=True)
    if checkpoint_id is LATEST:
        checkpoint = newest_whole(parent)
    elif checkpoint_id is None:
        checkpoint = None
    else:
        checkpoint = Checkpoint.objects.for_team(team).select_related("run").filter(pk=checkpoint_id).first()
        if checkpoint is None:
            raise invalid("/checkpoint", f"There is no checkpoint {checkpoint_id} in this team.")
        if checkpoint.available:
            require_whole(checkpoint)
    chosen = spec or RunSpec.model_validate(parent.effective_spec)
    objective.require_same(chosen, objective.kind_of(parent.effective_spec))
    if checkpoint is not None and checkpoint.run_id != parent.id:
        objective.require_same(chosen, objective.kind_of(checkpoint.run.effective_spec))
    title = name or f"{parent.name} (fork)"
    return _child(team, actor, parent, title, chosen, checkpoint, continues=False, cluster=cluster)


def rewind_control(team: Team, actor: Actor, run_id: str, control_id: str, *, name: str | None = None) -> Run:
    """A draft run that continues from the checkpoint before a control, without that control, its set and later ones.

    Raises:
        Problem: 404; 409 if the control never took effect, or no whole checkpoint from before it exists any more.
    """
    _read_before_locking(team, run_id, control_id)
    with transaction.atomic():
        parent = locked(run_id, team)
        control = Control.objects.filter(run=parent, pk=control_id).select_related("checkpoint__run").first()
        if control is None:
            raise not_found("control")
        if control.state not in IN_EFFECT or control.applied_step is None:
            raise conflict(f"The control is {control.state}: there is nothing to rewind.", code="wrong_state")
        checkpoint = _from_before(parent, control)
        if checkpoint is None:
            raise conflict("No checkpoint from before this control remains.", code="no_checkpoint")
        before = parent.controls.filter(state__in=IN_EFFECT, applied_step__lte=checkpoint.step)
        without = before.exclude(pk__in=members(control).values("pk"))
        spec = spec_with(parent.spec, without.order_by("applied_step", "revision"), checkpoint.step)
    title = name or f"{parent.name} (rewound to step {checkpoint.step})"
    return _child(team, actor, parent, title, spec, checkpoint, continues=True)


def _from_before(parent: Run, control: Control) -> Checkpoint | None:
    """The whole checkpoint from before a control took effect: its own, otherwise the newest earlier one.

    Raises:
        Problem: 409 with the name of a file if only damaged ones are left.
    """
    own = control.checkpoint
    if own is None or not own.available:
        return newest_whole(parent, before_step=control.applied_step)
    try:
        require_whole(own)
    except Problem:
        older = newest_whole(parent, before_step=own.step)
        if older is None:
            raise
        return older
    return own


def _read_before_locking(team: Team, run_id: str, control_id: str) -> None:
    """Verify the checkpoint while the run is not locked: its worker's messages wait for the lock."""
    parent = selectors.plain_run(team, run_id)
    control = Control.objects.filter(run=parent, pk=control_id).select_related("checkpoint__run").first()
    if control is not None and control.state in IN_EFFECT and control.applied_step is not None:
        _from_before(parent, control)


def roll_back_to(
    team: Team,
    actor: Actor,
    parent: Run,
    checkpoint: Checkpoint,
    changes: Callable[[RunSpec], Sequence[Change]],
    reason: str,
) -> Run:
    """A draft run that continues from a checkpoint of a locked run, with the controls from before it and ``changes``.

    Args:
        team: the parent's team.
        actor: who rolls back.
        parent: the run, locked.
        checkpoint: one of the parent's own.
        changes: function from the spec at the checkpoint to the changes to make.
        reason: is added to the child's notes.

    Raises:
        Problem: 409 if the checkpoint's files are gone; 422 if the changes give no valid spec.
    """
    before = parent.controls.filter(state__in=IN_EFFECT, applied_step__lte=checkpoint.step)
    spec = spec_with(parent.spec, before.order_by("applied_step", "revision"))
    try:
        spec = apply_controls(spec, changes(spec))
    except ControlError as error:
        raise invalid("/change", str(error), code="control_refused") from error
    title = f"{parent.name} (rolled back to step {checkpoint.step})"
    child = _child(team, actor, parent, title, spec, checkpoint, continues=True)
    child.notes = f"{actor.label} rolled {parent.name} back: {reason}"
    child.save(update_fields=["notes", "updated_at"])
    return child


def _child(
    team: Team,
    actor: Actor,
    parent: Run,
    name: str,
    spec: RunSpec,
    checkpoint: Checkpoint | None,
    *,
    continues: bool,
    cluster: Any = OF_THE_PARENT,
) -> Run:
    if cluster is OF_THE_PARENT:
        cluster = parent.cluster if parent.cluster in cluster_names() else None
    origin: dict[str, Any] = {"parent": parent, "cluster": cluster}
    if checkpoint is not None:
        origin_policy.require_same(team, spec, checkpoint.base, checkpoint.step)
        origin |= {
            "parent_checkpoint": checkpoint,
            "origin_step": checkpoint.step,
            "origin_manifest_sha256": checkpoint.manifest_sha256,
            "continues": continues,
        }
    if continues:
        origin["step"] = checkpoint.step if checkpoint else 0
    child: Run | None = None
    try:
        with transaction.atomic():
            child = create_run(team, actor, name=name[:120], spec=spec, **origin)
            if checkpoint is not None:
                copy_as_origin(checkpoint, child)
    except BaseException:
        # The transaction removes the row; the copy must be removed, too.
        if child is not None:
            shutil.rmtree(child.run_dir, ignore_errors=True)
        raise
    return child
