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
    """Time at which all its versions were deleted. The slug stays reserved, so that old specs never refer to other
    rows."""
    deleted_by = models.CharField(max_length=300, default="", db_default="", blank=True)
    shared_by: str | None = None
    """Name of the owning team, if ``sharing.guests`` has prepared the object for another team."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "slug"], name="one_dataset_per_slug")]
        indexes = [models.Index(fields=["team", "created_at", "id"], name="dataset_page")]

    @property
    def latest_version(self) -> "DatasetVersion":
        """The newest version that was not deleted; for a dataset that has just been deleted, the newest of all."""
        return max(self.versions.all(), key=lambda version: (not version.is_deleted, version.number))


class DatasetCard(models.Model):
    """What people should know about a dataset, in the team's own words. Managed by ``dressage.datasets.cards``.

    Datasets older than cards have none until somebody writes one.
    """

    dataset = models.OneToOneField(Dataset, on_delete=models.CASCADE, primary_key=True, related_name="written_card")
    source = models.CharField(max_length=2000, blank=True)
    """Origin of the rows: a URL, a paper, a person."""
    licence = models.CharField(max_length=120, blank=True)
    """SPDX identifier, or free text."""
    purpose = models.CharField(max_length=2000, blank=True)
    caveats = models.TextField(blank=True)
    owner = models.ForeignKey("teams.Membership", on_delete=models.SET_NULL, null=True, related_name="+")
    owner_name = models.CharField(max_length=300, blank=True)
    """Address of the owner, or of the last owner who has left the team."""
    keep_days = models.PositiveIntegerField(null=True)
    """Days after which a replaced version is deleted (see ``retention``); null keeps all versions."""
    revision = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField(default=timezone.now)
    updated_by = models.CharField(max_length=300)


class DatasetShare(TeamModel):
    """Permission for another team to read a dataset. An offer until that team accepts it.

    ``team`` is the owner of the dataset. Only the SHA-256 of an offer's token is stored.
    """

    id_prefix: ClassVar[str] = "dss"

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="shares")
    sha256 = models.CharField(max_length=64, unique=True)
    note = models.CharField(max_length=200, blank=True)
    """Intended recipient, as described by the offering team. The other team does not see it."""
    created_by = models.CharField(max_length=300)
    created_by_id = models.CharField(max_length=120)
    expires_at = models.DateTimeField()
    """Time until which the offer can be accepted. Accepted shares do not expire."""
    guest = models.ForeignKey("teams.Team", null=True, on_delete=models.CASCADE, related_name="+")
    """The team that reads; null until a team has accepted."""
    slug = models.CharField(max_length=63, blank=True)
    """Name of the dataset in the guest's specs. It stays reserved there even after the share ends."""
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
    """How much a team may store in datasets. Teams without a row have the default limits."""

    team = models.OneToOneField("teams.Team", on_delete=models.CASCADE, primary_key=True, related_name="+")
    bytes = models.PositiveBigIntegerField(null=True)
    """Null means the installation's default; the same holds for ``rows``."""
    rows = models.PositiveBigIntegerField(null=True)


class DatasetVersion(PrefixedModel):
    """Rows of one upload or operation, never changed. Created only after its file is complete on disk."""

    id_prefix: ClassVar[str] = "dsv"
    team_path: ClassVar[str] = "dataset__team"

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    rows = models.PositiveBigIntegerField()
    bytes = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    columns = models.JSONField()
    """``[{name, type}]`` of the keys of the rows."""
    origin = models.JSONField(null=True)
    """``origin.Origin``: the file, its shape, warnings. Versions from earlier releases have none."""
    parent = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="children")
    """The version that it was derived from; uploads have none."""
    operation = models.JSONField(null=True)
    """``lineage.VersionOperation``: how it was created. Uploads from earlier releases have none."""
    file = models.CharField(max_length=200)
    """Path under DATASET_ROOT."""
    created_by = models.CharField(max_length=300)
    deleted_at = models.DateTimeField(null=True)
    """Time at which the file was deleted. The database row stays for the lineage of other versions."""
    deleted_by = models.CharField(max_length=300, default="", db_default="", blank=True)

    seen_by_guest: bool = False
    """Whether ``sharing.guests`` has prepared the object for another team."""

    objects = TeamQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["dataset", "number"], name="one_dataset_version_per_number")]
        ordering = ["number"]

    @property
    def is_deleted(self) -> bool:
        """Whether its rows have been deleted."""
        return self.deleted_at is not None

    @property
    def ref(self) -> str:
        """Its reference in specs: ``slug@number``."""
        return f"{self.dataset.slug}@{self.number}"

    @property
    def path(self) -> Path:
        """The Parquet file."""
        return settings.DATASET_ROOT / self.file


class RowNotes(PrefixedModel):
    """Facts that an operation found about the rows of a version; see ``dressage.datasets.versions.notes``."""

    id_prefix: ClassVar[str] = "note"
    team_path: ClassVar[str] = "version__dataset__team"

    version = models.ForeignKey(DatasetVersion, on_delete=models.CASCADE, related_name="notes")
    name = models.CharField(max_length=40)
    columns = models.JSONField()
    """``[{name, type}]``."""
    carried = models.BooleanField()
    """Whether they also hold for the same row in other versions."""
    source = models.JSONField()
    """``notes.NoteSource``: the operation that found them."""
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
    """A file that is uploaded in parts, until it becomes a version, is cancelled, or expires."""

    id_prefix: ClassVar[str] = "dsu"

    name = models.CharField(max_length=200)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64, blank=True)
    """Hash that the complete file must have; empty if the client does not know it."""
    offset = models.PositiveBigIntegerField(default=0)
    """Number of bytes received and on disk."""
    expires_at = models.DateTimeField(db_index=True)
    created_by = models.CharField(max_length=300)

    class Meta:
        indexes = [models.Index(fields=["team", "created_at", "id"], name="dataset_upload_page")]

    @property
    def is_complete(self) -> bool:
        """Whether the whole file has been received."""
        return self.offset == self.size


class SavedMapping(TeamModel):
    """A mapping that a team has saved under a name, for files with the same columns."""

    id_prefix: ClassVar[str] = "dsmap"

    name = models.CharField(max_length=120)
    mapping = models.JSONField()
    """``trainer_core.datasets.mapping.DatasetMapping``."""
    columns = models.JSONField()
    """Sorted column names of the file that it was created for."""
    created_by = models.CharField(max_length=300)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="one_mapping_per_name")]
        indexes = [models.Index(fields=["team", "created_at", "id"], name="dataset_mapping_page")]


class DatasetSourceKind(models.TextChoices):
    """Kind of place that datasets are imported from."""

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
    """Files being imported, which become one version."""

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
    """The dataset that gets the next version; null for a new dataset."""
    description = models.CharField(max_length=2000, blank=True)
    config = models.CharField(max_length=200, blank=True)
    split = models.CharField(max_length=200, blank=True)
    paths = models.JSONField(default=list)
    """Names of the requested files, in order; empty for the files of ``config`` and ``split``."""
    files = models.JSONField(default=list)
    """``[{path, bytes, tag, sha256}]`` of the listed files. ``sha256`` is empty until a file was fetched and
    compared."""
    licence = models.CharField(max_length=200, blank=True)
    mapping = models.JSONField(null=True)
    """``trainer_core.datasets.mapping.DatasetMapping``; null looks for a known shape."""
    review = models.BooleanField(default=False)
    """Whether a person should review the rows before they are stored, even if their shape is known."""
    report = models.JSONField(default=list)
    """``[{place, detail}]``: faults of rows because of which it was refused."""
    version = models.ForeignKey(DatasetVersion, on_delete=models.SET_NULL, null=True, related_name="+")
    """The resulting version."""

    class Meta:
        indexes = [
            models.Index(fields=["team", "created_at", "id"], name="dataset_import_page"),
            models.Index(fields=["state", "created_at"], name="dataset_import_queue"),
        ]

    @property
    def shown_location(self) -> str:
        """The location as shown to users: for a URL without the query, which may contain a signature."""
        if self.source != DatasetSourceKind.URL:
            return self.location
        return urlsplit(self.location)._replace(query="", fragment="").geturl()

    @property
    def has_files(self) -> bool:
        """Whether it waits for a person and has all its files, according to its database row."""
        needs = self.state in (DatasetImportState.WAITING, DatasetImportState.FAILED)
        return needs and bool(self.files) and all(file["sha256"] for file in self.files)

    @property
    def faults_of_rows(self) -> int:
        """Number of faults because of which it was refused."""
        return len(self.report)

    @property
    def first_faults(self) -> list[dict[str, str]]:
        """The first of these faults."""
        return self.report[:MAX_REPORTED_ERRORS]
