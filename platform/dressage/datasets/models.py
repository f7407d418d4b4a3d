"""Datasets and their immutable versions."""

from pathlib import Path
from typing import ClassVar

from django.conf import settings
from django.db import models

from dressage.common.models import PrefixedModel, TeamModel, TeamQuerySet


class Dataset(TeamModel):
    """A named series of versions."""

    id_prefix: ClassVar[str] = "ds"

    slug = models.CharField(max_length=63)
    name = models.CharField(max_length=120)
    description = models.CharField(max_length=2000, blank=True)
    created_by = models.CharField(max_length=300)
    deleted_at = models.DateTimeField(null=True)
    """Time since which all its versions are gone. Its slug stays taken: what old specs name means nothing else."""
    deleted_by = models.CharField(max_length=300, default="", db_default="", blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "slug"], name="one_dataset_per_slug")]
        indexes = [models.Index(fields=["team", "created_at", "id"], name="dataset_page")]

    @property
    def latest_version(self) -> "DatasetVersion":
        """The newest version that was not deleted. Every dataset has one, since both are made together."""
        kept = (version for version in self.versions.all() if version.deleted_at is None)
        return max(kept, key=lambda version: version.number)


class DatasetVersion(PrefixedModel):
    """Rows of one upload or operation, never changed afterwards. It exists only when the file is complete on disk."""

    id_prefix: ClassVar[str] = "dsv"
    team_path: ClassVar[str] = "dataset__team"

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    rows = models.PositiveBigIntegerField()
    bytes = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    columns = models.JSONField()
    """``[{name, type}]`` of the rows' keys."""
    origin = models.JSONField(null=True)
    """``origin.Origin``: the file, its shape, warnings. Versions of before it was kept have none."""
    parent = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="children")
    """The version that it was made of; uploads have none."""
    operation = models.JSONField(null=True)
    """``lineage.VersionOperation``: how it was made. Versions of before it was kept are uploads and have none."""
    file = models.CharField(max_length=200)
    """Path under DATASET_ROOT."""
    created_by = models.CharField(max_length=300)
    deleted_at = models.DateTimeField(null=True)
    """Time since which the file is gone; the row stays for the lineage of others."""
    deleted_by = models.CharField(max_length=300, default="", db_default="", blank=True)

    objects = TeamQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["dataset", "number"], name="one_dataset_version_per_number")]
        ordering = ["number"]

    @property
    def is_deleted(self) -> bool:
        """Whether its rows are gone."""
        return self.deleted_at is not None

    @property
    def ref(self) -> str:
        """Reference by which specs name it: ``slug@number``."""
        return f"{self.dataset.slug}@{self.number}"

    @property
    def path(self) -> Path:
        """The Parquet file."""
        return settings.DATASET_ROOT / self.file
