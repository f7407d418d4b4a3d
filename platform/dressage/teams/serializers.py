"""Bodies of the teams' endpoints."""

from typing import Any

from rest_framework import serializers

from dressage.common.actors import Actor
from dressage.common.documents import DocumentSerializer
from dressage.common.roles import Role


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
    """Who is signed in, and to which team."""

    authenticated = serializers.BooleanField()
    user = UserSerializer(allow_null=True)
    team = TeamSerializer(allow_null=True)
    role = serializers.ChoiceField(Role.choices, allow_null=True)
    teams = TeamSerializer(many=True)


class LoginSerializer(serializers.Serializer):
    email = serializers.EmailField(max_length=254)
    password = serializers.CharField(max_length=1024, trim_whitespace=False, write_only=True)


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


class TokenSerializer(serializers.Serializer):
    id = serializers.CharField()
    name = serializers.CharField()
    prefix = serializers.CharField(help_text="First characters of the secret.")
    role = serializers.ChoiceField(Role.choices)
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(allow_null=True)


class NewTokenSerializer(TokenSerializer):
    """The only answer that carries the secret."""

    secret = serializers.CharField(help_text="Shown this once. Send it as `Authorization: Bearer …`.")


class CreateTokenSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=120)
    role = serializers.ChoiceField(Role.choices)
    expires_at = serializers.DateTimeField(required=False, allow_null=True, default=None)


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
    """Whether every entry is as it was written."""

    valid = serializers.BooleanField()
    entries = serializers.IntegerField()
    first_broken = serializers.IntegerField(allow_null=True, help_text="Number of the first entry that does not fit.")


def with_secret(serializer: type[serializers.Serializer], instance: Any, **secret: str | None) -> dict[str, Any]:
    """The row as ``serializer`` shows it, with the secret that is shown only now."""
    for name, value in secret.items():
        setattr(instance, name, value)
    return dict(serializer(instance).data)
