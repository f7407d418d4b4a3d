"""Announcement of a checkpoint by a worker: the row that makes its files count."""

from django.utils import timezone

from dressage.runs.models import Checkpoint, CheckpointRequest, Control, Run
from dressage.runs.recovery.checkpoints import relative_path
from trainer_core.link.events import CheckpointData, CheckpointReason

_WEIGHT: tuple[CheckpointReason, ...] = ("schedule", "release", "final", "requested", "before_control")
"""Ranks of reasons: if one folder has several, the one later in this list is shown."""


def record_checkpoint(run: Run, attempt: int, step: int, data: CheckpointData) -> Checkpoint:
    """Write or complete the row of a folder, and close the requests that it fulfils.

    Raises:
        ValueError: the folder is not inside the run's folder.
    """
    path = relative_path(run, data.path)
    checkpoint = Checkpoint.objects.filter(run=run, path=path).first() or Checkpoint(run=run, path=path)
    if checkpoint._state.adding or _WEIGHT.index(data.reason) > _WEIGHT.index(checkpoint.reason):
        checkpoint.reason = data.reason
    checkpoint.attempt, checkpoint.step = attempt, step
    checkpoint.bytes, checkpoint.manifest_sha256 = data.bytes, data.manifest_sha256
    checkpoint.policy_version, checkpoint.damage = data.policy_version, ""
    checkpoint.save()
    if data.reason == "before_control" and data.control_id:
        Control.objects.filter(run=run, pk=data.control_id).update(checkpoint=checkpoint)
    if data.reason == "requested":
        wishes = CheckpointRequest.objects.filter(run=run, closed_at=None)
        wishes = wishes.filter(pk=data.control_id) if data.control_id else wishes
        wishes.update(closed_at=timezone.now(), checkpoint=checkpoint)
    return checkpoint
