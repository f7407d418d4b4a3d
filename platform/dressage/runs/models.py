"""Runs, their attempts, controls and checkpoints."""

from pathlib import Path
from typing import ClassVar

from django.conf import settings
from django.db import models

from dressage.common.actors import Actor
from dressage.common.ids import new_id
from dressage.common.models import PrefixedModel, TeamModel, TeamQuerySet
from dressage.imports.models import Transfer
from dressage.jobs.models import Slots
from dressage.runs.states import ControlState, DesiredState, RunState
from trainer_core.link.events import CHECKPOINT_REASONS


class Run(TeamModel):
    """A run. Every change locks its row, so that changes of one run are serialized."""

    id_prefix: ClassVar[str] = "run"

    name = models.CharField(max_length=120)
    notes = models.TextField(max_length=20_000, blank=True)
    state = models.CharField(max_length=16, choices=RunState.choices, default=RunState.DRAFT)
    state_reason = models.CharField(max_length=2000, blank=True)
    desired_state = models.CharField(max_length=16, choices=DesiredState.choices, default=DesiredState.RUNNING)
    desired_since = models.DateTimeField(null=True)
    cluster = models.CharField(max_length=63, blank=True, default="", db_default="")
    """Name of the cluster that people chose for it; empty: the platform chooses at each start."""
    spec = models.JSONField()
    """The RunSpec with which the run was created, including defaults."""
    effective_spec = models.JSONField()
    """The spec with all applied controls."""
    revision = models.PositiveIntegerField(default=0)
    """Number of the newest control; compared with ``If-Match``."""
    attempt = models.PositiveIntegerField(default=0)
    """Number of the newest attempt; workers of older attempts are refused."""
    queued_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    paused_at = models.DateTimeField(null=True)
    """Time at which it paused while holding its slot; null in any other state."""
    release_asked_at = models.DateTimeField(null=True)
    """Time at which the worker of the paused run was first asked to give its slot back."""
    suspended_at = models.DateTimeField(null=True)
    """Time at which its slot was given back; null unless it is suspended."""
    updated_at = models.DateTimeField(auto_now=True, db_index=True)
    created_by = models.CharField(max_length=300)

    step = models.PositiveIntegerField(default=0)
    """Number of steps learned so far, on the line that counts."""
    total_steps = models.PositiveIntegerField()
    tokens_total = models.PositiveBigIntegerField(default=0)
    progress = models.JSONField(null=True)
    """Current progress of the worker: ``{phase, done, total, step, at}``."""
    summary = models.JSONField(default=dict)
    """Latest ``reward`` and ``eval``, smoothed ``seconds_per_step``."""
    findings = models.JSONField(null=True)
    """Current objections of its guards: a list of ``findings.FindingDocument``; null: none yet."""
    event_seq = models.PositiveBigIntegerField(default=0)
    """Number of the newest event."""
    noise_asked_at = models.PositiveIntegerField(null=True)
    """Number of the newest attempt at the time of the last request to measure the noise between engine and learner
    again. The noise stored in checkpoints of attempts up to that number no longer counts."""

    parent = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="children")
    parent_checkpoint = models.ForeignKey("Checkpoint", on_delete=models.SET_NULL, null=True, related_name="+")
    origin_step = models.PositiveIntegerField(null=True)
    """Step of the parent's checkpoint; ``origin_path`` holds a copy of it."""
    origin_manifest_sha256 = models.CharField(max_length=64, blank=True)
    continues = models.BooleanField(default=False)
    """True: continues at ``origin_step`` + 1 with optimizer and curriculum (a rewind). False: only uses the weights."""

    class Meta:
        indexes = [
            models.Index(fields=["state", "queued_at"], name="run_queue"),
            models.Index(fields=["team", "updated_at"], name="run_team_updated"),
            models.Index(fields=["team", "created_at", "id"], name="run_page"),
        ]

    @property
    def run_dir(self) -> Path:
        """The run's folder on the storage shared by platform and workers."""
        return Path(settings.RUN_ROOT) / self.id

    @property
    def has_begun(self) -> bool:
        """Whether it has trained weights to continue with: a checkpoint of its own, or its parent's."""
        return self.continues or self.checkpoints.exists()

    @property
    def origin_path(self) -> Path:
        """Path of the copy of the parent's checkpoint."""
        return self.run_dir / "origin"


class Attempt(models.Model):
    """One try of the cluster at a run. It is considered alive until its lease expires, by database time."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()
    cluster = models.CharField(max_length=63, blank=True, default="", db_default="")
    """Name of the cluster on which it was given a slot; empty for attempts from before clusters had names."""
    gpus = models.FloatField(default=0.0, db_default=0.0)
    """GPUs that it holds: the worker's last report, before that what it will reserve; 0 on a cluster without GPUs."""
    gpus_since = models.DateTimeField(null=True)
    """Time since which it holds this number; null: since its first sync."""
    token_sha256 = models.CharField(max_length=64, unique=True)
    resume_step = models.PositiveIntegerField(default=0)
    """The step from which it continues: later steps of earlier attempts are superseded."""
    checkpoint = models.ForeignKey("Checkpoint", on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField()
    rung_at = models.DateTimeField(null=True)
    """Time at which the cluster was last asked to start it, or whether it lives."""
    first_sync_at = models.DateTimeField(null=True)
    last_sync_at = models.DateTimeField(null=True)
    lease_expires_at = models.DateTimeField(null=True)
    keys_given_at = models.DateTimeField(null=True)
    """Time at which its worker fetched the keys of judges."""
    releasing_at = models.DateTimeField(null=True)
    """Time at which its worker first confirmed that it will give its slot back as requested."""
    acked_seq = models.PositiveBigIntegerField(default=0)
    last_step = models.PositiveIntegerField(default=0)
    fenced = models.BooleanField(default=False)
    """The platform has given it up: all its requests are answered with 409."""
    ended_at = models.DateTimeField(null=True)
    end_reason = models.CharField(max_length=500, blank=True)
    """Reason why it ended, or is known to be lost."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="one_attempt_per_number")]
        ordering = ["number"]


class GpuSpan(models.Model):
    """A past period in which an attempt held a number of GPUs. The attempt itself stores its current number."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="gpu_spans")
    gpus = models.FloatField()
    since = models.DateTimeField()
    until = models.DateTimeField()
    id = models.BigAutoField(primary_key=True)


class Checkpoint(PrefixedModel):
    """A folder that a worker has written completely. It counts once the manifest's hash is recorded."""

    id_prefix: ClassVar[str] = "ckpt"
    team_path: ClassVar[str] = "run__team"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="checkpoints")
    attempt = models.PositiveIntegerField()
    step = models.PositiveIntegerField()
    path = models.CharField(max_length=500)
    """Path of the folder, relative to the run's folder."""
    bytes = models.PositiveBigIntegerField()
    manifest_sha256 = models.CharField(max_length=64)
    reason = models.CharField(max_length=20, choices=[(reason, reason) for reason in CHECKPOINT_REASONS])
    policy_version = models.PositiveIntegerField()
    damage = models.CharField(max_length=500, blank=True, default="", db_default="")
    """What is wrong with its files: a clause that names one of them. Empty: nothing wrong is known."""

    objects = TeamQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "path"], name="one_checkpoint_per_path")]
        indexes = [models.Index(fields=["run", "step", "attempt", "id"], name="checkpoint_page")]

    @property
    def folder(self) -> Path:
        """The folder on shared storage."""
        return self.run.run_dir / self.path

    @property
    def base(self) -> str:
        """Slug of the base policy that its weights were trained from."""
        return str(self.run.spec["policy"]["base"])

    @property
    def available(self) -> bool:
        """Whether the folder still exists: workers delete old scheduled checkpoints."""
        return (self.folder / "manifest.json").is_file()


class ExportState(models.TextChoices):
    """State of an export."""

    QUEUED = "queued", "Waits for its turn, or for the network"
    RUNNING = "running", "Sends the files"
    DONE = "done", "All files are in the bucket"
    FAILED = "failed", "Ended with a sentence that says what to do; a retry continues it"
    CANCELLED = "cancelled", "Ended by a person; whole files stay in the bucket"


class CheckpointExport(Transfer):
    """The export of a checkpoint's Hugging Face folder to an object store."""

    id_prefix: ClassVar[str] = "exp"
    noun: ClassVar[str] = "export"
    task: ClassVar[str] = "runs.export"
    work: ClassVar[str] = "dressage.runs.export.exporting.export"
    slots: ClassVar[tuple[Slots, ...]] = (Slots(2),)
    claimed_with: ClassVar[tuple[str, ...]] = ("team", "checkpoint__run")

    checkpoint = models.ForeignKey(Checkpoint, on_delete=models.CASCADE, related_name="exports")
    address = models.CharField(max_length=1000)
    """``s3://bucket/folder``."""
    state = models.CharField(max_length=12, choices=ExportState.choices, default=ExportState.QUEUED)
    uploads = models.JSONField(default=dict)
    """``{file: id}`` of the multipart uploads of which the store holds parts."""

    class Meta:
        indexes = [
            models.Index(fields=["team", "created_at", "id"], name="export_page"),
            models.Index(fields=["state", "created_at"], name="export_queue"),
        ]


class Control(PrefixedModel):
    """A change of one steerable field. Rows are never deleted."""

    id_prefix: ClassVar[str] = "ctl"
    team_path: ClassVar[str] = "run__team"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="controls")
    revision = models.PositiveIntegerField()
    change_set = models.CharField(max_length=40, null=True)
    """Identifies controls that were staged together and take effect together; null for one that was staged alone."""
    target = models.CharField(max_length=200)
    boundary = models.CharField(max_length=20)
    before = models.JSONField(null=True)
    value = models.JSONField(null=True)
    state = models.CharField(max_length=16, choices=ControlState.choices, default=ControlState.STAGED)
    apply_at = models.PositiveIntegerField(null=True)
    """Step; null means as soon as possible."""
    ramp_steps = models.PositiveIntegerField(null=True)
    """Steps over which the value moves from ``before`` to ``value``; null: it takes effect in one step."""
    reason = models.CharField(max_length=2000, blank=True)
    actor_kind = models.CharField(max_length=16)
    actor_id = models.CharField(max_length=120)
    actor_name = models.CharField(max_length=300)
    reverts = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="+")
    checkpoint = models.ForeignKey(Checkpoint, on_delete=models.SET_NULL, null=True, related_name="+")
    """Written just before it took effect."""
    applied_step = models.PositiveIntegerField(null=True)
    applied_group = models.CharField(max_length=80, null=True)
    applied_policy_version = models.PositiveIntegerField(null=True)
    settled_step = models.PositiveIntegerField(null=True)
    error = models.CharField(max_length=2000, null=True)

    objects = TeamQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "revision"], name="one_control_per_revision")]
        indexes = [models.Index(fields=["run", "state"], name="control_run_state")]

    @staticmethod
    def new_change_set() -> str:
        """A name for controls that belong together."""
        return new_id("chg")

    @property
    def actor(self) -> Actor:
        return Actor(self.actor_kind, self.actor_id, self.actor_name)  # type: ignore[arg-type]


class CheckpointRequest(PrefixedModel):
    """A user's request for a checkpoint now; open until one has been written for it."""

    id_prefix: ClassVar[str] = "ckr"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="checkpoint_requests")
    actor = models.CharField(max_length=300)
    checkpoint = models.ForeignKey(Checkpoint, on_delete=models.SET_NULL, null=True, related_name="+")
    closed_at = models.DateTimeField(null=True)


class Sweep(models.Model):
    """A single row: the time of the reconciler's last run, so that it can tell its own absence from a worker's."""

    at = models.DateTimeField()


class TeamPlaces(models.Model):
    """Share of a team in the slots of the cluster. A team without a row has the default limit and was never served."""

    team = models.OneToOneField("teams.Team", on_delete=models.CASCADE, primary_key=True, related_name="+")
    places = models.PositiveIntegerField(null=True)
    """Slots that its runs may hold at the same time; null: the installation's default."""
    served_at = models.DateTimeField(null=True)
    """Time at which one of its runs was last given a slot."""


class TeamGpuHours(models.Model):
    """GPU hour quota of a team. A team without a row has the default limit and was never warned."""

    team = models.OneToOneField("teams.Team", on_delete=models.CASCADE, primary_key=True, related_name="+")
    limit = models.FloatField(null=True)
    """GPU hours per month; null: the installation's default."""
    warned_month = models.DateField(null=True)
    """First day of the month in which the team was last warned."""
    warned_percent = models.PositiveSmallIntegerField(default=0)
    """Percentage of the limit in the newest warning of that month."""
