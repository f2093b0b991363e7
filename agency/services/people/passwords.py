"""How people get and set their passwords: by a link that only their e-mail holds."""

from django.contrib.auth.tokens import default_token_generator
from django.db import transaction

from agency.actors import Actor
from agency.models import Mail, User
from agency.services.activity import record_activity
from agency.services.mail.queue import queue_mail
from config.errors import Conflict


class LinkUsed(Conflict):
    message = "This link no longer works."


def request_password_reset(*, email: str) -> None:
    """Queue the e-mail with a link to set a password, if there is such a person; nothing shows whether there is."""
    user = User.objects.filter(email=email.strip().lower(), is_active=True).first()
    if user:
        queue_mail(kind=Mail.Kind.PASSWORD_RESET, user=user, context={})


@transaction.atomic
def change_password(*, user: User, password: str, by: Actor) -> None:
    """Replace the password of somebody who has just given the old one; every session of theirs ends."""
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    user.set_password(password)
    user.save(update_fields=["password"])
    record_activity(by=by, action="password.changed", agency_id=None, target=("user", user.pk, user.email))


@transaction.atomic
def set_password(*, user: User, token: str, password: str, by: Actor) -> None:
    """Set a password with a link's token, which thereby is used up; every session of the person ends.

    Raises `LinkUsed` for a token that is used, out of date or somebody else's.
    """
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if not user.is_active or not default_token_generator.check_token(user, token):
        raise LinkUsed
    user.set_password(password)
    user.save(update_fields=["password"])
    record_activity(by=by, action="password.set", agency_id=None, target=("user", user.pk, user.email))
