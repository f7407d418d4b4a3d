"""Bodies of the endpoints of credentials."""

from typing import Any

from rest_framework import serializers

from dressage.common.openapi.documents import DocumentSerializer
from dressage.policies.access.documents import PolicySourceDocument, PolicySourcesDocument


class PolicySourceSerializer(DocumentSerializer, document=PolicySourceDocument):
    pass


class PolicySourcesSerializer(DocumentSerializer, document=PolicySourcesDocument):
    pass


class _SecretField(serializers.RegexField):
    """A secret as one line of visible ASCII: it travels in headers."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            r"^[\x21-\x7e]{1,4000}$",
            write_only=True,
            error_messages={"invalid": "Give it without spaces or line breaks."},
            **kwargs,
        )


class SetHubTokenSerializer(serializers.Serializer):
    """A token of the hub."""

    token = _SecretField(help_text="With the right to read; stored encrypted and never shown again.")


class SetBucketKeysSerializer(serializers.Serializer):
    """Keys of the object store."""

    access_key_id = _SecretField(help_text="Stored encrypted and never shown again.")
    secret_access_key = _SecretField(help_text="Stored encrypted and never shown again.")
