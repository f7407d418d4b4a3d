"""Users, teams, memberships, invitations, API tokens and the audit log."""

import json
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone

from dressage.common.actors import Actor
from dressage.common.models import PrefixedModel, TeamModel
from dressage.common.roles import Role
from dressage.teams.oidc.models import ExternalIdentity
from dressage.teams.two_factor.models import Authenticator, Passkey, RecoveryCode

__all__ = [
    "AccountEvent",
    "ApiToken",
    "AuditEntry",
    "Authenticator",
    "ExternalIdentity",
    "Membership",
    "Passkey",
    "RecoveryCode",
    "Team",
    "User",
    "UserManager",
    "UserSession",
]


class UserManager(BaseUserManager["User"]):
    """Creates users; e-mail addresses are stored in lower case."""

    def create_user(self, email: str, password: str, **fields: Any) -> "User":
        user = self.model(email=email.strip().lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email=(username or "").strip().lower())


class User(AbstractBaseUser, PrefixedModel):
    """A person, who signs in with an e-mail address."""

    id_prefix: ClassVar[str] = "usr"
    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    email = models.EmailField(max_length=254, unique=True)
    name = models.CharField(max_length=120, blank=True)
    is_active = models.BooleanField(default=True)
    password_is_temporary = models.BooleanField(default=False)
    """Someone else has seen the password: it only allows choosing a new one."""
    address_proven = models.BooleanField(default=False)
    """Its owner has read mail at the address, or the installation's operator vouches for it.

    The owner of any other account is unknown: such an account never joins another team as it is (ADR 0009).
    """

    objects = UserManager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(email=Lower("email")), name="user_email_is_lower_case")
        ]

    def __str__(self) -> str:
        return self.email


class Team(PrefixedModel):
    """The owner of everything else. Its row also holds the end of its audit chain."""

    id_prefix: ClassVar[str] = "team"

    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=63, unique=True)
    audit_length = models.PositiveBigIntegerField(default=0)
    audit_head = models.CharField(max_length=64, default="")

    def __str__(self) -> str:
        return self.slug


class Membership(TeamModel):
    """A person's role in a team."""

    id_prefix: ClassVar[str] = "mem"

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=16, choices=Role.choices)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "user"], name="one_membership_per_team")]
        indexes = [models.Index(fields=["team", "created_at", "id"], name="membership_page")]


class Invitation(TeamModel):
    """An offer of a role in a team to the owner of an address. Only the SHA-256 of its token is stored."""

    id_prefix: ClassVar[str] = "inv"

    email = models.EmailField(max_length=254)
    role = models.CharField(max_length=16, choices=Role.choices)
    sha256 = models.CharField(max_length=64, unique=True)
    mailed = models.BooleanField()
    """The token was sent to the address. Otherwise the inviter saw it, and it proves nothing about the address."""
    letter_fault = models.CharField(max_length=200, blank=True, default="", db_default="")
    """Why the e-mail could not be sent; empty if it was sent, or is on its way."""
    created_by = models.CharField(max_length=300)
    created_by_id = models.CharField(max_length=120)
    """Id of the user who invites. In earlier releases it may be that of a token, and then the invitation is invalid."""
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(email=Lower("email")), name="invited_email_is_lower_case"),
            models.UniqueConstraint(
                fields=["team", "email"],
                condition=models.Q(accepted_at=None, withdrawn_at=None),
                name="one_open_invitation_per_address",
            ),
        ]
        indexes = [
            models.Index(
                fields=["team", "created_at", "id"],
                condition=models.Q(accepted_at=None, withdrawn_at=None),
                name="invitation_page",
            )
        ]


class ServiceAccount(TeamModel):
    """An account of a team for programs: its tokens outlive the people who made them."""

    id_prefix: ClassVar[str] = "sva"

    name = models.CharField(max_length=120)
    role = models.CharField(max_length=16, choices=Role.choices)
    created_by = models.CharField(max_length=300)
    disabled_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="one_service_account_per_name")]
        indexes = [models.Index(fields=["team", "created_at", "id"], name="service_account_page")]

    def __str__(self) -> str:
        return self.name


class ApiToken(TeamModel):
    """A secret that acts for a team, within its own role and that of its owner. Only its SHA-256 is stored.

    Its owner is a person or a service account; tokens from earlier releases may have neither.
    """

    id_prefix: ClassVar[str] = "tok"

    name = models.CharField(max_length=120)
    prefix = models.CharField(max_length=16)
    """The first characters of the secret, to recognise it by."""
    sha256 = models.CharField(max_length=64, unique=True)
    role = models.CharField(max_length=16, choices=Role.choices)
    scopes = models.JSONField(null=True)
    """List of scopes; null for all."""
    user = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="+")
    service_account = models.ForeignKey(ServiceAccount, null=True, on_delete=models.CASCADE, related_name="tokens")
    created_by = models.CharField(max_length=300)
    expires_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    last_used_address = models.GenericIPAddressField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(user=None) | models.Q(service_account=None), name="token_has_one_owner_at_most"
            )
        ]
        indexes = [
            models.Index(fields=["team", "created_at", "id"], condition=models.Q(revoked_at=None), name="token_page")
        ]


class UserSession(PrefixedModel):
    """What a person sees of one of their sessions. The row is deleted with the session's."""

    id_prefix: ClassVar[str] = "ses"

    session = models.OneToOneField("sessions.Session", on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    device = models.CharField(max_length=120, blank=True)
    """Browser and system as text."""
    address = models.CharField(max_length=45, blank=True)
    last_seen_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [models.Index(fields=["user", "created_at", "id"], name="session_page")]


class AccountEvent(PrefixedModel):
    """An event of an account, for its owner. Wrong passwords within an hour share one row."""

    id_prefix: ClassVar[str] = "acc"

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    action = models.CharField(max_length=40)
    device = models.CharField(max_length=120, blank=True)
    address = models.CharField(max_length=45, blank=True)
    network = models.CharField(max_length=50, blank=True)
    """The network of the address, as ``dressage.common.api.client_address`` counts it."""
    count = models.PositiveIntegerField(default=1)
    last_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [models.Index(fields=["user", "-created_at", "-id"], name="account_events_of_a_user")]


class AuditEntry(TeamModel):
    """One action. Rows never change (a database trigger enforces it), and each has the hash of the previous one."""

    id_prefix: ClassVar[str] = "aud"

    number = models.PositiveBigIntegerField()
    actor_kind = models.CharField(max_length=16)
    actor_id = models.CharField(max_length=120)
    actor_name = models.CharField(max_length=300)
    action = models.CharField(max_length=80)
    target_type = models.CharField(max_length=40)
    target_id = models.CharField(max_length=120)
    # Text, not jsonb: PostgreSQL would respell numbers (1e20, -0.0), and the hash covers the exact characters.
    before_json = models.TextField(default="null")
    after_json = models.TextField(default="null")
    reason = models.CharField(max_length=2000, blank=True)
    previous_hash = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "number"], name="one_audit_entry_per_number")]

    @property
    def actor(self) -> Actor:
        return Actor(self.actor_kind, self.actor_id, self.actor_name)  # type: ignore[arg-type]

    @property
    def before(self) -> Any:
        return json.loads(self.before_json)

    @property
    def after(self) -> Any:
        return json.loads(self.after_json)
