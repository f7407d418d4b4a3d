"""Request bodies of the credentials endpoints."""

from typing import Any

from rest_framework import serializers

from dressage.common.openapi.documents import DocumentSerializer
from dressage.policies.access.documents import PolicySourceDocument, PolicySourcesDocument


class PolicySourceSerializer(DocumentSerializer, document=PolicySourceDocument):
    pass


class PolicySourcesSerializer(DocumentSerializer, document=PolicySourcesDocument):
    pass


class _SecretField(serializers.RegexField):
    """A secret as one line of printable ASCII, since it is sent in headers."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            r"^[\x21-\x7e]{1,4000}$",
            write_only=True,
            error_messages={"invalid": "Give it without spaces or line breaks."},
            **kwargs,
        )


class SetHubTokenSerializer(serializers.Serializer):
    """An access token for the hub."""

    token = _SecretField(help_text="With read access; stored encrypted and never shown again.")


class SetBucketKeysSerializer(serializers.Serializer):
    """Access keys for the object store."""

    access_key_id = _SecretField(help_text="Stored encrypted and never shown again.")
    secret_access_key = _SecretField(help_text="Stored encrypted and never shown again.")
