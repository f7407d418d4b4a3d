"""Request and response bodies of the upload endpoints."""

from rest_framework import serializers


class StartUploadSerializer(serializers.Serializer):
    """A file to be uploaded in parts."""

    name = serializers.CharField(max_length=200, help_text="The file's name.")
    size = serializers.IntegerField(min_value=1, max_value=2**62, help_text="Bytes of the whole file.")
    sha256 = serializers.RegexField(
        r"^[0-9a-fA-F]{64}\Z",
        required=False,
        allow_blank=True,
        default="",
        help_text="SHA-256 of the whole file in hexadecimal digits, compared when it is read.",
    )


class DatasetUploadSerializer(serializers.Serializer):
    """A file that is being uploaded."""

    id = serializers.CharField(help_text="What a new dataset or version takes as `upload`.")
    name = serializers.CharField()
    size = serializers.IntegerField(help_text="Bytes of the whole file.")
    offset = serializers.IntegerField(help_text="Bytes that have come. The next part begins there.")
    complete = serializers.BooleanField(source="is_complete", read_only=True)
    expires_at = serializers.DateTimeField(help_text="Time at which it is removed, unless another part comes.")
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField()
