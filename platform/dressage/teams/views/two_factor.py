"""Second factors: setting them up, and the second step of a sign-in."""

from dataclasses import asdict

import structlog
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.api.permissions import AllowAny
from dressage.common.api.problems import Problem
from dressage.teams.api import ApiView, TeamRequest
from dressage.teams.authentication import enforce_csrf
from dressage.teams.guesses.limits import count_code, count_in_session
from dressage.teams.permissions import IsSignedIn
from dressage.teams.serializers import SessionSerializer
from dressage.teams.two_factor import selectors, services
from dressage.teams.two_factor.second_step import second_step_of
from dressage.teams.two_factor.serializers import (
    BeginTotpSerializer,
    CodeSerializer,
    ProofSerializer,
    RecoveryCodesSerializer,
    SecondFactorsSerializer,
    TotpKeySerializer,
)
from dressage.teams.views.session import signed_in

logger = structlog.get_logger(__name__)
PURPOSE = "second factor"


class SecondStepView(ApiView):
    """The second step of a sign-in."""

    takes_unenrolled = True
    roles = {"POST": AllowAny}
    problem_statuses = {"POST": (401, 403, 409, 429)}

    @extend_schema(operation_id="giveCode", tags=["session"], request=CodeSerializer, responses=SessionSerializer)
    def post(self, request: TeamRequest) -> Response:
        """Finish a sign-in whose response said `second_factor_due`, with a code of the app or a recovery code."""
        enforce_csrf(request)
        code, http = self.body(CodeSerializer)["code"], request._request
        user = second_step_of(http)
        if user is None:
            detail = "Sign in with your password first. The code must follow within ten minutes."
            raise Problem(401, "Not signed in", detail, code="no_second_step")
        guess = count_code(http, user)
        if not services.use_code(http, user, code):
            logger.warning("code_refused", user=user.pk)
            raise services.refuse_code(http, user)
        guess.was_right()
        return signed_in(request, user)


class SecondFactorsView(ApiView):
    """The person's second factors."""

    takes_unenrolled = True
    roles = {"GET": IsSignedIn}

    @extend_schema(operation_id="getSecondFactors", tags=["account"], responses=SecondFactorsSerializer)
    def get(self, request: TeamRequest) -> Response:
        """Your second factors."""
        return Response(SecondFactorsSerializer(selectors.second_factors(request.user)).data)


class TotpView(ApiView):
    """Setting up an authenticator app."""

    takes_unenrolled = True
    roles = {"POST": IsSignedIn}
    problem_statuses = {"POST": (409, 429)}

    @extend_schema(operation_id="beginTotp", tags=["account"], request=BeginTotpSerializer, responses=TotpKeySerializer)
    def post(self, request: TeamRequest) -> Response:
        """Create a key for an authenticator app. Sign-ins require no code before a first code has confirmed it."""
        fields = self.body(BeginTotpSerializer)
        guess = count_in_session(request._request, PURPOSE)
        key = services.begin_totp(request.user, current=fields["current"])
        guess.was_right()
        return Response(TotpKeySerializer(asdict(key)).data)


class TotpConfirmationView(ApiView):
    """Confirming an authenticator app."""

    takes_unenrolled = True
    roles = {"POST": IsSignedIn}
    problem_statuses = {"POST": (409, 429)}

    @extend_schema(
        operation_id="confirmTotp", tags=["account"], request=CodeSerializer, responses=RecoveryCodesSerializer
    )
    def post(self, request: TeamRequest) -> Response:
        """Turn the app on with its first code. The response has the recovery codes, which are shown only this once."""
        code, http = self.body(CodeSerializer)["code"], request._request
        guess = count_in_session(http, PURPOSE)
        codes = services.confirm_totp(http, request.user, code)
        guess.was_right()
        return Response(RecoveryCodesSerializer({"recovery_codes": codes}).data)


class TotpEndView(ApiView):
    """Turning the authenticator app off."""

    roles = {"POST": IsSignedIn}
    problem_statuses = {"POST": (409, 429)}

    @extend_schema(operation_id="turnTotpOff", tags=["account"], request=ProofSerializer, responses={204: None})
    def post(self, request: TeamRequest) -> Response:
        """Turn the app off. Requires the password and a code. The recovery codes end with the last second factor."""
        fields, http = self.body(ProofSerializer), request._request
        guess = count_in_session(http, PURPOSE)
        services.turn_totp_off(http, request.user, **fields)
        guess.was_right()
        return Response(status=status.HTTP_204_NO_CONTENT)


class RecoveryCodesView(ApiView):
    """Recovery codes."""

    roles = {"POST": IsSignedIn}
    problem_statuses = {"POST": (409, 429)}

    @extend_schema(
        operation_id="renewRecoveryCodes", tags=["account"], request=ProofSerializer, responses=RecoveryCodesSerializer
    )
    def post(self, request: TeamRequest) -> Response:
        """Create ten new recovery codes. Requires the password and a code. The old ones stop working."""
        fields, http = self.body(ProofSerializer), request._request
        guess = count_in_session(http, PURPOSE)
        codes = services.renew_recovery_codes(http, request.user, **fields)
        guess.was_right()
        return Response(RecoveryCodesSerializer({"recovery_codes": codes}).data)
