"""An agency's choices for its e-mails: the sender, the address for answers, its own server, and a test of it."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final, TypedDict, Unpack

from django.db import transaction
from django.db.models.functions import Now

from agency.actors import SYSTEM, Actor
from agency.models import Agency, Mail, MailSettings, User
from agency.services.activity import Changes, record_activity
from agency.services.agencies import MESSAGE, holds_web_address
from agency.services.mail.queue import AGENCY_MAIL_KINDS, mail_settings_for, queue_mail, requeue
from agency.services.mail.transport import NO_FAILURE, Failure, require_reachable
from config.api.text_fields import CONTROLS, ENCODED_WORD, has_unsafe_bidi, is_valid_email
from config.encryption import encrypted_value
from config.errors import Conflict, InvalidInput, NotFound
from config.smtp import Step

SUBMISSION_PORTS: Final = frozenset({465, 587})
LONGEST_SECRET: Final = 500
NO_SERVER: Final[dict[str, object]] = {
    "host": "",
    "port": None,
    "security": "",
    "username": "",
    "password": None,
    "from_address": "",
    "verified_at": None,
    "carries_account_links": False,
}
UNTRIED: Final[dict[str, object]] = {"failures": 0, "resting_until": None, "test_report": {}, **NO_FAILURE}

# The fields whose change is recorded; of the user name and the password only that they changed.
SERVER_FIELDS = ("host", "port", "security", "from_address", "username", "password")


class ServerChanges(TypedDict):
    """An agency's own server; `password` None keeps the stored password."""

    host: str
    port: int
    security: str
    username: str
    password: str | None
    from_address: str


class SenderRefused(InvalidInput):
    """The message says what is wrong with the name."""

    field = "sender_name"


class PortRefused(InvalidInput):
    field = "port"
    message = "The port must be 465, 587 or one from 1024 to 65535."


class PasswordNeeded(InvalidInput):
    field = "password"
    message = "Type the password again: it was given for another server or user name."


class MailNotFound(NotFound):
    message = "E-mail not found."


def mail_settings_of(agency: Agency) -> MailSettings:
    """Return the agency's mail settings; without a saved row, the agency's name and the installation's server."""
    return MailSettings.objects.filter(agency=agency).first() or MailSettings(agency=agency)


def locked_mail_settings(agency: Agency) -> MailSettings:
    """Lock the agency's row, creating it the first time; the caller is inside a transaction."""
    MailSettings.objects.bulk_create([MailSettings(agency=agency)], ignore_conflicts=True)
    return MailSettings.objects.select_for_update(no_key=True, of=("self",)).get(agency=agency)


@transaction.atomic
def change_sender(*, agency: Agency, sender_name: str, reply_to: str, by: Actor) -> None:
    """Set the sender's name, empty for the agency's name, and the address for answers."""
    sender_name, reply_to = sender_name.strip(), reply_to.strip().lower()
    is_written_plainly = "@" not in sender_name and ENCODED_WORD not in sender_name
    if not is_written_plainly or CONTROLS.search(sender_name) or has_unsafe_bidi(sender_name):
        raise SenderRefused("The name must be plain text, without an e-mail address.")
    if holds_web_address(sender_name):
        raise SenderRefused(MESSAGE)
    if reply_to:
        _require_address("reply_to", reply_to)
    settings = locked_mail_settings(agency)
    if (settings.sender_name, settings.reply_to) == (sender_name, reply_to):
        return
    changes = {"sender_name": (settings.sender_name, sender_name), "reply_to": (settings.reply_to, reply_to)}
    settings.sender_name, settings.reply_to = sender_name, reply_to
    settings.save(update_fields=["sender_name", "reply_to"])
    record_mail_activity(agency, "mail.sender_changed", by, changes)


def change_mail_server(*, agency: Agency, by: Actor, **server: Unpack[ServerChanges]) -> None:
    """Set the agency's own server; it is used once it has accepted a test e-mail and support allows it.

    Raises `ServerRefused`, `PortRefused` and `PasswordNeeded`. Looks the server's name up, so it must not be called
    inside a transaction.
    """
    if server["port"] not in SUBMISSION_PORTS and not 1024 <= server["port"] <= 65535:
        raise PortRefused
    if server["security"] not in MailSettings.Security.values:
        raise InvalidInput("Choose how the connection is encrypted.", field="security")
    _require_address("from_address", server["from_address"])
    _require_ascii(username=server["username"], password=server["password"] or "")
    host = require_reachable(server["host"].strip(), server["port"])
    with transaction.atomic():
        settings = locked_mail_settings(agency)
        secret = _password_for(settings, host, server)
        is_same = _place_of(settings) == (host, server["port"], server["username"])
        values = {
            **server,
            "host": host,
            "from_address": _in_ascii(server["from_address"].strip().lower()),
            "password": secret,
            "carries_account_links": settings.carries_account_links and is_same,
        }
        MailSettings.objects.filter(pk=settings.pk).update(**NO_SERVER | values | UNTRIED, changed_at=Now())
        record_mail_activity(
            agency, "mail.server_changed", by, {name: (getattr(settings, name), values[name]) for name in SERVER_FIELDS}
        )


@transaction.atomic
def remove_mail_server(*, agency: Agency, by: Actor) -> None:
    """Go back to the installation's server; if the agency has no server of its own, nothing changes."""
    settings = locked_mail_settings(agency)
    if settings.has_server:
        MailSettings.objects.filter(pk=settings.pk).update(**NO_SERVER, **UNTRIED, changed_at=Now())
        record_mail_activity(agency, "mail.server_removed", by, host=settings.host)


@transaction.atomic
def set_carries_account_links(*, settings: MailSettings, allowed: bool, by: Actor) -> None:
    """Set, as support, whether an agency's own server may carry its e-mails, whose links make accounts."""
    rows = MailSettings.objects.filter(pk=settings.pk).exclude(host="")
    if rows.exclude(carries_account_links=allowed).update(carries_account_links=allowed):
        action = "mail.server_trusted" if allowed else "mail.server_trust_ended"
        record_mail_activity(settings.agency, action, by, host=settings.host)


@transaction.atomic
def send_mail_again(*, agency: Agency, pk: int, now: datetime, by: Actor) -> Mail:
    """Queue a given-up e-mail again. Raises `MailNotFound` for any other e-mail, or if it was queued again already."""
    again = requeue(Mail.objects.filter(agency=agency, pk=pk, kind__in=AGENCY_MAIL_KINDS), now)
    if again is None:
        raise MailNotFound
    record_mail_activity(agency, "mail.queued_again", by, kind=again.kind)
    return again


def _place_of(settings: MailSettings) -> tuple[str, int | None, str]:
    """Return what passwords and support's permission are valid for: a server, and the name to sign in with."""
    return settings.host, settings.port, settings.username


def _password_for(settings: MailSettings, host: str, server: ServerChanges) -> object:
    """Return the password's ciphertext: of a new password, or the one stored for the same server and user name."""
    if not server["username"]:
        return None
    if server["password"]:
        return encrypted_value(settings, "password", server["password"])
    if _place_of(settings) != (host, server["port"], server["username"]):
        raise PasswordNeeded
    return settings.__dict__["password"]


def _require_address(field: str, address: str) -> None:
    if not is_valid_email(address.strip()):
        raise InvalidInput("Enter a valid e-mail address.", field=field)


def _require_ascii(**credentials: str) -> None:
    """Raise `InvalidInput` for credentials that are not ASCII, as servers get them in ASCII."""
    for field, text in credentials.items():
        if not text.isascii():
            raise InvalidInput("Only letters, digits and signs of ASCII can be sent to a mail server.", field=field)


def _in_ascii(address: str) -> str:
    """Return an address with its domain as the DNS names it (IDNA)."""
    local, _, domain = address.rpartition("@")
    return f"{local}@{domain.encode('idna').decode()}"


def record_mail_activity(
    agency: Agency, action: str, by: Actor, changes: Changes | None = None, **details: object
) -> None:
    target = ("agency", agency.uuid, agency.name)
    record_activity(by=by, action=action, agency_id=agency.pk, target=target, details=details or None, changes=changes)


TEST_PAUSE: Final = timedelta(seconds=15)
# A test that could not be sent for so long is no longer of use to anybody.
TEST_LASTS: Final = timedelta(minutes=10)


class JustTested(Conflict):
    message = "A test e-mail was asked for a moment ago. Try again in 15 seconds."


@transaction.atomic
def request_test_mail(*, agency: Agency, user: User, now: datetime, by: Actor) -> Mail:
    """Queue a test e-mail to a person, in place of an unsent earlier one. Raises `JustTested`."""
    settings = locked_mail_settings(agency)
    if settings.tested_at and settings.tested_at > now - TEST_PAUSE:
        raise JustTested
    earlier = Mail.objects.filter(agency=agency, kind=Mail.Kind.TEST, sent_at=None, given_up_at=None)
    earlier.update(given_up_at=now)
    settings.tested_at, settings.test_report = now, {"to": user.email}
    settings.save(update_fields=["tested_at", "test_report"])
    record_mail_activity(agency, "mail.test_requested", by)
    return queue_mail(kind=Mail.Kind.TEST, user=user, agency=agency, context={})


@transaction.atomic
def record_test_mail(
    *, mail: Mail, server: MailSettings | None, failure: Failure | None, steps: Iterable[Step], now: datetime
) -> None:
    """Record how each step of a test went; an agency's own server that accepted it may be used from now on.

    A test is not tried again: the person who asked for it reads the report, and may ask once more.
    """
    columns = {} if failure is None else failure.columns()
    tested = mail_settings_for(mail)
    if tested is not None and mail.agency is not None:
        report = {"to": mail.recipient, "steps": [step.value for step in steps], **columns}
        values: dict[str, object] = {"test_report": report, "tested_at": now}
        if server and failure is None:
            values |= {"verified_at": now, "failures": 0, "resting_until": None, **NO_FAILURE}
        # Settings that were changed meanwhile were not tested.
        MailSettings.objects.filter(pk=tested.pk, changed_at=tested.changed_at, host=tested.host).update(**values)
        record_mail_activity(mail.agency, "mail.test_sent" if failure is None else "mail.test_failed", SYSTEM)
    outcome = {"sent_at": now, **NO_FAILURE} if failure is None else {"given_up_at": now, "failed_at": now}
    Mail.objects.filter(pk=mail.pk).update(by_own_server=server is not None, **outcome, **columns)


def waits_for_test(settings: MailSettings, now: datetime) -> bool:
    """Return whether a test e-mail was requested whose report is not there yet."""
    has_no_report = bool(settings.test_report) and "steps" not in settings.test_report
    return has_no_report and settings.tested_at is not None and settings.tested_at > now - TEST_LASTS
