"""A person's own account: password, sessions, and the log of events."""

from datetime import timedelta

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.api.paging import page_query
from dressage.teams import selectors
from dressage.teams.accounts.serializers import (
    AccountEventSerializer,
    DevicePassSerializer,
    PasswordSerializer,
    UserSessionSerializer,
)
from dressage.teams.api import ApiView, TeamRequest
from dressage.teams.guesses.devices import PASS_S, make_device_pass
from dressage.teams.guesses.limits import count_in_session
from dressage.teams.permissions import IsSignedIn
from dressage.teams.sessions import life as sessions


class PasswordView(ApiView):
    """The user's own password."""

    takes_temporary_passwords = True
    takes_unenrolled = True
    roles = {"POST": IsSignedIn}
    problem_statuses = {"POST": (429,)}

    @extend_schema(operation_id="changePassword", tags=["session"], request=PasswordSerializer, responses={204: None})
    def post(self, request: TeamRequest) -> Response:
        """Change your password. Your other sessions end."""
        fields, http = self.body(PasswordSerializer), request._request
        guess = count_in_session(http, "password")
        sessions.change_own_password(http, request.user, current=fields["current"], new=fields["new"])
        guess.was_right()
        return Response(status=status.HTTP_204_NO_CONTENT)


class UserSessionsView(ApiView):
    """Sessions of the person, in all browsers."""

    roles = {"GET": IsSignedIn, "DELETE": IsSignedIn}
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listSessions", tags=["account"], responses=UserSessionSerializer(many=True))
    def get(self, request: TeamRequest) -> Response:
        """Your sessions that have not ended, newest first."""
        rows = selectors.own_sessions(request.user, request._request.session.session_key)
        return self.page(rows, UserSessionSerializer)

    @extend_schema(operation_id="endOtherSessions", tags=["account"], request=None, responses={204: None})
    def delete(self, request: TeamRequest) -> Response:
        """End all your sessions except this one, and close their streams."""
        sessions.end_other_sessions(request._request, request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class UserSessionView(ApiView):
    """One session of the person."""

    roles = {"DELETE": IsSignedIn}
    problem_statuses = {"DELETE": (404,)}

    @extend_schema(operation_id="endSession", tags=["account"], request=None, responses={204: None})
    def delete(self, request: TeamRequest, session_id: str) -> Response:
        """End one of your sessions and close its streams. Ending the current one signs you out."""
        session = selectors.own_session(request.user, session_id)
        sessions.end_session(request._request, request.user, session)
        return Response(status=status.HTTP_204_NO_CONTENT)


class DevicePassView(ApiView):
    """Passes for new devices."""

    without_body = frozenset({"POST"})
    roles = {"POST": IsSignedIn}

    @extend_schema(operation_id="makeDevicePass", tags=["account"], request=None, responses=DevicePassSerializer)
    def post(self, request: TeamRequest) -> Response:
        """Create a pass that lets a new device sign in without waiting while others are guessing your password."""
        expires_at = timezone.now() + timedelta(seconds=PASS_S)
        document = {"device_pass": make_device_pass(request.user), "expires_at": expires_at}
        return Response(DevicePassSerializer(document).data)


class AccountEventsView(ApiView):
    """The log of events of the account."""

    roles = {"GET": IsSignedIn}
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listAccountEvents", tags=["account"], responses=AccountEventSerializer(many=True))
    def get(self, request: TeamRequest) -> Response:
        """Sign-ins, wrong passwords, password changes and ended sessions of the last half year, newest first."""
        return self.page(selectors.account_events(request.user), AccountEventSerializer)
