"""Request and response bodies of the sharing endpoints."""

from rest_framework import serializers

from dressage.common.openapi.serializers import SlugField


class OfferDatasetSerializer(serializers.Serializer):
    note = serializers.CharField(
        max_length=200,
        required=False,
        allow_blank=True,
        default="",
        help_text="Whom it is meant for, for your own list.",
    )


class DatasetShareSerializer(serializers.Serializer):
    """An offer or a share, as the owner of the dataset sees it."""

    id = serializers.CharField()
    note = serializers.CharField()
    guest = serializers.CharField(
        source="guest.name", default=None, allow_null=True, help_text="The team that reads; null for an offer."
    )
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(help_text="When an offer stops working.")
    accepted_at = serializers.DateTimeField(allow_null=True)


class NewDatasetShareSerializer(DatasetShareSerializer):
    """The only response that contains the link."""

    link = serializers.CharField(help_text="Link for an admin of the other team, shown this once.")


class DatasetOfferSerializer(serializers.Serializer):
    """What an offer contains, for anyone who has its token."""

    team = serializers.CharField(source="team.name", help_text="Name of the team that offers.")
    name = serializers.CharField(source="dataset.name")
    slug = serializers.CharField(source="dataset.slug", help_text="A name for it, which may be taken in your team.")
    description = serializers.CharField(source="dataset.description")
    expires_at = serializers.DateTimeField()


class AcceptDatasetSerializer(serializers.Serializer):
    slug = SlugField(help_text="Name of the dataset in the specs of your team.")


class SharedDatasetSerializer(serializers.Serializer):
    """A dataset of another team that this team can read."""

    id = serializers.CharField(help_text="Id of the share.")
    dataset_id = serializers.CharField()
    slug = serializers.CharField(help_text="How specs of this team name it.")
    name = serializers.CharField(source="dataset.name")
    description = serializers.CharField(source="dataset.description")
    shared_by = serializers.CharField(source="team.name", help_text="Name of the team that it belongs to.")
    number = serializers.IntegerField(source="dataset.latest_version.number", help_text="Its newest version.")
    rows = serializers.IntegerField(source="dataset.latest_version.rows")
    bytes = serializers.IntegerField(source="dataset.latest_version.bytes")
    accepted_at = serializers.DateTimeField()
