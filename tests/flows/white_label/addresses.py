"""The address of every page that somebody may meet on an agency's host. A route that stands nowhere here fails."""

from collections.abc import Iterator
from typing import Any

from django.contrib.auth.tokens import default_token_generator
from django.urls import URLResolver, get_resolver, reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Member, User
from agency.services import change_sign_up
from agency.services.mail.content import sign_up_signer
from channelconnect.services.sessions.ending import connect_url
from tests.agency.console import test_access as console
from tests.broadcasts.under_way import a_broadcast
from tests.channelconnect.agencies import a_session, switch_on
from tests.factories import a_file
from tests.factories.appointments import AppointmentFactory
from tests.factories.finance import an_issued_invoice
from tests.packs.console import test_access as packs
from tests.page_walk import ids_of_pages
from tests.tenants import Tenant
from tests.webhooks.console import test_access as webhooks
from tests.workspaces.appointments.public.salons import Visitor, a_class, a_salon, classes_page
from tests.workspaces.automations.console import test_access as ai_accounts
from tests.workspaces.subaccounts.dashboard import pages as dashboard
from workspaces.appointments.models import VisitorBooking
from workspaces.appointments.services.calendar_feeds import create_feed
from workspaces.subaccounts.services.signing_up import NewBusiness, request_sign_up

# Everything that is mounted under a name of its own. The admin is not there on an agency's host.
NAMESPACES = {
    "account",
    "admin",
    "agency-api",
    "app",
    "book",
    "brand",
    "calendar",
    "connect",
    "console",
    "links",
    "media",
    "pay",
    "sign-up",
    "workspace-api",
}
# The event stream of an open page ends when the page is left.
ENDLESS = {"app:inbox-stream"}
OTHERS = ["/", "/console", "/app", "/admin", "/admin/", "/nothing-here", "/l/unknown", "/media/unknown/a.pdf"]
DOCUMENTS = [
    "/api/docs/agency",
    "/api/docs/workspace",
    "/api/agency/v1/openapi.json",
    "/api/v1/openapi.json",
    "/api/nothing-here",
]


def namespaces() -> set[str]:
    return {one.namespace for one in get_resolver().url_patterns if isinstance(one, URLResolver) and one.namespace}


def names_in(namespace: str) -> set[str]:
    _, resolver = get_resolver().namespace_dict[namespace]
    return {name for name in resolver.reverse_dict if isinstance(name, str)}


def of_console(tenant: Tenant) -> dict[str, str]:
    """Every page of the console by its name."""
    own = console.PAGES | packs.PAGES | webhooks.PAGES | ai_accounts.PAGES
    own_ids = ids_of_pages(tenant, {name: page.ids for name, page in own.items()})
    made = {name: reverse(f"console:{name}", args=found) for name, found in own_ids.items()}
    connect = [tenant.workspace.uuid]
    ids: dict[str, list[Any]] = {
        "switch": [],
        "channel-connect": [],
        "channel-connect-return-urls": [],
        "channel-connect-start": [],
        "channel-connect-start-for": connect,
        "channel-connect-cancel": [a_session(switch_on(tenant)).uuid],
        "broadcasts": [],
        "finance": [],
        "broadcast": [a_broadcast(channel=tenant.channel, name=f"Broadcast {tenant.mark}").uuid],
    }
    return made | {name: reverse(f"console:{name}", args=found) for name, found in ids.items()}


def statuses_at_console(role: str) -> dict[str, int]:
    """What somebody of the agency in this role is answered at every page of the console."""
    found = {name: console.seen(page, role) for name, page in console.PAGES.items()}
    found |= {name: packs.seen(name, role) for name in packs.PAGES}
    found |= {name: webhooks.seen(page, role) for name, page in (webhooks.PAGES | ai_accounts.PAGES).items()}
    return found | {
        "switch": 302,
        "channel-connect": 200,
        "channel-connect-return-urls": 200,
        "channel-connect-start": 200,
        "channel-connect-start-for": 200,
        "channel-connect-cancel": 302,
        "broadcasts": 200,
        "broadcast": 200,
        "finance": 200,
    }


def of_dashboard(tenant: Tenant) -> dict[str, str]:
    """Every page of the dashboard by its name. Pages of the same thing share it."""
    pages = dashboard.PAGES | dashboard.LANDING
    ids = ids_of_pages(tenant, {name: page.ids for name, page in pages.items()})
    return {name: reverse(f"app:{name}", args=found) for name, found in ids.items()}


def of_account(tenant: Tenant, person: User) -> dict[str, str]:
    """Every page about accounts by its name."""
    uid, token = urlsafe_base64_encode(force_bytes(person.pk)), default_token_generator.make_token(person)
    own = Member.objects.filter(user=person, agency=tenant.agency).first()
    ids: dict[str, list[Any]] = {
        "set-password": [uid, token],
        "invitation-link": ["unknown"],
        "invitation-accept": [tenant.workspace.uuid],
        "invitation-decline": [tenant.workspace.uuid],
        "leave-team": [own.pk if own else 0],
    }
    return {name: reverse(f"account:{name}", args=ids.get(name, [])) for name in names_in("account")}


def of_sign_up(tenant: Tenant) -> dict[str, str]:
    """Every page of a new customer's way by its name, where the agency has opened it."""
    change_sign_up(agency=tenant.agency, plan=tenant.plan, is_on=True, allows_further_workspaces=True, by=SYSTEM)
    business = NewBusiness(name="Shop", business_type="", timezone="UTC")
    email = f"new-{tenant.mark}@example.com"
    made = request_sign_up(
        agency=tenant.agency, name="Ada", email=email, password="a-long-battery", business=business, now=now()
    )
    ids: dict[str, list[Any]] = {"confirm-link": [sign_up_signer().sign(made.hex)]}
    names = ("form", "sent", "confirm-link", "confirm")
    assert {*names} == names_in("sign-up")
    return {name: reverse(f"sign-up:{name}", args=ids.get(name, [])) for name in names}


def of_connecting(tenant: Tenant) -> dict[str, str]:
    """Every page of the way through a connection by its name."""
    session = a_session(switch_on(tenant))
    link = (connect_url(session, now=now()) or "").rpartition("/")[2]
    by_link, alone = {"landing", "continue", "cancel"}, {"callback", "provider-events"}
    names = names_in("connect")
    return {
        name: reverse(f"connect:{name}", args=[] if name in alone else [link] if name in by_link else [session.uuid])
        for name in names
    }


def of_booking(tenant: Tenant) -> dict[str, str]:
    """Every page of a visitor's way through a booking by its name. Somebody else has booked and pays a deposit."""
    salon, visitor = a_salon(tenant.agency, name=f"Salon {tenant.mark}"), Visitor()
    manage = visitor.book(salon)
    token, booking = manage.split("/")[3], VisitorBooking.objects.latest("id").uuid
    by_link = {"manage", "calendar-file", "move-times", "move", "cancel"}
    ids: dict[str, list[Any]] = {
        "services": [salon.slug],
        "code": [salon.slug, booking],
        "deposit": [salon.slug, booking],
        "times": [salon.slug, salon.service.uuid],
    }
    names = names_in("book") - {"details", "classes", "class", "seat", "seat-file", "give-back"}
    pages = {name: reverse(f"book:{name}", args=[token] if name in by_link else ids[name]) for name in names}
    session = a_class(salon)
    seat = visitor.book_class(session)
    pages |= {"classes": classes_page(session), "class": visitor.class_link(session)}
    pages |= {"seat": seat, "seat-file": f"{seat}/class.ics", "give-back": f"{seat}/give-back"}
    return pages | {"details": visitor.first_time(salon)}


def of_paying(tenant: Tenant) -> dict[str, str]:
    """Every page of the payer of an invoice by its name."""
    invoice = an_issued_invoice(tenant.workspace, contact=tenant.contact)
    return {
        name: reverse(f"pay:{name}", args=[tenant.workspace.uuid if name == "stripe" else invoice.token])
        for name in names_in("pay")
    }


def of_calendar(tenant: Tenant) -> dict[str, str]:
    """The secret address of a staff member's calendar, with an appointment in it."""
    booked = AppointmentFactory.create(workspace=tenant.workspace)
    feed = create_feed(staff=booked.staff, now=now(), by=SYSTEM)
    return {name: reverse(f"calendar:{name}", args=[feed.token]) for name in names_in("calendar")}


def of_files(tenant: Tenant) -> Iterator[str]:
    yield a_file(tenant.workspace, filename=f"{tenant.mark}.pdf").path
