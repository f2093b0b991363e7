"""An agency and a customer in one language, with the little that the pictures show."""

from decimal import Decimal
from typing import Any

from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import BulkOperation, Plan, User
from agency.services import change_agency, choose_default_plan, create_plan
from packs.services import change_entry, copy_automation, create_pack
from tests.agency.console.browsers import PASSWORD, a_member
from tests.broadcasts.under_way import a_draft
from tests.channelconnect.agencies import switch_on
from tests.factories import (
    ChannelFactory,
    ClassSessionFactory,
    ContactImportFactory,
    ProductFactory,
    SegmentFactory,
    ServiceCategoryFactory,
    ServiceFactory,
    StaffFactory,
    WorkspaceFactory,
    plan_limits,
)
from tests.factories.finance import InvoiceFactory
from tests.factories.flows import a_flow, a_step
from tests.factories.webhooks import a_failed_delivery, an_endpoint
from tests.flows.guide_pictures.words import SampleTexts
from tests.packs.client import an_automation
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import person, receive, received
from workspaces.appointments.services.booking_pages import change_booking_page
from workspaces.contacts.services import update_contact
from workspaces.conversations.models import Conversation
from workspaces.conversations.services import Content, create_saved_reply, send_message
from workspaces.finance.services.invoices import LineInput
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import change_workspace


class SmallTenant(Tenant):
    """The agency, its customers, and one of each thing that a guide is about."""

    def __init__(self, words: SampleTexts) -> None:
        super().__init__()
        self.words = words
        change_agency(agency=self.agency, name=words.agency, max_sub_accounts=None, by=SYSTEM)
        switch_on(self, "https://app.example.com/connected")
        self.staff: User = a_member(self.agency, "owner", name="Ada", email="ada@example.com").user
        self.plan: Plan = create_plan(agency=self.agency, name="Plus", description="", limits=plan_limits(), by=SYSTEM)
        choose_default_plan(agency=self.agency, plan=self.plan, by=SYSTEM)
        self.customers = [self._customer(number, name) for number, name in enumerate(words.customers)]
        self.customer = change_workspace(workspace=self.customers[0], currency=words.currency, by=SYSTEM)
        self.customer.owner.set_password(PASSWORD)
        self.customer.owner.save()
        self.channel = ChannelFactory.create(
            workspace=self.customer, external_id=f"of-{self.mark}", name=self.customer.name, handle="+49 30 1234567"
        )
        self._write_messages()
        self._offer_things()
        self._automate()
        self.endpoint = an_endpoint(self, url="https://93.184.215.14/webhook", description=words.website)
        self.delivery = a_failed_delivery(self, self.endpoint)
        self.broken_off = BulkOperation.objects.create(
            agency=self.agency,
            created_by=self.staff,
            kind="sub_accounts.suspend",
            state="failed",
            total=3,
            ended_at=now(),
        )

    def _customer(self, number: int, name: str) -> Workspace:
        owner = {"owner_name": name, "owner_email": f"owner-{number}@example.com"}
        made: Workspace = WorkspaceFactory.create(agency=self.agency, name=name, plan=self.plan, **owner)
        return made

    def _write_messages(self) -> None:
        words, workspace = self.words, self.customer
        receive(received(self.channel, person=person(1, name="Amina B."), text=words.question))
        self.conversation = Conversation.objects.get(workspace=workspace)
        update_contact(contact=self.conversation.contact, tags=[words.tag], now=now())
        send_message(conversation=self.conversation, content=Content(text=words.answer), by=SYSTEM, now=now())
        for name, text in ((words.hours, words.hours_text), (words.directions, words.directions_text)):
            create_saved_reply(workspace=workspace, name=name, text=text, now=now(), by=SYSTEM)
        self.segment = SegmentFactory.create(workspace=workspace, name=words.segment, filter={"tags_any": [words.tag]})
        rows = f"{','.join(words.columns)}\nAmina B.,+49 151 12345001,\nBruno B.,+49 151 12345002,\n"
        self.contact_import = ContactImportFactory.create(workspace=workspace, content=rows.encode())
        self.broadcast = a_draft(self.channel, name=words.campaign, text=words.campaign_text)

    def _offer_things(self) -> None:
        words, more = self.words, {"workspace": self.customer}
        category = ServiceCategoryFactory.create(name=words.category, **more)
        self.product = ProductFactory.create(name=words.product, category=category, price=Decimal(29), **more)
        staff = [StaffFactory.create(name=name, **more) for name in ("Alex", "Kim")]
        self.treatment = ServiceFactory.create(
            name=words.treatment, kind="appointment", price=Decimal(60), staff=staff[:1], **more
        )
        course = ServiceFactory.create(name=words.course, kind="class", price=Decimal(15), **more)
        self.course = ClassSessionFactory.create(service=course, staff=staff[1], capacity=8, **more)
        change_booking_page(workspace=self.customer, slug=words.booking_address, now=now(), by=SYSTEM)
        line = LineInput(words.tickets, Decimal(1), Decimal(120), None)
        self.invoice = InvoiceFactory.create(contact=self.conversation.contact, lines=[line], **more)

    def _automate(self) -> None:
        words = self.words
        answer: Any = a_flow(a_step("answer", "send_text", text=words.hours_text), keywords=[words.keyword])
        self.automation = an_automation(self.customer, name=words.automation, flow=answer)
        self.pack = create_pack(agency=self.agency, name=words.pack, summary=words.summary, by=SYSTEM)
        entry = copy_automation(pack=self.pack, automation=self.automation, by=SYSTEM)
        change_entry(entry=entry, description=words.automation_text, by=SYSTEM)
