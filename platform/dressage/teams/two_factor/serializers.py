"""Bodies of the endpoints of second factors."""

from rest_framework import serializers


def _password() -> serializers.CharField:
    return serializers.CharField(
        max_length=1024,
        trim_whitespace=False,
        write_only=True,
        required=False,
        allow_blank=True,
        default="",
        help_text="Current password; empty if the account has none.",
    )


def _code() -> serializers.CharField:
    return serializers.CharField(
        max_length=40, write_only=True, help_text="Six digits of the authenticator app, or a recovery code."
    )


class SecondFactorsSerializer(serializers.Serializer):
    """Second factors of the person."""

    totp_since = serializers.DateTimeField(allow_null=True, help_text="When the authenticator app was turned on.")
    passkeys = serializers.IntegerField(help_text="Passkeys of the user.")
    passkey_origin = serializers.CharField(
        allow_null=True, help_text="Address of the console at which passkeys work; null if none."
    )
    recovery_codes = serializers.IntegerField(help_text="Unused recovery codes.")
    required = serializers.BooleanField(help_text="Whether a second factor must be set up first.")


class BeginTotpSerializer(serializers.Serializer):
    current = _password()


class TotpKeySerializer(serializers.Serializer):
    """The key for the authenticator app. It counts after a first code has confirmed it."""

    secret = serializers.CharField(help_text="The key in base 32, for typing.")
    uri = serializers.CharField(help_text="`otpauth://` address of the key.")
    qr = serializers.CharField(help_text="The address as a QR code: an SVG document.")


class CodeSerializer(serializers.Serializer):
    code = _code()


class ProofSerializer(serializers.Serializer):
    current = _password()
    code = _code()


class RecoveryCodesSerializer(serializers.Serializer):
    """Recovery codes, shown only this once."""

    recovery_codes = serializers.ListField(child=serializers.CharField(), help_text="Each works once.")


class PasskeySerializer(serializers.Serializer):
    """A passkey of the person."""

    id = serializers.CharField()
    name = serializers.CharField()
    created_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField(allow_null=True)


class BeginPasskeySerializer(serializers.Serializer):
    current = _password()
    code = serializers.CharField(
        max_length=40,
        write_only=True,
        required=False,
        allow_blank=True,
        default="",
        help_text="Code of the authenticator app, or a recovery code, if the user already has a second factor.",
    )


class PasskeyOptionsSerializer(serializers.Serializer):
    """Options to pass to the browser's authenticator."""

    options = serializers.DictField(
        help_text="As `PublicKeyCredential.parseCreationOptionsFromJSON` and `parseRequestOptionsFromJSON` read it."
    )


class CredentialSerializer(serializers.Serializer):
    credential = serializers.DictField(write_only=True, help_text="`toJSON()` of the browser's `PublicKeyCredential`.")


class AddPasskeySerializer(CredentialSerializer):
    name = serializers.CharField(max_length=80, help_text="Name of the device.")


class AddedPasskeySerializer(serializers.Serializer):
    """A new passkey, and the recovery codes that come with the first second factor."""

    passkey = PasskeySerializer()
    recovery_codes = serializers.ListField(
        child=serializers.CharField(),
        help_text="Each works once. Empty if there already was a second factor.",
    )
