"""Bodies of the teams' endpoints."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from dressage.common.actors import Actor
from dressage.common.openapi.documents import DocumentSerializer
from dressage.common.openapi.serializers import TextField, TimeField
from dressage.common.roles import Role
from dressage.common.scopes import Scope
from dressage.teams.models import ApiToken
from dressage.teams.standing import TokenState, standing_of


class TeamSerializer(serializers.Serializer):
    id = serializers.CharField()
    name = serializers.CharField()
    slug = serializers.CharField()


class UserSerializer(serializers.Serializer):
    email = serializers.EmailField()
    name = serializers.CharField()
    password_is_temporary = serializers.BooleanField(
        help_text="Someone else has seen the password: only choosing another is allowed."
    )
    address_proven = serializers.BooleanField(
        help_text="Whether the address is verified. If not, joining another team needs a new password."
    )


class SessionSerializer(serializers.Serializer):
    """The user who is signed in, and their team."""

    authenticated = serializers.BooleanField()
    provider = serializers.CharField(
        allow_null=True, help_text="Name of the OpenID Connect provider for sign-in; null if there is none."
    )
    second_factor_due = serializers.BooleanField(
        help_text="The password was right, and a code of the account's second factor must follow."
    )
    second_factor_missing = serializers.BooleanField(
        help_text="The installation requires a second factor: only setting one up is allowed."
    )
    user = UserSerializer(allow_null=True)
    team = TeamSerializer(allow_null=True)
    role = serializers.ChoiceField(Role.choices, allow_null=True)
    teams = TeamSerializer(many=True)


class LoginSerializer(serializers.Serializer):
    email = serializers.EmailField(max_length=254)
    password = serializers.CharField(max_length=1024, trim_whitespace=False, write_only=True)
    device_pass = serializers.CharField(
        max_length=300,
        required=False,
        allow_blank=True,
        default="",
        write_only=True,
        help_text="Pass of a new device, created in a signed-in browser: it skips the wait while others guess.",
    )


class ChooseTeamSerializer(serializers.Serializer):
    team = serializers.CharField(max_length=40, help_text="Id of one of the session's teams.")


class MemberSerializer(serializers.Serializer):
    id = serializers.CharField()
    email = serializers.EmailField(source="user.email")
    name = serializers.CharField(source="user.name")
    role = serializers.ChoiceField(Role.choices)
    created_at = serializers.DateTimeField()


class ChangeRoleSerializer(serializers.Serializer):
    role = serializers.ChoiceField(Role.choices)


class TokenOwnerSerializer(serializers.Serializer):
    """Owner of a token. Tokens from earlier releases may have none."""

    kind = serializers.ChoiceField(["person", "service_account", "nobody"])
    id = serializers.CharField(allow_null=True)
    name = serializers.CharField(allow_null=True, help_text="The person's e-mail address, or the account's name.")


class TokenSerializer(serializers.Serializer):
    id = serializers.CharField()
    name = serializers.CharField()
    prefix = serializers.CharField(help_text="First characters of the secret.")
    role = serializers.ChoiceField(Role.choices, help_text="Its maximum scopes.")
    effective_role = serializers.SerializerMethodField(
        help_text="What it may do now: never more than its owner; null if it is inactive."
    )
    scopes = serializers.ListField(
        child=serializers.ChoiceField(Scope.choices),
        allow_null=True,
        help_text="null for everything that the role may do.",
    )
    owner = serializers.SerializerMethodField()
    state = serializers.SerializerMethodField(help_text="Whether it is active, and if not, why.")
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(allow_null=True, help_text="To the minute.")
    last_used_address = serializers.CharField(allow_null=True, help_text="Address of that use.")

    @extend_schema_field(serializers.ChoiceField(Role.choices, allow_null=True))
    def get_effective_role(self, token: ApiToken) -> str | None:
        return standing_of(token).role

    @extend_schema_field(serializers.ChoiceField(TokenState.choices))
    def get_state(self, token: ApiToken) -> str:
        return standing_of(token).state

    @extend_schema_field(TokenOwnerSerializer)
    def get_owner(self, token: ApiToken) -> dict[str, str | None]:
        if token.user is not None:
            return {"kind": "person", "id": token.user.id, "name": token.user.email}
        if token.service_account is not None:
            return {"kind": "service_account", "id": token.service_account.id, "name": token.service_account.name}
        return {"kind": "nobody", "id": None, "name": None}


class NewTokenSerializer(TokenSerializer):
    """A new token, in the only response that contains the secret."""

    secret = serializers.CharField(help_text="Shown only once. Send it as `Authorization: Bearer …`.")


class CreateTokenSerializer(serializers.Serializer):
    name = TextField(max_length=120)
    role = serializers.ChoiceField(Role.choices, help_text="Its maximum scopes.")
    scopes = serializers.ListField(
        child=serializers.ChoiceField(Scope.choices),
        required=False,
        allow_null=True,
        default=None,
        allow_empty=False,
        max_length=len(Scope),
        help_text="Its scopes; omitted or null: all of them. Write access includes read access.",
    )
    service_account = serializers.CharField(
        max_length=40,
        required=False,
        allow_null=True,
        default=None,
        help_text="Id of the service account that it belongs to; omitted or null: to you.",
    )
    expires_at = TimeField(
        required=False,
        allow_null=True,
        default=None,
        help_text="When it expires, with an offset from UTC; omitted or null: the default of `tokens/options`.",
    )


class HandOverTokenSerializer(serializers.Serializer):
    service_account = serializers.CharField(max_length=40, help_text="Id of the service account that gets the token.")


class ScopeSerializer(serializers.Serializer):
    name = serializers.ChoiceField(Scope.choices)
    description = serializers.CharField()


class TokenOptionsSerializer(serializers.Serializer):
    """Options for a new token."""

    default_days = serializers.IntegerField(help_text="Days until it expires by default.")
    max_days = serializers.IntegerField(help_text="Maximum days until it expires.")
    scopes = ScopeSerializer(many=True)


class ServiceAccountSerializer(serializers.Serializer):
    """An account for programs, whose tokens outlive the people who made them."""

    id = serializers.CharField()
    name = serializers.CharField()
    role = serializers.ChoiceField(Role.choices, help_text="Maximum scopes of its tokens.")
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    disabled_at = serializers.DateTimeField(allow_null=True, help_text="When its tokens became inactive.")
    live_tokens = serializers.IntegerField(help_text="Its tokens that are neither revoked nor expired.")


class CreateServiceAccountSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=120)
    role = serializers.ChoiceField(Role.choices)


class UpdateServiceAccountSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=120, required=False)
    role = serializers.ChoiceField(Role.choices, required=False)
    disabled = serializers.BooleanField(required=False, help_text="A disabled account's tokens are inactive.")


class ActorSerializer(DocumentSerializer, document=Actor):
    """The author of a change."""


class AuditEntrySerializer(serializers.Serializer):
    id = serializers.CharField()
    number = serializers.IntegerField(help_text="Position in the team's chain, from 1.")
    created_at = serializers.DateTimeField()
    actor = ActorSerializer()
    action = serializers.CharField()
    target_type = serializers.CharField()
    target_id = serializers.CharField()
    before = serializers.JSONField(help_text="Previous value; null if it is new.")
    after = serializers.JSONField(help_text="New value; null if it was removed.")
    reason = serializers.CharField(allow_blank=True)
    hash = serializers.CharField(help_text="SHA-256 over this entry and the previous hash.")


class AuditVerificationSerializer(serializers.Serializer):
    """Whether every entry is unchanged."""

    valid = serializers.BooleanField()
    entries = serializers.IntegerField()
    first_broken = serializers.IntegerField(allow_null=True, help_text="Number of the first entry that does not match.")


def with_secret(serializer: type[serializers.Serializer], instance: Any, **secret: str | None) -> dict[str, Any]:
    """The row as ``serializer`` shows it, with the secret, which is shown only now."""
    for name, value in secret.items():
        setattr(instance, name, value)
    return dict(serializer(instance).data)
