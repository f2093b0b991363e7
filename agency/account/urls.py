"""URLs below `/account/`: signing in, and a person's own account."""

from django.urls import path
from django.views.generic import TemplateView

from agency.account import alerts, invitations, profile, security, sign_in_views
from agency.account import sign_in_views as sign_in
from agency.account import sign_in_views as sign_in_code

app_name = "account"
urlpatterns = [
    path("sign-in", sign_in.SignIn.as_view(), name="sign-in"),
    path("sign-out", sign_in.sign_out, name="sign-out"),
    path("password-reset", sign_in_views.PasswordReset.as_view(), name="password-reset"),
    path(
        "password-reset/sent",
        TemplateView.as_view(template_name="account/password_reset_sent.html"),
        name="password-reset-sent",
    ),
    path("set-password/<uidb64>/<token>", sign_in_views.SetPassword.as_view(), name="set-password"),
    path("invitation/<str:token>", invitations.open_link, name="invitation-link"),
    path("invitation", invitations.AnswerLink.as_view(), name="invitation"),
    path("invitations", invitations.Invitations.as_view(), name="invitations"),
    path(
        "invitations/<id:uuid>/accept",
        invitations.AnswerInvitation.as_view(),
        {"answer": "accept"},
        name="invitation-accept",
    ),
    path(
        "invitations/<id:uuid>/decline",
        invitations.AnswerInvitation.as_view(),
        {"answer": "decline"},
        name="invitation-decline",
    ),
    path("teams/<int:pk>/leave", invitations.LeaveTeam.as_view(), name="leave-team"),
    path("profile", profile.Profile.as_view(), name="profile"),
    path("alerts", alerts.Alerts.as_view(), name="alerts"),
    path("alerts/add", alerts.AddDevice.as_view(), name="alerts-add"),
    path("alerts/renew", alerts.RenewDevice.as_view(), name="alerts-renew"),
    path("alerts/remove", alerts.RemoveDevice.as_view(), name="alerts-remove"),
    path("alerts/test", alerts.SendTest.as_view(), name="alerts-test"),
    path("code", sign_in_code.SignInCode.as_view(), name="code"),
    path("recovery-code", sign_in_code.SignInRecoveryCode.as_view(), name="recovery-code"),
    path("security", security.Security.as_view(), name="security"),
    path("sessions/end", security.EndSession.as_view(), name="session-end"),
    path("sessions/end-others", security.EndOtherSessions.as_view(), name="sessions-end"),
    path("two-factor/begin", security.BeginTwoFactor.as_view(), name="two-factor-begin"),
    path("two-factor/set-up", security.SetUpTwoFactor.as_view(), name="two-factor-set-up"),
    path("two-factor/recovery-codes", security.NewRecoveryCodes.as_view(), name="recovery-codes"),
    path("two-factor/off", security.SwitchTwoFactorOff.as_view(), name="two-factor-off"),
    path("password", profile.ChangePassword.as_view(), name="password"),
]
