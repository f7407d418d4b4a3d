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
        help_text="Whether the link was sent to the address; else its inviter was shown it."
    )
    letter_fault = serializers.CharField(
        help_text="Why the letter could not be sent: send it again. Empty where it was sent, or is on its way."
    )
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(help_text="When the link stops working.")


class NewInvitationSerializer(InvitationSerializer):
    """A new invitation, in the only response that contains the link."""

    link = serializers.CharField(
        allow_null=True, help_text="Link to hand over, shown this once; null where it was sent by mail."
    )


class OfferSerializer(serializers.Serializer):
    """What an invitation offers, as the holder of its token sees it."""

    team = serializers.CharField(source="team.name", help_text="The team's name.")
    role = serializers.ChoiceField(Role.choices)
    email = serializers.EmailField(help_text="The address that is invited.")
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
        help_text="For the new account. Leave it out where you are signed in with a proven address.",
    )
    name = serializers.CharField(max_length=120, required=False, allow_blank=True, default="")
    current = serializers.CharField(
        max_length=1024,
        trim_whitespace=False,
        write_only=True,
        required=False,
        allow_blank=True,
        default="",
        help_text="Present password of the account that is signed in, where its address is not proven.",
    )
    code = serializers.CharField(
        max_length=40,
        write_only=True,
        required=False,
        allow_blank=True,
        default="",
        help_text="Beside it, where that account has a second factor: six digits of the app, or a recovery code.",
    )
