"""The e-mails of sign-up: the link that confirms an address, and the notice that a person already has an account."""

from datetime import datetime
from urllib.parse import urlencode
from uuid import UUID

from django.core import signing
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.urls import reverse

from agency.models import Mail, PendingSignUp, User
from agency.models.agencies import Agency
from agency.services.mail.links import host_for_password, password_path


def sign_up_signer() -> signing.Signer:
    """Return the signer of sign-up links.

    As with invitations, no link is stored: it names the row, and is signed when the e-mail is sent.
    """
    return signing.Signer(salt="agency.sign_up")


def waiting_sign_ups() -> "QuerySet[PendingSignUp]":
    """Return the sign-ups whose address is not looked up yet, in their order."""
    return PendingSignUp.objects.filter(is_looked_up=False).order_by("id")


def queue_confirmation(pending: PendingSignUp) -> Mail:
    """Queue the e-mail with the link that creates person and workspace."""
    return Mail.objects.create(
        kind=Mail.Kind.SIGN_UP_CONFIRMATION,
        recipient=pending.email,
        agency=pending.agency,
        context={
            "sign_up": str(pending.uuid),
            "name": pending.name,
            "agency": pending.agency.name,
            "workspace": pending.business,
        },
        created_at=Now(),
        next_attempt_at=Now(),
    )


def queue_known_address(*, user: User, agency: Agency, may_add: bool) -> Mail:
    """Queue the e-mail that says that an account exists and how to use it; with `may_add` also for a new workspace."""
    return Mail.objects.create(
        kind=Mail.Kind.SIGN_UP_KNOWN_ADDRESS,
        user=user,
        recipient=user.email,
        agency=agency,
        context={"agency": agency.name, "may_add": may_add},
        created_at=Now(),
        next_attempt_at=Now(),
    )


def pending_sign_up_of(mail: Mail) -> PendingSignUp | None:
    """Return the sign-up that an e-mail asks to confirm, while it exists."""
    return PendingSignUp.objects.filter(uuid=mail.context.get("sign_up")).first()


def pending_sign_up_of_link(token: str) -> PendingSignUp | None:
    """Return the sign-up that a link names, whatever its state; None for a made-up link."""
    try:
        uuid = UUID(sign_up_signer().unsign(token))
    except (signing.BadSignature, ValueError):
        return None
    return PendingSignUp.objects.select_related("agency").filter(uuid=uuid).first()


def confirmation_path(mail: Mail) -> str:
    """Return the path at which a sign-up is confirmed."""
    return reverse("sign-up:confirm-link", args=[sign_up_signer().sign(UUID(mail.context["sign_up"]).hex)])


def has_to_choose_a_password(mail: Mail) -> bool:
    return mail.user is not None and not mail.user.has_usable_password()


def known_address_path(mail: Mail) -> str:
    """Return where a person signs in, to add a workspace if they may, or chooses a first password."""
    if mail.user and has_to_choose_a_password(mail):
        return password_path(mail.user, host_for_password(mail))
    query = urlencode({"next": reverse("app:workspace-new")}) if mail.context["may_add"] else ""
    return f"{reverse('account:sign-in')}{query and '?'}{query}"


def confirmation_is_out_of_date(mail: Mail, now: datetime) -> bool:
    """Return whether the link of a confirmation no longer works."""
    pending = pending_sign_up_of(mail)
    return pending is None or pending.confirmed_at is not None or pending.expires_at <= now
