"""Bodies of the teams' endpoints."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from dressage.common.actors import Actor
from dressage.common.openapi.documents import DocumentSerializer
from dressage.common.openapi.serializers import TimeField
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
        help_text="Someone else has seen the password: it opens nothing but the choice of another."
    )
    address_proven = serializers.BooleanField(
        help_text="Whether the address is known to be the user's. Where not, a further team takes a new password."
    )


class SessionSerializer(serializers.Serializer):
    """The user who is signed in, and their team."""

    authenticated = serializers.BooleanField()
    provider = serializers.CharField(
        allow_null=True, help_text="Name of the OpenID Connect provider that one may sign in with; null where none is."
    )
    second_factor_due = serializers.BooleanField(
        help_text="The password was right, and a code of the account's second factor must follow."
    )
    second_factor_missing = serializers.BooleanField(
        help_text="The installation wants a second factor: nothing is open but setting one up."
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
        help_text="Pass of a new device, made in a browser that is signed in: it spares the wait while others guess.",
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
    role = serializers.ChoiceField(Role.choices, help_text="What it may do at most.")
    effective_role = serializers.SerializerMethodField(
        help_text="What it may do now: never more than its owner; null for one that does not act."
    )
    scopes = serializers.ListField(
        child=serializers.ChoiceField(Scope.choices), allow_null=True, help_text="null for all that the role may."
    )
    owner = serializers.SerializerMethodField()
    state = serializers.SerializerMethodField(help_text="Whether it acts, and why it does not.")
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(allow_null=True, help_text="To the minute.")
    last_used_address = serializers.CharField(allow_null=True, help_text="Where that use came from.")

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

    secret = serializers.CharField(help_text="Shown this once. Send it as `Authorization: Bearer …`.")


class CreateTokenSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=120)
    role = serializers.ChoiceField(Role.choices, help_text="What it may do at most.")
    scopes = serializers.ListField(
        child=serializers.ChoiceField(Scope.choices),
        required=False,
        allow_null=True,
        default=None,
        allow_empty=False,
        max_length=len(Scope),
        help_text="What of that it may do; omitted or null: all of it. To write includes to read.",
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
        help_text="Its end, with its offset from UTC; omitted or null: that of `tokens/options`.",
    )


class HandOverTokenSerializer(serializers.Serializer):
    service_account = serializers.CharField(max_length=40, help_text="Id of the service account that gets the token.")


class ScopeSerializer(serializers.Serializer):
    name = serializers.ChoiceField(Scope.choices)
    description = serializers.CharField()


class TokenOptionsSerializer(serializers.Serializer):
    """Options for a new token."""

    default_days = serializers.IntegerField(help_text="Days after which it ends when no time is named.")
    max_days = serializers.IntegerField(help_text="Days after which it ends at the latest.")
    scopes = ScopeSerializer(many=True)


class ServiceAccountSerializer(serializers.Serializer):
    """An account for programs, whose tokens outlive the people who made them."""

    id = serializers.CharField()
    name = serializers.CharField()
    role = serializers.ChoiceField(Role.choices, help_text="What its tokens may do at most.")
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    disabled_at = serializers.DateTimeField(allow_null=True, help_text="Since when its tokens do not act.")
    live_tokens = serializers.IntegerField(help_text="Its tokens that are neither revoked nor expired.")


class CreateServiceAccountSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=120)
    role = serializers.ChoiceField(Role.choices)


class UpdateServiceAccountSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=120, required=False)
    role = serializers.ChoiceField(Role.choices, required=False)
    disabled = serializers.BooleanField(required=False, help_text="A disabled account's tokens do not act.")


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
    before = serializers.JSONField(help_text="What it was; null when it is new.")
    after = serializers.JSONField(help_text="What it became; null when it is gone.")
    reason = serializers.CharField(allow_blank=True)
    hash = serializers.CharField(help_text="SHA-256 over this entry and the hash of the one before.")


class AuditVerificationSerializer(serializers.Serializer):
    """Whether every entry is unchanged."""

    valid = serializers.BooleanField()
    entries = serializers.IntegerField()
    first_broken = serializers.IntegerField(allow_null=True, help_text="Number of the first entry that does not fit.")


def with_secret(serializer: type[serializers.Serializer], instance: Any, **secret: str | None) -> dict[str, Any]:
    """The row as ``serializer`` shows it, with the secret, which is shown only now."""
    for name, value in secret.items():
        setattr(instance, name, value)
    return dict(serializer(instance).data)
