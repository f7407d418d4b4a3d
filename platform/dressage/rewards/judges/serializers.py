"""Request and response bodies of the judge endpoints."""

from typing import Any
from urllib.parse import urlsplit

from rest_framework import serializers

from dressage.common.openapi.serializers import SlugField
from dressage.rewards.judges.addresses import refusal


class BaseUrlField(serializers.CharField):
    """``http(s)://host[:port]/path`` without credentials, query or fragment, at an allowed address."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=500, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data).rstrip("/")
        try:
            parts = urlsplit(text)
            _ = parts.port
        except ValueError as error:
            raise serializers.ValidationError(f"Not an address: {error}.") from error
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise serializers.ValidationError("Give an address such as https://host/v1.")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise serializers.ValidationError("No user, password, query or fragment: the key has its own field.")
        reason = refusal(text)
        if reason:
            raise serializers.ValidationError(reason)
        return text


class PriceField(serializers.FloatField):
    """A price per million tokens."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=0.0, max_value=1e6, required=False, allow_null=True, **kwargs)


class UpdateJudgeEndpointSerializer(serializers.Serializer):
    """Changes to a judge. The slug cannot change, since definitions use it. Give either ``base_url`` or ``policy``."""

    name = serializers.CharField(max_length=120, required=False)
    base_url = BaseUrlField(
        required=False, allow_null=True, help_text="OpenAI-compatible address, such as `https://host/v1`."
    )
    policy = SlugField(
        required=False, allow_null=True, help_text="Instead of an address: a policy that the cluster serves by vLLM."
    )
    model = serializers.CharField(max_length=200, required=False, help_text="Value of `model` in requests.")
    api_key = serializers.CharField(
        max_length=4000,
        required=False,
        allow_null=True,
        write_only=True,
        help_text="Stored encrypted and never shown again; null deletes it. A new `base_url` needs a new key, or null.",
    )
    max_in_flight = serializers.IntegerField(
        min_value=1, max_value=1024, required=False, help_text="Requests at the same time."
    )
    timeout_s = serializers.FloatField(min_value=1.0, max_value=600.0, required=False, help_text="Of one request.")
    retries = serializers.IntegerField(min_value=0, max_value=10, required=False, help_text="After a failed request.")
    price_prompt = PriceField(help_text="Per million prompt tokens; null when unknown.")
    price_completion = PriceField(help_text="Per million completion tokens; null when unknown.")


class CreateJudgeEndpointSerializer(UpdateJudgeEndpointSerializer):
    """A new judge. Give either ``base_url`` or ``policy``."""

    name = serializers.CharField(max_length=120)
    slug = SlugField(required=False, allow_null=True, default=None, help_text="Derived from the name when omitted.")
    model = serializers.CharField(max_length=200, help_text="Value of `model` in requests.")


class JudgeEndpointSerializer(serializers.Serializer):
    """A judge that definitions refer to by its slug."""

    id = serializers.CharField()
    slug = serializers.CharField()
    name = serializers.CharField()
    base_url = serializers.CharField(allow_null=True)
    policy = serializers.CharField(allow_null=True)
    model = serializers.CharField()
    has_key = serializers.BooleanField(help_text="Whether a key is stored; it is never shown.")
    max_in_flight = serializers.IntegerField()
    timeout_s = serializers.FloatField()
    retries = serializers.IntegerField()
    price_prompt = serializers.FloatField(allow_null=True)
    price_completion = serializers.FloatField(allow_null=True)
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField()

    def to_representation(self, instance: Any) -> dict[str, Any]:
        document = super().to_representation(instance)
        return {**document, "base_url": document["base_url"] or None, "policy": document["policy"] or None}
