"""Routes of the sign-up pages, which answer only on agencies' hosts."""

from django.urls import path

from workspaces.subaccounts.public import confirmation, sign_up

app_name = "sign-up"
urlpatterns = [
    path("sign-up", sign_up.SignUp.as_view(), name="form"),
    path("sign-up/sent", sign_up.Sent.as_view(), name="sent"),
    path("sign-up/confirm/<str:token>", confirmation.open_link, name="confirm-link"),
    path("sign-up/confirm", confirmation.Confirm.as_view(), name="confirm"),
]
