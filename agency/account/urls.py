"""Pages of people on their way in, and about themselves, below `/account/`."""

from django.urls import path
from django.views.generic import TemplateView

from agency.account import passwords, profile, sign_in

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
    path("profile", profile.Profile.as_view(), name="profile"),
    path("password", profile.ChangePassword.as_view(), name="password"),
]
