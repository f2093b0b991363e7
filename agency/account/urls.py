"""Pages of people who are on their way in, below `/account/`."""

from django.urls import path
from django.views.generic import TemplateView

from agency.account import passwords, signing

app_name = "account"
urlpatterns = [
    path("sign-in", signing.SignIn.as_view(), name="sign-in"),
    path("sign-out", signing.sign_out, name="sign-out"),
    path("password-reset", passwords.PasswordReset.as_view(), name="password-reset"),
    path(
        "password-reset/sent",
        TemplateView.as_view(template_name="account/password_reset_sent.html"),
        name="password-reset-sent",
    ),
    path("set-password/<uidb64>/<token>", passwords.SetPassword.as_view(), name="set-password"),
    path("password-set", passwords.password_set, name="password-set"),
]
