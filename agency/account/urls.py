"""Pages of people on their way in, and about themselves, below `/account/`."""

from django.urls import path
from django.views.generic import TemplateView

import config.api.requests.ids  # noqa: F401 - makes `<id:…>` known
from agency.account import invitations, passwords, profile, sign_in

app_name = "account"
urlpatterns = [
    path("sign-in", sign_in.SignIn.as_view(), name="sign-in"),
    path("sign-out", sign_in.sign_out, name="sign-out"),
    path("password-reset", passwords.PasswordReset.as_view(), name="password-reset"),
    path(
        "password-reset/sent",
        TemplateView.as_view(template_name="account/password_reset_sent.html"),
        name="password-reset-sent",
    ),
    path("set-password/<uidb64>/<token>", passwords.SetPassword.as_view(), name="set-password"),
    path("password-set", TemplateView.as_view(template_name="account/password_set.html"), name="password-set"),
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
    path("password", profile.ChangePassword.as_view(), name="password"),
]
