"""Bodies of the endpoints of a person's own account."""

from rest_framework import serializers


class PasswordSerializer(serializers.Serializer):
    current = serializers.CharField(max_length=1024, trim_whitespace=False, write_only=True)
    new = serializers.CharField(max_length=1024, trim_whitespace=False, write_only=True)


class DevicePassSerializer(serializers.Serializer):
    """A pass that lets a new device sign in."""

    device_pass = serializers.CharField(help_text="Send it with the sign-in of the new device.")
    expires_at = serializers.DateTimeField()


class UserSessionSerializer(serializers.Serializer):
    """A session of the person."""

    id = serializers.CharField()
    device = serializers.CharField(help_text="Browser and system, as the browser reports them.")
    address = serializers.CharField(help_text="Client address that it was last seen from; empty if unknown.")
    created_at = serializers.DateTimeField()
    last_seen_at = serializers.DateTimeField(help_text="To the minute.")
    is_current = serializers.BooleanField(help_text="Whether it is the requesting session.")


class AccountEventSerializer(serializers.Serializer):
    """An event in the history of the person's account."""

    id = serializers.CharField()
    created_at = serializers.DateTimeField()
    last_at = serializers.DateTimeField(help_text="Time of the last one, if several are merged.")
    action = serializers.CharField()
    device = serializers.CharField()
    address = serializers.CharField()
    count = serializers.IntegerField(help_text="Wrong passwords within an hour are one event.")
