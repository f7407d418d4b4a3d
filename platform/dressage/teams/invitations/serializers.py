"""Bodies of the invitations' endpoints."""

from rest_framework import serializers

from dressage.common.roles import Role


class InviteSerializer(serializers.Serializer):
    email = serializers.EmailField(max_length=254)
    role = serializers.ChoiceField(Role.choices)


class InvitationSerializer(serializers.Serializer):
    """An open invitation, as the admins of its team see it."""

    id = serializers.CharField()
    email = serializers.EmailField()
    role = serializers.ChoiceField(Role.choices)
    mailed = serializers.BooleanField(
        help_text="Whether the link was sent to the address; otherwise it was shown to the inviter."
    )
    letter_fault = serializers.CharField(
        help_text="Why the message could not be sent: send it again. Empty if it was sent or is being sent."
    )
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(help_text="When the link stops working.")


class NewInvitationSerializer(InvitationSerializer):
    """A new invitation, in the only response that contains the link."""

    link = serializers.CharField(
        allow_null=True, help_text="Link to send to the person, shown only once; null if it was sent by mail."
    )


class OfferSerializer(serializers.Serializer):
    """What an invitation offers, as the holder of its token sees it."""

    team = serializers.CharField(source="team.name", help_text="The team's name.")
    role = serializers.ChoiceField(Role.choices)
    email = serializers.EmailField(help_text="The invited address.")
    invited_by = serializers.CharField(source="created_by")
    expires_at = serializers.DateTimeField()


class AcceptInvitationSerializer(serializers.Serializer):
    password = serializers.CharField(
        max_length=1024,
        trim_whitespace=False,
        write_only=True,
        required=False,
        allow_blank=True,
        default="",
        help_text="For the new account. Omit it if you are signed in with a verified address.",
    )
    name = serializers.CharField(max_length=120, required=False, allow_blank=True, default="")
    current = serializers.CharField(
        max_length=1024,
        trim_whitespace=False,
        write_only=True,
        required=False,
        allow_blank=True,
        default="",
        help_text="Current password of the signed-in account, if its address is not verified.",
    )
    code = serializers.CharField(
        max_length=40,
        write_only=True,
        required=False,
        allow_blank=True,
        default="",
        help_text="If that account has a second factor: six digits of the app, or a recovery code.",
    )
