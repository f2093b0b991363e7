"""An agency and a customer as they look in the middle of a normal week."""

from typing import Any

from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import User
from agency.services import change_agency, create_plan
from packs.services import add_library_entry, change_pack, create_pack, install_pack
from tests.agency.console.browsers import a_member
from tests.broadcasts.under_way import a_busy_broadcast, a_draft
from tests.channelconnect.agencies import switch_on
from tests.factories import (
    ChannelFactory,
    ContactFactory,
    ProductFactory,
    SegmentFactory,
    WorkspaceFactory,
    plan_limits,
)
from tests.factories.webhooks import a_failed_delivery, an_endpoint
from tests.packs.small_library import BOOKING, WELCOME
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import person, receive, received
from workspaces.automations.models import Automation
from workspaces.conversations.models import Conversation
from workspaces.conversations.services import Content, send_message
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import suspend_workspace

CUSTOMERS = ("Harbour Yoga", "Corner Salon", "Old Town Bakery", "North Clinic", "Paper & Ink", "Green Grocers")
CONTACTS = ("Amina", "Bruno", "Chiara", "Dmitri")
QUESTIONS = ("Do you have a table for four?", "Thank you!", "Is the class on Friday full?", "Where can I park?")


class BusyTenant(Tenant):
    """The same names, numbers and words each time, so that pages can be compared with what they looked like."""

    def __init__(self) -> None:
        super().__init__()
        change_agency(agency=self.agency, name="Bright Messages", max_sub_accounts=None, by=SYSTEM)
        switch_on(self, "https://app.example.com/connected")
        self.staff: User = a_member(self.agency, "owner", name="Ada", email="ada@example.com").user
        self.growth = create_plan(
            agency=self.agency, name="Growth", description="For two to ten people", limits=plan_limits(), by=SYSTEM
        )
        self.customers: list[Workspace] = [self._customer(number, name) for number, name in enumerate(CUSTOMERS)]
        suspend_workspace(workspace=self.customers[2], reason="Unpaid", now=now(), by=SYSTEM)
        self.customer = self.customers[0]
        self.endpoint = an_endpoint(self, url="https://93.184.215.14/bright", description="Billing")
        a_failed_delivery(self, self.endpoint)
        self._people()
        self._packs()

    def _customer(self, number: int, name: str) -> Workspace:
        more: dict[str, Any] = {"owner_name": f"Owner of {name}", "owner_email": f"owner-{number}@example.com"}
        made: Workspace = WorkspaceFactory.create(agency=self.agency, name=name, plan=self.growth, **more)
        return made

    def _packs(self) -> None:
        self.bookings = create_pack(agency=self.agency, name="Bookings", summary="Book, remind and welcome", by=SYSTEM)
        for item in (BOOKING, WELCOME):
            add_library_entry(pack=self.bookings, template_id=item, by=SYSTEM)
        change_pack(pack=self.bookings, status="published", by=SYSTEM)
        install_pack(workspace=self.customer, pack=self.bookings.uuid, now=now(), by=SYSTEM)
        self.automation: Automation = Automation.objects.filter(workspace=self.customer).earliest("pk")

    def _people(self) -> None:
        channel = ChannelFactory.create(
            workspace=self.customer, external_id=f"of-{self.mark}", name="Harbour Yoga", handle="+49 30 1234567"
        )
        for number, (name, question) in enumerate(zip(CONTACTS, QUESTIONS, strict=True), 1):
            ContactFactory.create(workspace=self.customer, name=f"{name} B.", phone=f"+4915112340{number:03d}")
            receive(received(channel, person=person(number, name=name), text=question))
        self.conversation = Conversation.objects.get(contact__name=CONTACTS[-1])
        answer = Content(text="Behind the house, and for free.")
        send_message(conversation=self.conversation, content=answer, by=SYSTEM, now=now())
        SegmentFactory.create(workspace=self.customer, name="Regulars", filter={"tags_any": ["regular"]})
        ProductFactory.create(workspace=self.customer, name="Yoga mat")
        a_draft(channel, name="Winter opening hours")
        self.broadcast = a_busy_broadcast(channel, name="Autumn sale", words="Paused by Ada.")
