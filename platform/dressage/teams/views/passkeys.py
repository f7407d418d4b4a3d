"""Passkeys: adding and removing them, and signing in with them."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.api.paging import page_query
from dressage.common.api.permissions import AllowAny
from dressage.teams.api import ApiView, TeamRequest
from dressage.teams.authentication import enforce_csrf
from dressage.teams.guesses.limits import count_challenge, count_in_session
from dressage.teams.permissions import IsSignedIn
from dressage.teams.serializers import SessionSerializer
from dressage.teams.two_factor import passkeys, selectors
from dressage.teams.two_factor.second_step import second_step_of
from dressage.teams.two_factor.serializers import (
    AddedPasskeySerializer,
    AddPasskeySerializer,
    BeginPasskeySerializer,
    CredentialSerializer,
    PasskeyOptionsSerializer,
    PasskeySerializer,
    ProofSerializer,
)
from dressage.teams.views.session import signed_in
from dressage.teams.views.two_factor import PURPOSE


class PasskeysView(ApiView):
    """The person's passkeys."""

    takes_unenrolled = True
    roles = {"GET": IsSignedIn, "POST": IsSignedIn}
    problem_statuses = {"POST": (409,)}
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listPasskeys", tags=["account"], responses=PasskeySerializer(many=True))
    def get(self, request: TeamRequest) -> Response:
        """Your passkeys, newest first."""
        return self.page(selectors.passkeys_of(request.user), PasskeySerializer)

    @extend_schema(
        operation_id="addPasskey",
        tags=["account"],
        request=AddPasskeySerializer,
        responses={201: AddedPasskeySerializer},
    )
    def post(self, request: TeamRequest) -> Response:
        """Add the passkey that the browser has created for the options. The first one comes with recovery codes."""
        fields = self.body(AddPasskeySerializer)
        passkey, codes = passkeys.add_passkey(request._request, request.user, **fields)
        document = AddedPasskeySerializer({"passkey": passkey, "recovery_codes": codes}).data
        return Response(document, status=status.HTTP_201_CREATED)


class PasskeyOptionsView(ApiView):
    """Options for a new passkey."""

    takes_unenrolled = True
    roles = {"POST": IsSignedIn}
    problem_statuses = {"POST": (409, 429)}

    @extend_schema(
        operation_id="beginPasskey",
        tags=["account"],
        request=BeginPasskeySerializer,
        responses=PasskeyOptionsSerializer,
    )
    def post(self, request: TeamRequest) -> Response:
        """Start adding a passkey. Requires the password, and a code if there is already a second factor."""
        fields, http = self.body(BeginPasskeySerializer), request._request
        guess = count_in_session(http, PURPOSE)
        options = passkeys.registration_options(http, request.user, **fields)
        guess.was_right()
        return Response(PasskeyOptionsSerializer({"options": options}).data)


class PasskeyRemovalView(ApiView):
    """Removing a passkey."""

    roles = {"POST": IsSignedIn}
    problem_statuses = {"POST": (404, 429)}

    @extend_schema(operation_id="removePasskey", tags=["account"], request=ProofSerializer, responses={204: None})
    def post(self, request: TeamRequest, passkey_id: str) -> Response:
        """Remove a passkey. Requires the password and a code. The recovery codes end with the last second factor."""
        fields, http = self.body(ProofSerializer), request._request
        passkey = selectors.passkey_of(request.user, passkey_id)
        guess = count_in_session(http, PURPOSE)
        passkeys.remove_passkey(http, request.user, passkey, **fields)
        guess.was_right()
        return Response(status=status.HTTP_204_NO_CONTENT)


class PasskeySignInOptionsView(ApiView):
    """Options for a sign-in."""

    takes_unenrolled = takes_temporary_passwords = True
    roles = {"POST": AllowAny}
    without_body = frozenset({"POST"})
    problem_statuses = {"POST": (401, 403, 409, 429)}

    @extend_schema(
        operation_id="beginPasskeySignIn", tags=["session"], request=None, responses=PasskeyOptionsSerializer
    )
    def post(self, request: TeamRequest) -> Response:
        """Start a sign-in with a passkey: on its own, or as the second step after the password."""
        enforce_csrf(request)
        http = request._request
        count_challenge(http)
        options = passkeys.sign_in_options(http, second_step_of(http))
        return Response(PasskeyOptionsSerializer({"options": options}).data)


class PasskeySignInView(ApiView):
    """Signing in with a passkey."""

    takes_unenrolled = takes_temporary_passwords = True
    roles = {"POST": AllowAny}
    problem_statuses = {"POST": (401, 403, 409)}

    @extend_schema(
        operation_id="signInWithPasskey", tags=["session"], request=CredentialSerializer, responses=SessionSerializer
    )
    def post(self, request: TeamRequest) -> Response:
        """Sign in with the browser's answer to the options. The device has verified its user."""
        enforce_csrf(request)
        fields, http = self.body(CredentialSerializer), request._request
        user = passkeys.owner_by_passkey(http, second_step_of(http), fields["credential"])
        return signed_in(request, user)
