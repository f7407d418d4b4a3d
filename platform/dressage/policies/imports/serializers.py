"""Request and response bodies of the import endpoints."""

from rest_framework import serializers

from dressage.common.openapi.serializers import SlugField
from dressage.policies.models import ImportState, SourceKind


class StartImportSerializer(serializers.Serializer):
    """A policy to import."""

    name = serializers.CharField(max_length=120)
    slug = SlugField(required=False, allow_null=True, default=None, help_text="Derived from the name when omitted.")
    source = serializers.ChoiceField(SourceKind.choices)
    location = serializers.CharField(
        max_length=1000, help_text="`owner/name` of a repository of the hub, or `s3://bucket/folder`."
    )
    revision = serializers.CharField(
        max_length=200,
        required=False,
        allow_blank=True,
        default="",
        help_text="Branch, tag or commit of the repository; its main branch when empty.",
    )


class PolicyImportSerializer(serializers.Serializer):
    """A policy that is being imported."""

    id = serializers.CharField()
    name = serializers.CharField()
    slug = serializers.CharField(help_text="Name of the policy in run specs.")
    source = serializers.ChoiceField(SourceKind.choices)
    location = serializers.CharField()
    revision = serializers.CharField(help_text="As requested; empty for the main branch.")
    commit = serializers.CharField(help_text="The resolved revision; empty until then, and for a bucket.")
    state = serializers.ChoiceField(ImportState.choices)
    error = serializers.CharField(help_text="Why it failed or waits, and what to do; else empty.")
    files_total = serializers.IntegerField(help_text="0 until the files are known.")
    files_done = serializers.IntegerField()
    bytes_total = serializers.IntegerField(help_text="0 until the files are known.")
    bytes_done = serializers.IntegerField(help_text="Downloaded; while verifying, compared.")
    policy = serializers.CharField(allow_null=True, help_text="Id of the policy once it is ready.")
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField()
    finished_at = serializers.DateTimeField(allow_null=True)
