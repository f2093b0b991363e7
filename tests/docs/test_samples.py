"""Every sample of the reference pages works: run in the pages' order on what `make run` begins with.

What stands in capitals and ends in `_ID` is filled in with the id of what was made last of its kind.
"""

import html
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import pytest
from django.db.models import F, QuerySet
from django.utils.timezone import now
from pytest_django.live_server_helper import LiveServer

from agency.actors import SYSTEM
from agency.models import Addon, Plan
from broadcasts.models import Broadcast
from channelconnect.models import ConnectSession
from config.api.documents.building import WORKSPACE
from packs.models import Pack, PackEntry
from tests.broadcasts.making import bring_to
from tests.docs.demo_system import DemoSystem
from tests.docs.repeated_requests import repeated_requests
from tests.docs.sample_runners import runner_of
from tests.factories import ContactFactory, ServiceFactory, StaffFactory
from tests.factories.appointments import AppointmentFactory, a_time_off, move_to_the_past, tomorrow
from tests.factories.finance import InvoiceFactory, a_line, a_payout, pay_in_cash
from tests.factories.flows import a_flow
from tests.tenants import Api
from tests.workspaces.automations.runs import fail_run
from webhooks.models import Delivery, Endpoint
from workspaces.appointments.models import Appointment, TimeOff
from workspaces.automations.models import Automation, AutomationRun
from workspaces.automations.services import publish_automation
from workspaces.catalogue.models import Product, Service, ServiceCategory, Staff
from workspaces.classes.models import ClassSeries, ClassSession
from workspaces.classes.services import add_participant, join_waiting_list
from workspaces.contacts.models import Contact, Segment
from workspaces.conversations.models import Conversation
from workspaces.finance.models import Invoice, Payment, Payout, TaxRate
from workspaces.finance.models.parties import Party
from workspaces.finance.services.invoices import issue_invoice
from workspaces.media.models import Media
from workspaces.subaccounts.models import Channel, Workspace, WorkspaceKey

pytestmark = pytest.mark.slow

# The samples of the workspace surface come first: those of the agency disconnect the workspace's channel.
PAGES = {"workspace": ["workspace", *(f"workspace/{slug}" for slug in WORKSPACE.apart)], "agency": ["agency"]}
PROGRAMS = {"curl": "curl", "node": "node", "python": "python3"}
OPERATION = re.compile(r'<article class="operation" id="(\w+)".*?</article>', re.DOTALL)
PLACEHOLDER = re.compile(r"\b(?:[A-Z]+(?:_[A-Z]+)*_(?:ID|TIME)|YOUR_URL)\b")
# Times of appointments, in the samples and here.
TIMES = {
    "FROM_TIME": tomorrow(9),
    "TO_TIME": tomorrow(17),
    "2100-12-01T09:00:00Z": tomorrow(12),
    "2100-12-01T10:00:00Z": tomorrow(14),
}
# The date in a sample from which a series changes, and the zone by whose clock the sample's series starts.
CHANGE_DATE, SERIES_ZONE = "2100-12-08", ZoneInfo("Europe/Berlin")
NEWEST: dict[str, QuerySet[Any]] = {
    "ADDON": Addon.objects.filter(archived_at=None),
    "APPOINTMENT": Appointment.objects.all(),
    "AUTOMATION": Automation.objects.all(),
    "BROADCAST": Broadcast.objects.all(),
    "CATEGORY": ServiceCategory.objects.all(),
    "CHANNEL": Channel.objects.all(),
    "CONNECTION": ConnectSession.objects.all(),
    "CONTACT": Contact.objects.all(),
    "CONVERSATION": Conversation.objects.all(),
    "DELIVERY": Delivery.objects.all(),
    "ENTRY": PackEntry.objects.all(),
    "INVOICE": Invoice.objects.filter(kind="invoice"),
    "KEY": WorkspaceKey.objects.live(),
    "MEDIA": Media.objects.all(),
    "PACK": Pack.objects.all(),
    "PAYMENT": Payment.objects.all(),
    "PAYOUT": Payout.objects.all(),
    "PLAN": Plan.objects.filter(archived_at=None),
    "RUN": AutomationRun.objects.all(),
    "PRODUCT": Product.objects.filter(deleted_at=None),
    "SEGMENT": Segment.objects.all(),
    "SERVICE": Service.objects.filter(deleted_at=None),
    "SERIES": ClassSeries.objects.all(),
    "SESSION": ClassSession.objects.all(),
    "STAFF": Staff.objects.filter(deleted_at=None),
    "TIME_OFF": TimeOff.objects.all(),
    "TAX_RATE": TaxRate.objects.all(),
    "WEBHOOK": Endpoint.objects.all(),
    "WORKSPACE": Workspace.objects.all(),
}
# The workspace that has a channel, and automations.
OF_THE_DEMO_WORKSPACE = ("readSubAccountChannel", "disconnectSubAccountChannel", "previewImport")
# What takes effect only while a broadcast is on its way: it would be over before anybody has pressed Enter.
STATES = {
    "pauseBroadcast": "sending",
    "resumeBroadcast": "paused",
    "cancelBroadcast": "sending",
    "deleteBroadcast": "Draft",
}


# The status of the invoice that they need.
OF_INVOICES = {
    "updateInvoice": "draft",
    "deleteInvoice": "draft",
    "issueInvoice": "draft",
    "sendInvoice": "open",
    "voidInvoice": "open",
    "creditInvoice": "open",
    "readInvoicePdf": "open",
    "listPayments": "open",
    "recordPayment": "open",
    "listRefunds": "paid",
    "refundPayment": "paid",
}


class Shown(NamedTuple):
    operation: str
    samples: dict[str, str]


def shown_on(page: str) -> Iterator[Shown]:
    for article in OPERATION.finditer(page):
        samples = dict(re.findall(r'<pre class="(curl|python|node)">(.*?)</pre>', article[0], re.DOTALL))
        if samples:
            yield Shown(article[1], {language: html.unescape(text) for language, text in samples.items()})


def prepare_automation(operation: str) -> None:
    """Let the newest automation be ready, and its newest run in a state that allows the operation."""
    newest = Automation.objects.filter(pk__in=Automation.objects.order_by("-id").values("pk")[:1])
    if operation == "enableAutomation":
        flow = a_flow()  # the newest one of the demonstration has steps that cannot run yet
        newest.update(requires=[], slots=[], draft=flow)
        publish_automation(automation=newest.get(), now=now(), by=SYSTEM)
        newest.update(requires=[])
    if operation == "startRun":
        newest.update(enabled=True)
    if operation == "retryRun":
        fail_run(AutomationRun.objects.latest("id"))


def prepare_appointment(workspace: Workspace, operation: str) -> None:
    """Let there be a new appointment, of the newest service, with the newest staff member."""
    if operation.endswith(("Appointment", "FreeTimes", "TimeOff")):
        booked = AppointmentFactory.create(workspace=workspace, contact=Contact.objects.of(workspace).latest("id"))
        a_time_off(booked.staff)
        if operation in ("completeAppointment", "missAppointment"):
            move_to_the_past(booked)


def prepare_catalogue(workspace: Workspace, operation: str) -> None:
    """Let there be a new service or staff member with whom no appointment is booked."""
    if operation in ("scheduleClass", "deleteService"):
        ServiceFactory.create(workspace=workspace, kind="class")
    if operation == "deleteStaff":
        StaffFactory.create(workspace=workspace)


def prepare_class(workspace: Workspace, operation: str) -> None:
    """Let there be a new contact, with a seat in the newest class or, as it is full, on its waiting list or not yet."""
    if operation not in ("joinWaitingList", "leaveWaitingList", "removeParticipant"):
        return
    contact, newest = ContactFactory.create(workspace=workspace), ClassSession.objects.order_by("-id")
    free_seats = 1 if operation == "removeParticipant" else 0
    ClassSession.objects.filter(pk=newest[0].pk).update(capacity=F("participants_count") + free_seats)
    if operation == "removeParticipant":
        add_participant(session=newest[0], contact=contact, now=now())
    if operation == "leaveWaitingList":
        join_waiting_list(session=newest[0], contact=contact, now=now())


def prepare_invoice(workspace: Workspace, operation: str) -> None:
    """Let the newest invoice be in a state that allows the operation, or let there be a payout."""
    if operation in {"readPayout", "listPayoutTransactions"}:
        a_payout(workspace)
    if operation in OF_INVOICES:
        contact, buyer = Contact.objects.of(workspace).latest("id"), Party(name="Ada", email="ada@example.com")
        invoice = InvoiceFactory.create(workspace=workspace, contact=contact, buyer=buyer, lines=[a_line("500")])
        if OF_INVOICES[operation] != "draft":
            invoice = issue_invoice(invoice=invoice, now=now(), by=SYSTEM)
        if OF_INVOICES[operation] == "paid":
            pay_in_cash(invoice, invoice.total)


class System(DemoSystem):
    """With somebody at it who fills in what the samples leave to the reader."""

    def filled(self, scripts: dict[str, str], operation: str) -> dict[str, str]:
        """Fill in what stands in capitals, as somebody would who has the thing at hand: the same in each language."""
        if operation in STATES:
            bring_to({"id": self._id("BROADCAST_ID", operation)}, STATES[operation])
        prepare_automation(operation)
        prepare_invoice(self.workspace, operation)
        prepare_appointment(self.workspace, operation)
        prepare_catalogue(self.workspace, operation)
        prepare_class(self.workspace, operation)
        Broadcast.objects.update(requires_approval=operation == "approveBroadcast")
        return {language: self._filled(script, operation) for language, script in scripts.items()}

    def _filled(self, script: str, operation: str) -> str:
        for shown in TIMES:
            script = script.replace(shown, f"{TIMES[shown]:%Y-%m-%dT%H:%M:%SZ}")
        script = script.replace(CHANGE_DATE, f"{now().astimezone(SERIES_ZONE):%Y-%m-%d}")
        return PLACEHOLDER.sub(lambda found: self._id(found[0], operation), script)

    def _id(self, placeholder: str, operation: str) -> str:
        if placeholder == "YOUR_URL":
            return "https://93.184.215.14/hooks"
        if placeholder == "WORKSPACE_ID" and operation in OF_THE_DEMO_WORKSPACE:
            return str(self.workspace.uuid)
        is_other = placeholder.startswith("OTHER_")
        rows = NEWEST[placeholder.removeprefix("OTHER_").removesuffix("_ID")].order_by("-id")
        found = [str(row.uuid) for row in rows[: 1 + is_other]]
        return found[-1] if found else f"no-{placeholder}"


def installed_languages() -> list[str]:
    return [language for language, program in PROGRAMS.items() if shutil.which(program)]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("counters_forgotten", "one_thread_answers")
def test_every_sample_works_in_the_order_of_the_pages(
    live_server: LiveServer, anonymous: Api, settings: Any, tmp_path: Path
) -> None:
    """In every language. Where they send the same request, they read the same answer."""
    system, languages, refused = System(settings), installed_languages(), {}
    (tmp_path / "price-list.pdf").write_bytes(b"%PDF-1.7\n")
    for surface, names in PAGES.items():
        pages = [anonymous.get(f"/api/docs/{name}").content.decode() for name in names]
        with ExitStack() as stack:
            requests = stack.enter_context(repeated_requests())
            runners = {
                language: stack.enter_context(runner_of(language, key=system.keys[surface], folder=tmp_path))
                for language in languages
            }
            for operation, samples in (one for page in pages for one in shown_on(page)):
                requests.forget()
                filled = system.filled({language: samples[language] for language in languages}, operation)
                for language, run in runners.items():
                    requests.begin()
                    fault = run(filled[language].replace(settings.PUBLIC_URL, live_server.url))
                    if fault or requests.count != 1:
                        refused[surface, operation, language] = fault or f"{requests.count} requests"
    assert refused == {}
    # CI installs all of them, and fails where a test is skipped.
    if len(languages) < len(PROGRAMS):
        pytest.skip(f"only {languages} are installed")
