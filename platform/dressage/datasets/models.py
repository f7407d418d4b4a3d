"""Datasets, their cards, and their immutable versions."""

from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

from django.conf import settings
from django.db import models
from django.utils import timezone

from dressage.common.models import PrefixedModel, TeamModel, TeamQuerySet
from dressage.datasets.limits import MAX_REPORTED_ERRORS
from dressage.imports.models import Import


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
    shared_by: str | None = None
    """Name of the team that it belongs to, where ``sharing.guests`` has prepared it for the eyes of another."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "slug"], name="one_dataset_per_slug")]
        indexes = [models.Index(fields=["team", "created_at", "id"], name="dataset_page")]

    @property
    def latest_version(self) -> "DatasetVersion":
        """The newest version that was not deleted; of a dataset that is deleted just now, the newest."""
        return max(self.versions.all(), key=lambda version: (not version.is_deleted, version.number))


class DatasetCard(models.Model):
    """What people should know of a dataset, in their own words. ``dressage.datasets.cards`` reads and writes them.

    Datasets of before cards have none until somebody writes one.
    """

    dataset = models.OneToOneField(Dataset, on_delete=models.CASCADE, primary_key=True, related_name="written_card")
    source = models.CharField(max_length=2000, blank=True)
    """Where the rows are from: an address, a paper, a person."""
    licence = models.CharField(max_length=120, blank=True)
    """SPDX identifier, else free text."""
    purpose = models.CharField(max_length=2000, blank=True)
    caveats = models.TextField(blank=True)
    owner = models.ForeignKey("teams.Membership", on_delete=models.SET_NULL, null=True, related_name="+")
    owner_name = models.CharField(max_length=300, blank=True)
    """Address of the owner, or of the last one, who has left the team."""
    keep_days = models.PositiveIntegerField(null=True)
    """Days after which a version goes that a newer one has replaced (``retention``); null keeps all."""
    revision = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField(default=timezone.now)
    updated_by = models.CharField(max_length=300)


class DatasetShare(TeamModel):
    """Leave of another team to read a dataset; an offer until that team has accepted it.

    ``team`` is the owner of the dataset. Of an offer's token only the SHA-256 is stored.
    """

    id_prefix: ClassVar[str] = "dss"

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="shares")
    sha256 = models.CharField(max_length=64, unique=True)
    note = models.CharField(max_length=200, blank=True)
    """Whom it is meant for, in the words of who offers it. The other team does not see it."""
    created_by = models.CharField(max_length=300)
    created_by_id = models.CharField(max_length=120)
    expires_at = models.DateTimeField()
    """Time until which the offer can be accepted. What was accepted does not expire."""
    guest = models.ForeignKey("teams.Team", null=True, on_delete=models.CASCADE, related_name="+")
    """The team that reads; null until it has accepted."""
    slug = models.CharField(max_length=63, blank=True)
    """Name of the dataset in the specs of the guest. It stays taken there, whatever becomes of the share."""
    accepted_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    revoked_by = models.CharField(max_length=300, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["guest", "slug"],
                condition=models.Q(revoked_at=None, guest__isnull=False),
                name="one_shared_dataset_per_slug",
            ),
            models.UniqueConstraint(
                fields=["guest", "dataset"],
                condition=models.Q(revoked_at=None, guest__isnull=False),
                name="one_share_per_guest",
            ),
        ]
        indexes = [
            models.Index(fields=["dataset", "created_at", "id"], name="dataset_share_page"),
            models.Index(fields=["guest", "created_at", "id"], name="shared_dataset_page"),
        ]


class TeamDatasetQuota(models.Model):
    """How much a team may keep in datasets. A team without a row has the usual limits."""

    team = models.OneToOneField("teams.Team", on_delete=models.CASCADE, primary_key=True, related_name="+")
    bytes = models.PositiveBigIntegerField(null=True)
    """Null is the installation's usual number, as is that of rows."""
    rows = models.PositiveBigIntegerField(null=True)


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

    seen_by_guest: bool = False
    """Whether ``sharing.guests`` has prepared it for the eyes of another team."""

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


class RowNotes(PrefixedModel):
    """Facts about the rows of a version that an operation found; see ``dressage.datasets.versions.notes``."""

    id_prefix: ClassVar[str] = "note"
    team_path: ClassVar[str] = "version__dataset__team"

    version = models.ForeignKey(DatasetVersion, on_delete=models.CASCADE, related_name="notes")
    name = models.CharField(max_length=40)
    columns = models.JSONField()
    """``[{name, type}]``."""
    carried = models.BooleanField()
    """Whether they hold for a row in other versions, too."""
    source = models.JSONField()
    """``notes.NoteSource``: what found them."""
    file = models.CharField(max_length=200)
    """Path under DATASET_ROOT."""
    created_by = models.CharField(max_length=300)

    objects = TeamQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "name"], name="one_notes_per_name")]
        indexes = [models.Index(fields=["version", "created_at", "id"], name="row_notes_page")]

    @property
    def path(self) -> Path:
        """The Parquet file."""
        return settings.DATASET_ROOT / self.file


class DatasetUpload(TeamModel):
    """A file that comes in parts, until it is a version, is cancelled, or expires."""

    id_prefix: ClassVar[str] = "dsu"

    name = models.CharField(max_length=200)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64, blank=True)
    """Hash that the whole file must have; empty where the client does not know it."""
    offset = models.PositiveBigIntegerField(default=0)
    """Bytes that have come and are on disk."""
    expires_at = models.DateTimeField(db_index=True)
    created_by = models.CharField(max_length=300)

    class Meta:
        indexes = [models.Index(fields=["team", "created_at", "id"], name="dataset_upload_page")]

    @property
    def is_complete(self) -> bool:
        """Whether all of it has come."""
        return self.offset == self.size


class SavedMapping(TeamModel):
    """A mapping that a team keeps under a name, for files with the same columns."""

    id_prefix: ClassVar[str] = "dsmap"

    name = models.CharField(max_length=120)
    mapping = models.JSONField()
    """``trainer_core.datasets.mapping.DatasetMapping``."""
    columns = models.JSONField()
    """Sorted names of the columns of the file that it was made for."""
    created_by = models.CharField(max_length=300)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="one_mapping_per_name")]
        indexes = [models.Index(fields=["team", "created_at", "id"], name="dataset_mapping_page")]


class DatasetSourceKind(models.TextChoices):
    """Kind of place from which datasets are imported."""

    HUB = "hub", "The Hugging Face hub, or the mirror that the operator names"
    URL = "url", "An address that the operator allows"
    FOLDER = "folder", "A folder of the platform's machine that the operator allows"


class DatasetImportState(models.TextChoices):
    """State of an import."""

    QUEUED = "queued", "Waits for its turn, or for the network"
    DOWNLOADING = "downloading", "Fetches files"
    VERIFYING = "verifying", "Compares the files with their checksums"
    READING = "reading", "Reads and checks the rows"
    WAITING = "waiting", "Its files are here; a person says how they are read"
    READY = "ready", "The version is stored"
    FAILED = "failed", "Ended with a sentence that says what to do"
    CANCELLED = "cancelled", "Ended by a person"


class DatasetImport(Import):
    """Files on their way from elsewhere, which become one version."""

    id_prefix: ClassVar[str] = "dsi"
    task: ClassVar[str] = "datasets.import"
    work: ClassVar[str] = "dressage.datasets.imports.carry_out.carry_out"
    active_states: ClassVar[tuple[str, ...]] = (
        DatasetImportState.DOWNLOADING,
        DatasetImportState.VERIFYING,
        DatasetImportState.READING,
    )

    source = models.CharField(max_length=10, choices=DatasetSourceKind.choices)
    state = models.CharField(max_length=12, choices=DatasetImportState.choices, default=DatasetImportState.QUEUED)
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, null=True, related_name="+")
    """The dataset of which it is to be the next version; null for a new one."""
    description = models.CharField(max_length=2000, blank=True)
    config = models.CharField(max_length=200, blank=True)
    split = models.CharField(max_length=200, blank=True)
    paths = models.JSONField(default=list)
    """Names of the files that were asked for, in their order; empty for those of ``config`` and ``split``."""
    files = models.JSONField(default=list)
    """``[{path, bytes, tag, sha256}]``: what was listed. ``sha256`` is empty until a file is here and compared."""
    licence = models.CharField(max_length=200, blank=True)
    mapping = models.JSONField(null=True)
    """``trainer_core.datasets.mapping.DatasetMapping``; null looks for a known shape."""
    review = models.BooleanField(default=False)
    """Whether a person is to look at the rows before they are stored, even where their shape is known."""
    report = models.JSONField(default=list)
    """``[{place, detail}]``: faults of rows for which it was refused."""
    version = models.ForeignKey(DatasetVersion, on_delete=models.SET_NULL, null=True, related_name="+")
    """What it has become."""

    class Meta:
        indexes = [
            models.Index(fields=["team", "created_at", "id"], name="dataset_import_page"),
            models.Index(fields=["state", "created_at"], name="dataset_import_queue"),
        ]

    @property
    def shown_location(self) -> str:
        """The place as people are told it: of an address, without its query, which may be a signature."""
        if self.source != DatasetSourceKind.URL:
            return self.location
        return urlsplit(self.location)._replace(query="", fragment="").geturl()

    @property
    def has_files(self) -> bool:
        """Whether it needs a person and has all its files, as far as its row tells."""
        needs = self.state in (DatasetImportState.WAITING, DatasetImportState.FAILED)
        return needs and bool(self.files) and all(file["sha256"] for file in self.files)

    @property
    def faults_of_rows(self) -> int:
        """Number of faults for which it was refused."""
        return len(self.report)

    @property
    def first_faults(self) -> list[dict[str, str]]:
        """The first of them."""
        return self.report[:MAX_REPORTED_ERRORS]
