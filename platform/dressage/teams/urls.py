"""Routes of teams."""

from django.urls import path

from dressage.teams.views.account import (
    AccountEventsView,
    DevicePassView,
    PasswordView,
    UserSessionsView,
    UserSessionView,
)
from dressage.teams.views.audit import AuditExportView, AuditVerificationView, AuditView
from dressage.teams.views.invitations import AcceptView, InvitationsView, InvitationView, OfferView, ResendView
from dressage.teams.views.members import MembersView, MemberView, TeamView
from dressage.teams.views.oidc import OidcView
from dressage.teams.views.oidc import callback as oidc_callback
from dressage.teams.views.passkeys import (
    PasskeyOptionsView,
    PasskeyRemovalView,
    PasskeySignInOptionsView,
    PasskeySignInView,
    PasskeysView,
)
from dressage.teams.views.service_accounts import ServiceAccountsView, ServiceAccountView
from dressage.teams.views.session import SessionTeamView, SessionView
from dressage.teams.views.tokens import ApiTokenView, TokenOptionsView, TokensView
from dressage.teams.views.two_factor import (
    RecoveryCodesView,
    SecondFactorsView,
    SecondStepView,
    TotpConfirmationView,
    TotpEndView,
    TotpView,
)

urlpatterns = [
    path("session", SessionView.as_view()),
    path("session/team", SessionTeamView.as_view()),
    path("session/password", PasswordView.as_view()),
    path("account/sessions", UserSessionsView.as_view()),
    path("account/sessions/<str:session_id>", UserSessionView.as_view()),
    path("session/second-factor", SecondStepView.as_view()),
    path("session/oidc", OidcView.as_view()),
    path("session/oidc/callback", oidc_callback),
    path("session/passkey", PasskeySignInView.as_view()),
    path("session/passkey/options", PasskeySignInOptionsView.as_view()),
    path("account/passkeys", PasskeysView.as_view()),
    path("account/passkeys/options", PasskeyOptionsView.as_view()),
    path("account/passkeys/<str:passkey_id>/remove", PasskeyRemovalView.as_view()),
    path("account/second-factors", SecondFactorsView.as_view()),
    path("account/totp", TotpView.as_view()),
    path("account/totp/confirm", TotpConfirmationView.as_view()),
    path("account/totp/disable", TotpEndView.as_view()),
    path("account/recovery-codes", RecoveryCodesView.as_view()),
    path("account/device-passes", DevicePassView.as_view()),
    path("account/events", AccountEventsView.as_view()),
    path("teams/current", TeamView.as_view()),
    path("teams/current/members", MembersView.as_view()),
    path("teams/current/members/<str:member_id>", MemberView.as_view()),
    path("teams/current/invitations", InvitationsView.as_view()),
    path("teams/current/invitations/<str:invitation_id>", InvitationView.as_view()),
    path("teams/current/invitations/<str:invitation_id>/resend", ResendView.as_view()),
    path("invitations/<str:secret>", OfferView.as_view()),
    path("invitations/<str:secret>/accept", AcceptView.as_view()),
    path("tokens", TokensView.as_view()),
    path("tokens/options", TokenOptionsView.as_view()),
    path("tokens/<str:token_id>", ApiTokenView.as_view()),
    path("service-accounts", ServiceAccountsView.as_view()),
    path("service-accounts/<str:account_id>", ServiceAccountView.as_view()),
    path("audit", AuditView.as_view()),
    path("audit/export", AuditExportView.as_view()),
    path("audit/verification", AuditVerificationView.as_view()),
]
