"""One e-mail of each kind and state, with the facts of a real day."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final, NamedTuple
from uuid import uuid4

from django.core.mail import EmailMultiAlternatives
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Agency, Invitation, Mail, User
from agency.services.mail.content import link_of, render_mail
from tests.factories import ClassSessionFactory, ContactFactory, PendingSignUpFactory, UserFactory, WorkspaceFactory
from tests.factories.appointments import AppointmentFactory
from tests.factories.finance import an_issued_invoice
from workspaces.appointments.services.mails import queue_about
from workspaces.classes.services import add_participant, join_waiting_list, remove_participant
from workspaces.subaccounts.models import Workspace

Kind = Mail.Kind
Context = dict[str, Any]
READER: Final = "Ada Lovelace"
SALON: Final = "Corner Salon & Spa, Donaudampfschifffahrtsstraße"
BROWSER: Final = {"browser": "Firefox 143 on Windows", "address": "2001:db8:85a3:8d3:1319:8a2e:370:7348"}
CHANNEL_LOST: Final[Context] = {
    "kind": "channel.lost",
    "data": {"channel": "Front desk", "workspace": SALON},
    "about": SALON,
}
BLANK_LINE: Final = "\n\n"


class Sample(NamedTuple):
    """An e-mail and its link, as a mail worker has them."""

    name: str
    mail: Mail
    link: str

    def render(self, language: str) -> EmailMultiAlternatives:
        self.mail.context["language"] = language
        if self.mail.user:
            self.mail.user.language = language
        return render_mail(self.mail, link=self.link)


def html_of(message: EmailMultiAlternatives) -> str:
    [(content, kind)] = message.alternatives
    assert kind == "text/html"
    return str(content)


def every_mail(agency: Agency) -> list[Sample]:
    """Give an e-mail of each kind, and of each state in which a kind says something else."""
    reader, newcomer = UserFactory.create(name=READER, password="-"), UserFactory.create(name=READER)
    newcomer.set_unusable_password()
    rows = [*_to_accounts(agency, reader, newcomer), *_invitations(agency), *_to_customers(agency)]
    return [Sample(name, mail, link_of(mail)) for name, mail in rows]


def _to_accounts(agency: Agency, reader: User, newcomer: User) -> Iterator[tuple[str, Mail]]:
    names = {"agency": agency.name, "workspace": SALON}
    domain = {"host": "app.bright.example", "record": "_verify.app.bright.example", "domain": str(uuid4())}
    gone = {**domain, "has_ended": True, "day": None}
    pending = PendingSignUpFactory.create(agency=agency, is_looked_up=True, name=READER)
    contexts: list[tuple[str, Kind, Context]] = [
        ("", Kind.OWNER_INVITATION, names),
        ("", Kind.SIGN_UP_CONFIRMATION, {**names, "name": READER, "sign_up": str(pending.uuid)}),
        ("", Kind.SIGN_UP_KNOWN_ADDRESS, {**names, "may_add": True}),
        ("only to sign in", Kind.SIGN_UP_KNOWN_ADDRESS, {**names, "may_add": False}),
        ("", Kind.PASSWORD_RESET, {}),
        *(("is " + state, Kind.TWO_FACTOR_CHANGED, {"change": state}) for state in ("on", "off", "reset")),
        ("", Kind.RECOVERY_CODE_USED, {"left": 3}),
        ("", Kind.NEW_SIGN_IN, BROWSER),
        ("", Kind.DOMAIN_RECORD_MISSING, {**domain, "has_ended": False, "day": "2100-01-14"}),
        ("has ended", Kind.DOMAIN_RECORD_MISSING, gone),
        ("is taken", Kind.DOMAIN_RECORD_MISSING, {**gone, "is_taken": True}),
        ("", Kind.AGENCY_MESSAGE, {**names, "text": f"Hello!{BLANK_LINE}We close on Monday:\nhttps://example.com/a"}),
        ("", Kind.NOTIFICATION, {**CHANNEL_LOST, "object_id": str(uuid4())}),
        ("", Kind.NOTIFICATION_DIGEST, {"lines": [CHANNEL_LOST, {**CHANNEL_LOST, "about": ""}], "more": 7}),
        ("", Kind.TEST, {}),
    ]
    for state, kind, context in contexts:
        yield f"{kind} {state}".strip(), _a_mail(kind, context, agency, user=reader)
    yield "sign_up_known_address with a password", _a_mail(Kind.SIGN_UP_KNOWN_ADDRESS, names, agency, user=newcomer)
    yield "password_reset of the installation", _a_mail(Kind.PASSWORD_RESET, {}, None, user=reader)


def _invitations(agency: Agency) -> Iterator[tuple[str, Mail]]:
    names = {"agency": agency.name, "workspace": SALON}
    for kind in (Kind.OWNERSHIP_INVITATION, Kind.WORKSPACE_INVITATION):
        yield kind, _a_mail(kind, names, agency, invitation=Invitation(agency=agency, role="owner"))
    for role in ("owner", "admin", "viewer"):
        invitation = Invitation(agency=agency, role=role)
        yield f"member_invitation {role}", _a_mail(Kind.MEMBER_INVITATION, names, agency, invitation=invitation)


def _to_customers(agency: Agency) -> Iterator[tuple[str, Mail]]:
    workspace = WorkspaceFactory.create(agency=agency, name=SALON, timezone="America/Sao_Paulo")
    about, seat = _bookings(workspace)
    code = {"slug": "salon", "booking": str(uuid4()), "business": SALON}
    contexts = {
        Kind.BOOKING_CODE: code,
        Kind.APPOINTMENT_BOOKED: about,
        Kind.APPOINTMENT_CHANGED: about,
        Kind.APPOINTMENT_CANCELLED: about,
        Kind.DEPOSIT_REFUNDED: {**about, "slug": "salon"},
        Kind.SEAT_BOOKED: seat,
        Kind.SEAT_WAITING: {**seat, "in_calendar": False},
        Kind.SEAT_MOVED_UP: seat,
        Kind.SEAT_CANCELLED: seat,
        Kind.CLASS_CHANGED: {**seat, "staff": ""},
        Kind.CLASS_CANCELLED: seat,
        Kind.INVOICE: {"invoice": str(an_issued_invoice(workspace).uuid)},
    }
    for kind, context in contexts.items():
        yield kind, _a_mail(kind, context, agency)


def _bookings(workspace: Workspace) -> tuple[Context, Context]:
    """What an e-mail about an appointment stores, and one about a seat."""
    contact, other = (
        ContactFactory.create(workspace=workspace, email=f"{name}@example.com") for name in ("ada", "charles")
    )
    told = queue_about(AppointmentFactory.create(workspace=workspace, contact=contact), Kind.APPOINTMENT_BOOKED)
    assert told is not None
    session = ClassSessionFactory.create(workspace=workspace, capacity=1, starts_at=now() + timedelta(days=3))
    add_participant(session=session, contact=other, now=now())
    join_waiting_list(session=session, contact=contact, now=now())
    remove_participant(session=session, contact=other, now=now(), by=SYSTEM)
    return told.context, Mail.objects.get(agency=workspace.agency, kind=Kind.SEAT_MOVED_UP).context


def _a_mail(
    kind: str,
    context: Context,
    agency: Agency | None,
    *,
    user: User | None = None,
    invitation: Invitation | None = None,
) -> Mail:
    """Give an e-mail that is not stored, with a context of its own."""
    recipient = user.email if user else "ada@example.com"
    return Mail(kind=kind, context={**context}, agency=agency, user=user, invitation=invitation, recipient=recipient)
