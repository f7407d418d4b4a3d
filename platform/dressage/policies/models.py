"""Base policies: Hugging Face folders that runs start from."""

from typing import ClassVar

from django.db import models

from dressage.common.models import TeamModel
from dressage.imports.models import Import


class Policy(TeamModel):
    """A registered folder, with facts read from it. The platform never writes to the folder."""

    id_prefix: ClassVar[str] = "pol"

    slug = models.CharField(max_length=63)
    name = models.CharField(max_length=120)
    path = models.CharField(max_length=1000)
    """Folder with links resolved. Only admins can see it."""
    run = models.CharField(max_length=40, null=True)
    """The team's run whose folder contains it. Policies could be registered like this until November 2026."""
    checkpoint = models.CharField(max_length=40, null=True)
    """The team's checkpoint that its weights were copied from."""
    architecture = models.CharField(max_length=120)
    parameters = models.PositiveBigIntegerField()
    vocab_size = models.PositiveIntegerField()
    max_position_embeddings = models.PositiveIntegerField()
    bytes = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    created_by = models.CharField(max_length=300)
    origin = models.JSONField(null=True)
    """The place that its files were imported from (``documents.PolicyOriginDocument``); None for a folder or
    checkpoint."""
    facts = models.JSONField(null=True)
    """Facts read from its files, see ``facts.ContentsDocument``. None for older policies until somebody views them."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "slug"], name="one_policy_per_slug")]
        indexes = [models.Index(fields=["team", "created_at", "id"], name="policy_page")]


class SourceKind(models.TextChoices):
    """Kind of remote place that policies are imported from."""

    HUB = "hub", "The Hugging Face hub, or the mirror that the operator names"
    BUCKET = "bucket", "A bucket of an S3-compatible object store"


class ImportState(models.TextChoices):
    """State of an import."""

    QUEUED = "queued", "Waits for its turn, or for the network"
    DOWNLOADING = "downloading", "Fetches files"
    VERIFYING = "verifying", "Compares the files with their checksums"
    READY = "ready", "The policy is registered"
    FAILED = "failed", "Ended with a sentence that says what to do"
    CANCELLED = "cancelled", "Ended by a person"


ACTIVE = (ImportState.DOWNLOADING, ImportState.VERIFYING)
OPEN = (ImportState.QUEUED, *ACTIVE)


class PolicyImport(Import):
    """A policy that is being imported. Its files are in the team's own folder, unfinished until it is ready."""

    id_prefix: ClassVar[str] = "imp"
    task: ClassVar[str] = "policies.import"
    work: ClassVar[str] = "dressage.policies.imports.carry_out.carry_out"
    active_states: ClassVar[tuple[str, ...]] = ACTIVE

    source = models.CharField(max_length=10, choices=SourceKind.choices)
    state = models.CharField(max_length=12, choices=ImportState.choices, default=ImportState.QUEUED)
    policy_id = models.CharField(max_length=40)
    """Id of the future policy, and the name of its folder."""

    class Meta:
        indexes = [
            models.Index(fields=["team", "created_at", "id"], name="policy_import_page"),
            models.Index(fields=["state", "created_at"], name="policy_import_queue"),
        ]

    @property
    def policy(self) -> str | None:
        """Id of the policy; None until it is ready."""
        return self.policy_id if self.state == ImportState.READY else None


class SourceAccess(TeamModel):
    """A team's credentials for one kind of place. They are never shown."""

    id_prefix: ClassVar[str] = "src"

    kind = models.CharField(max_length=10, choices=SourceKind.choices)
    credentials_sealed = models.TextField()
    """JSON, encrypted; see ``dressage.common.sealing``."""
    set_by = models.CharField(max_length=300)
    set_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "kind"], name="one_access_per_kind_of_source")]
