"""Lab jobs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from dressage.common.models import TeamModel
from dressage.datasets.models import DatasetVersion
from dressage.jobs.models import LocalJob, Slots
from dressage.lab.asking.outcomes import PATTERN


class LabKind(models.TextChoices):
    """Kind of operation."""

    DUPLICATES = "duplicates", "Rows that say the same"
    CONTAMINATION = "contamination", "Rows that evaluation sets have"
    STATISTICS = "statistics", "Lengths, languages and kinds of answers"
    QUALITY = "quality", "A judge's verdicts by a rubric"
    PARAPHRASES = "paraphrases", "Rows that say the same in other words"
    MEMORISATION = "memorisation", "Rows that a model knows by heart"
    SYNTHESIS = "synthesis", "Verified variations of rows"


ASKING = (LabKind.QUALITY, LabKind.SYNTHESIS, LabKind.PARAPHRASES, LabKind.MEMORISATION)
"""Kinds that use a model, which takes long but needs little processor time."""


class LabState(models.TextChoices):
    """State of a job."""

    QUEUED = "queued", "Waits for its turn"
    RUNNING = "running", "Reads the rows"
    WAITING = "waiting", "Its result is there and cannot be stored yet; a person resumes it"
    DONE = "done", "Its notes and its report are there"
    FAILED = "failed", "Ended with a sentence that says what to do"
    CANCELLED = "cancelled", "Ended by a person; nothing was noted"


OPEN = (LabState.QUEUED, LabState.RUNNING, LabState.WAITING)
"""States of unfinished jobs. They need their version, and there is at most one of a kind per version."""


KEPT_FILES = ("*.npz", PATTERN)
"""Files that a worker leaves for its successor."""
MAX_LOST = 3
"""Number of workers lost in a row, without new stored work, after which a job fails."""
_LOST = (
    f"{MAX_LOST} workers of the platform were lost in this job, most likely out of memory. Use fewer rows, or have the"
    " operator give the platform's worker more memory."
)


class LabJob(LocalJob):
    """An operation on the rows of a version. Findings become row notes; the version itself never changes."""

    id_prefix: ClassVar[str] = "lab"
    task: ClassVar[str] = "lab.job"
    work: ClassVar[str] = "dressage.lab.carry_out.carry_out"
    # A job that reads rows keeps a core busy. A job that uses a model keeps a thread of a worker waiting.
    slots: ClassVar[tuple[Slots, ...]] = (Slots(1, ~Q(kind__in=ASKING)), Slots(2, Q(kind__in=ASKING)))
    claimed_with: ClassVar[tuple[str, ...]] = ("team", "version__dataset")
    reset_at_end: ClassVar[Mapping[str, Any]] = {"stage": ""}

    version = models.ForeignKey(DatasetVersion, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=16, choices=LabKind.choices)
    operation = models.JSONField()
    """``arguments.LabOperation`` with defaults filled in."""
    state = models.CharField(max_length=10, choices=LabState.choices, default=LabState.QUEUED)
    stage = models.CharField(max_length=60, blank=True)
    """Current activity."""
    steps_done = models.PositiveBigIntegerField(default=0)
    """Rows or steps done in this stage."""
    steps_total = models.PositiveBigIntegerField(default=0)
    rows = models.PositiveBigIntegerField()
    """Number of rows to read, including those of other versions."""
    report = models.JSONField(null=True)
    """``reports.LabReport``, once it is done."""
    drawn = models.JSONField(null=True)
    """``[[number, id, score]]`` of rows that people may mark, in drawing order."""
    notes = models.JSONField(default=list)
    """Names of row notes that it wrote and that were not undone."""
    made = models.ForeignKey(DatasetVersion, on_delete=models.SET_NULL, null=True, related_name="+")
    """The version that it created, if any."""
    lost_workers = models.PositiveSmallIntegerField(default=0, db_default=0)
    """Number of workers lost in a row without new stored work."""
    kept_files = models.PositiveIntegerField(default=0, db_default=0)
    """Number of files in its folder when the last worker was lost."""
    seconds = models.FloatField(null=True)
    """Duration on its last worker; null until it is done."""

    @property
    def work_folder(self) -> Path:
        """Folder for its intermediate results, until it is over."""
        return settings.DATASET_ROOT / "lab" / self.id

    def too_many_lost(self) -> str | None:
        """Count a lost worker. Returns a reason to fail after too many, so that the job harms no more workers."""
        folder = self.work_folder
        kept = sum(1 for pattern in KEPT_FILES for _ in folder.glob(pattern)) if folder.is_dir() else 0
        self.lost_workers = 1 if kept > self.kept_files else self.lost_workers + 1
        self.kept_files = kept
        self.save(update_fields=["lost_workers", "kept_files"])
        return _LOST if self.lost_workers >= MAX_LOST else None

    @property
    def made_version(self) -> DatasetVersion | None:
        """The version that it created, unless that was deleted."""
        return None if self.made is None or self.made.is_deleted else self.made

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["version", "kind"], condition=Q(state__in=["queued", "running"]), name="one_open_lab_job"
            )
        ]
        indexes = [
            models.Index(fields=["version", "created_at", "id"], name="lab_job_page"),
            models.Index(fields=["state", "created_at"], name="lab_job_queue"),
        ]


class QualityMark(TeamModel):
    """A person's opinion of a row that a judge scored, given without seeing the judge's score."""

    id_prefix: ClassVar[str] = "mark"

    job = models.ForeignKey(LabJob, on_delete=models.CASCADE, related_name="marks")
    row = models.PositiveBigIntegerField()
    """Its number, from 0."""
    good = models.BooleanField()
    reviewer = models.CharField(max_length=120)
    """Id of the person."""
    created_by = models.CharField(max_length=300)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "reviewer", "row"], name="one_quality_mark_per_reviewer")]
