"""A tenant whose every text is as long and as foreign as it may be."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from django.utils.timezone import now

from agency.actors import SYSTEM, Actor
from agency.models import BulkOperation, BulkOperationItem, Export, Mail, MailSettings
from agency.services import (
    change_agency,
    change_sign_up,
    create_addon,
    create_agency,
    create_plan,
    invite_member,
    set_accent,
    set_picture,
)
from channelconnect.services.settings import let_customers_connect
from packs.models import Pack
from packs.services import add_library_entry, change_entry, change_pack, create_pack, install_pack
from tests.agency.console.browsers import PASSWORD, a_member
from tests.broadcasts.under_way import a_busy_broadcast, a_draft
from tests.channelconnect.agencies import a_session, switch_on
from tests.factories import (
    ChannelFactory,
    ClassSeriesFactory,
    ClassSessionFactory,
    ContactFactory,
    ContactImportFactory,
    DomainFactory,
    ProductFactory,
    SegmentFactory,
    ServiceCategoryFactory,
    ServiceFactory,
    StaffFactory,
    WorkspaceFactory,
    WorkspaceMemberFactory,
    addon_limits,
    an_agency_key,
    plan_limits,
)
from tests.factories.appointments import AppointmentFactory, tomorrow
from tests.factories.finance import InvoiceFactory, TaxRateFactory, a_payout
from tests.factories.flows import a_customers_flow
from tests.factories.webhooks import a_failed_delivery, an_endpoint
from tests.images.pictures import a_picture
from tests.packs.client import an_automation, put_behind
from tests.packs.small_library import BOOKING, WELCOME
from tests.tenants import Tenant
from tests.workspaces.automations.calls.planned import an_account
from tests.workspaces.automations.runs import a_count, a_run, a_step_of, an_ended_run
from tests.workspaces.conversations.facts import person, receive, received
from webhooks.models import Delivery, Endpoint, HourlyStats
from webhooks.services.endpoints import register_endpoint
from workspaces.appointments.models import ExternalCalendar
from workspaces.appointments.services.calendar_feeds import create_feed
from workspaces.appointments.services.external_calendars import add_calendar
from workspaces.appointments.services.hours import add_time_off, set_working_hours
from workspaces.automations.models import Automation, AutomationPause
from workspaces.catalogue.models import Staff
from workspaces.catalogue.services import change_product
from workspaces.classes.services import add_participant
from workspaces.classes.tasks import make_series
from workspaces.contacts.models import Contact, ContactImport, Segment, Task
from workspaces.contacts.services import update_contact
from workspaces.contacts.services.tasks import create_task
from workspaces.conversations.models import Conversation
from workspaces.conversations.services import Content, add_note, create_saved_reply, send_message
from workspaces.finance.services.invoices import LineInput, issue_invoice
from workspaces.finance.services.payments import record_payment
from workspaces.finance.services.refunds import refund_payment
from workspaces.finance.services.settings import change_finance_settings
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.models.workspaces import DAYS
from workspaces.subaccounts.services import (
    grant_addon,
    invite_workspace_member,
    issue_workspace_key,
    suspend_workspace,
    tenant_of,
)
from workspaces.subaccounts.services.signing_up import NewBusiness, request_sign_up

ENDLESS = "W" * 120
RIGHT_TO_LEFT = ("صالون الزاوية للتجميل والعناية بالشعر " * 4)[:119].strip()
EMOJI = ("💇🏽‍♀️✨🧑🏿‍🤝‍🧑🏻" * 20)[:120]
NAMES = (RIGHT_TO_LEFT, EMOJI, ENDLESS)
LONGEST_URL = "http://127.0.0.1:9009/".ljust(2048, "p")
EMAIL = f"{'e' * 60}@{'d' * 60}.{'c' * 60}.example.com"


class ExtremeTenant(Tenant):
    """Its agency, customers, plans and packs are named with 120 characters without a blank, in Arabic, in emoji."""

    def __init__(self) -> None:
        super().__init__()
        change_agency(agency=self.agency, name=ENDLESS, max_sub_accounts=None, by=SYSTEM)
        set_accent(agency=self.agency, accent="#ffcc00", by=SYSTEM)
        set_picture(agency=self.agency, kind="logo", file=a_picture(480, 120), by=SYSTEM)
        switch_on(self, "https://app.example.com/done", f"https://app.example.com/{'r' * 1000}")
        let_customers_connect(agency=self.agency, allowed=True, by=SYSTEM)
        self.membership = a_member(self.agency, "owner", name=ENDLESS, email=f"owner.{EMAIL}")
        self.owner = self.membership.user
        self.member = a_member(self.agency, "viewer", name=RIGHT_TO_LEFT)
        self.named_key = an_agency_key(self.agency, name=ENDLESS, can_copy=True)[0]
        invite_member(agency=self.agency, email=f"invited.{EMAIL}", name=EMOJI, role="admin", now=now(), by=SYSTEM)
        other = create_agency(name=RIGHT_TO_LEFT, by=SYSTEM)
        invite_member(agency=other, email=self.owner.email, name=ENDLESS, role="viewer", now=now(), by=SYSTEM)
        labels = ".".join(letter * 60 for letter in "abc")
        self.domain = DomainFactory.create(agency=self.agency, host=f"{labels}.localhost", is_verified=False)
        self.make_customers()
        self.open_sign_up()
        self.make_deliveries()
        self.make_packs()
        self.make_contacts()
        self.make_catalogue()
        self.make_appointments()
        self.make_invoices()
        self.make_conversations()
        self.make_runs()
        self.make_broadcasts()
        self.make_mail()
        self.make_jobs()

    def make_mail(self) -> None:
        """A mail server with the longest names that fails at length, and an e-mail that did not arrive."""
        why = {"failure": "tls", "failure_step": "tls", "failure_text": ENDLESS * 2, "failed_at": now()}
        names = {"sender_name": RIGHT_TO_LEFT, "reply_to": f"r.{EMAIL}", "from_address": f"f.{EMAIL}"}
        host = ".".join(["h" * 62] * 4)
        report = {"to": f"t.{EMAIL}", "steps": ["lookup", "connect", "tls"], **why, "failed_at": ""}
        server = {"host": host, "port": 65535, "security": "tls", "verified_at": now(), "tested_at": now()}
        MailSettings.objects.create(agency=self.agency, test_report=report, failures=3, **names, **server, **why)
        gone = {"kind": "owner_invitation", "recipient": f"o.{EMAIL}", "given_up_at": now(), "by_own_server": True}
        Mail.objects.create(agency=self.agency, **gone, **why)

    def make_jobs(self) -> None:
        """A bulk change of which one part failed at length, and an export that was stopped."""
        asked: dict[str, Any] = {"agency": self.agency, "created_by": self.owner, "ended_at": now()}
        counts = {"total": 10**9, "succeeded": 10**8, "unchanged": 10**8, "failed": 10**8}
        why = ENDLESS + EMOJI[:80]
        self.bulk_operation = BulkOperation.objects.create(
            kind="sub_accounts.revoke_addon", state="stopped", stopped_because=why, **counts, **asked
        )
        for workspace, outcome in ((self.customer, "failed"), (self.suspended, "unchanged")):
            error = ENDLESS * 4 if outcome == "failed" else ""
            more = {"target_id": workspace.pk, "state": outcome, "error": error, "done_at": now()}
            BulkOperationItem.objects.create(operation=self.bulk_operation, **more)
        self.export = Export.objects.create(kind="sub-accounts", state="completed", rows=10**9, is_cut=True, **asked)

    def open_sign_up(self) -> None:
        """A host of its own, on which somebody has signed up and has yet to confirm their address."""
        link = "https://www.example.com/".ljust(500, "p")
        change_sign_up(
            agency=self.agency,
            plan=self.endless_plan,
            is_on=True,
            allows_further_workspaces=True,
            terms_url=link,
            privacy_url=link,
            by=SYSTEM,
        )
        self.host: str = DomainFactory.create(agency=self.agency).host
        business = NewBusiness(name=ENDLESS, business_type="other", timezone="UTC")
        request_sign_up(
            agency=self.agency, name=ENDLESS, email=f"new.{EMAIL}", password=PASSWORD, business=business, now=now()
        )

    def make_broadcasts(self) -> None:
        """One that is paused with all that its page can say, with recipients of every kind, and a draft."""
        channel = self.customer.channels.get()
        self.broadcast = a_busy_broadcast(channel, name=ENDLESS, words=ENDLESS * 3)
        self.draft_broadcast = a_draft(channel, name=RIGHT_TO_LEFT, text=f"{EMOJI} {ENDLESS}")

    def make_conversations(self) -> None:
        """Messages of everybody, one of them answered; the last has all that a thread may show."""
        channel = self.customer.channels.get()
        for number, name in enumerate(NAMES, 1):
            receive(received(channel, person=person(number, name=name), text=name))
        self.conversation = Conversation.objects.get(contact__name=ENDLESS)
        receive(received(channel, person=person(3), type="unsupported", text="", details={"unsupported": "poll"}))
        send_message(conversation=self.conversation, content=Content(text=RIGHT_TO_LEFT), by=SYSTEM, now=now())
        add_note(conversation=self.conversation, text=ENDLESS, by=SYSTEM, now=now())
        for name in NAMES:
            self.saved_reply = create_saved_reply(
                workspace=self.customer, name=name[:60], text=name * 10, now=now(), by=SYSTEM
            )

    def make_customers(self) -> None:
        """Customers on plans with add-ons and channels; the one that every page is about comes last,
        and shares its owner with the one before.
        """
        for number, name in enumerate(NAMES):
            more: dict[str, Any] = {"agency": self.agency, "description": ENDLESS * 4, "by": SYSTEM}
            self.endless_plan = create_plan(name=name, limits=plan_limits(contacts=10**9), **more)
            self.endless_addon = create_addon(name=name, limits=addon_limits(contacts=10**9), **more)
            self.customer: Workspace = WorkspaceFactory.create(
                agency=self.agency,
                name=name,
                owner_name=name,
                owner_email=f"{(number + 1) // 2}.{EMAIL}",
                plan=self.endless_plan,
                business_type="other",
            )
            ChannelFactory.create(workspace=self.customer, name=name, handle=ENDLESS)
            grant_addon(workspace=self.customer, addon=self.endless_addon, now=now(), by=SYSTEM)
        self.suspended: Workspace = WorkspaceFactory.create(agency=self.agency, name="S" * 120)
        suspend_workspace(workspace=self.suspended, reason=ENDLESS * 4, now=now(), by=SYSTEM)
        WorkspaceMemberFactory.create(workspace=self.customer, name=ENDLESS, email=f"member.{EMAIL}")
        invite_workspace_member(
            workspace=self.customer, email=f"asked.{EMAIL}", name=RIGHT_TO_LEFT, now=now(), by=SYSTEM
        )
        self.customer.owner.set_password(PASSWORD)
        self.customer.owner.save()

    def make_deliveries(self) -> None:
        a_session(self, state=ENDLESS)
        self.long_endpoint: Endpoint = an_endpoint(self, url=LONGEST_URL, description=ENDLESS)
        long = {"base_url": LONGEST_URL[:500], "name": ENDLESS[:120], "model": ENDLESS[:120]}
        self.ai_account = an_account(self, "", **long)
        self.failed: Delivery = a_failed_delivery(self, self.long_endpoint)
        hour = now().replace(minute=0, second=0, microsecond=0)
        HourlyStats.objects.create(endpoint=self.long_endpoint, hour=hour, successes=5, errors=3)
        self.own_key = issue_workspace_key(workspace=self.customer, name=ENDLESS, by=SYSTEM)[0]
        self.own_endpoint = register_endpoint(
            tenant=tenant_of(self.customer),
            url="https://93.184.215.14/".ljust(2048, "p"),
            events=["product.updated"],
            description=ENDLESS[:200],
            by=SYSTEM,
        )
        self.own_delivery = a_failed_delivery(self, self.own_endpoint, workspace_id=self.customer.pk)

    def make_packs(self) -> None:
        for name in NAMES:
            self.draft: Pack = create_pack(agency=self.agency, name=name, summary=ENDLESS, by=SYSTEM)
        self.first_entry = add_library_entry(pack=self.draft, template_id=BOOKING, by=SYSTEM)
        change_entry(entry=self.first_entry, name=ENDLESS, description=ENDLESS * 4, by=SYSTEM)
        self.published: Pack = create_pack(agency=self.agency, name="P" * 120, summary=RIGHT_TO_LEFT, by=SYSTEM)
        for item, name in ((BOOKING, ENDLESS), (WELCOME, EMOJI)):
            entry = add_library_entry(pack=self.published, template_id=item, by=SYSTEM)
            change_entry(entry=entry, name=name, by=SYSTEM)
        change_pack(pack=self.published, status="published", by=SYSTEM)
        install_pack(workspace=self.customer, pack=self.published.uuid, now=now(), by=SYSTEM)
        self.installed: Automation = Automation.objects.filter(workspace=self.customer).latest("pk")
        put_behind(self.installed, text=ENDLESS)
        self.own: Automation = an_automation(self.customer, name=ENDLESS, flow=a_customers_flow())

    def make_runs(self) -> None:
        """One that has failed after a step that waited, and one that waits, in the conversation with all extremes."""
        contact, channel = self.conversation.contact, self.conversation.channel
        self.failed_run = an_ended_run(
            self.own, contact, channel=channel, status="failed", error_node="ask", error_message=ENDLESS
        )
        a_step_of(self.failed_run, 1, "ask", "no_answer", detail=ENDLESS[:200])
        for who in (contact, self.endless_contact):
            a_run(self.own, who, channel=channel, started_by_label=ENDLESS[:254])
        a_count(self.own, 10**9, port="started")
        a_count(self.own, 10**9, node="ask", port="answered")
        AutomationPause.objects.create(
            conversation_id=self.conversation.pk, workspace_id=self.customer.pk, until=now() + timedelta(hours=5)
        )

    def make_contacts(self) -> None:
        for name in NAMES:
            tags = [name[:50], "T" * 50, "VIP"]
            self.endless_contact: Contact = ContactFactory.create(
                workspace=self.customer, name=name, tags=tags, attributes={"a" * 40: "v" * 500}
            )
            self.endless_segment: Segment = SegmentFactory.create(
                workspace=self.customer, name=name, filter={"tags_any": tags, "attributes": {"a" * 40: name}}
            )
            for contact in (None, self.endless_contact):
                self.endless_task: Task = create_task(
                    workspace=self.customer,
                    title=name[:200],
                    contact=contact,
                    due_at=now() - timedelta(hours=1),
                    assigned_to=self.customer.members.get().user,
                    now=now(),
                    by=SYSTEM,
                )
        update_contact(contact=self.endless_contact, now=now(), email=EMAIL, opted_out=True)
        content = f"{ENDLESS},{RIGHT_TO_LEFT},{EMOJI},,phone\n{'c' * 500},{RIGHT_TO_LEFT},{EMOJI},x,+4930123456\n"
        self.endless_import: ContactImport = ContactImportFactory.create(
            workspace=self.customer, filename=f"{ENDLESS}.csv", content=content.encode()
        )

    def make_catalogue(self) -> None:
        """Products, services, staff and a class, of which the last ones have the longest names."""
        more: dict[str, Any] = {"workspace": self.customer}
        for name in NAMES:
            category = ServiceCategoryFactory.create(name=name, **more)
            ProductFactory.create(name=name, category=category, price=Decimal("9999999999.99"), active=False, **more)
            service = ServiceFactory.create(name=name, category=category, price=Decimal("9999999999.99"), **more)
            staff = StaffFactory.create(name=name, email=EMAIL, **more)
            session = ClassSessionFactory.create(service=service, staff=staff, capacity=3, **more)
            contact = Contact.objects.create(name=name, search_key=name.lower(), **more)
            add_participant(session=session, contact=contact, now=now())
        series = ClassSeriesFactory.create(service=service, staff=staff, unit="days", interval=52, **more)
        make_series()
        product = ProductFactory.create(name=ENDLESS, description=ENDLESS * 4, track_stock=True, **more)
        by = Actor(kind="user", id="1", label=EMAIL)
        for level in (1_000_000_000, 0):
            product = change_product(product=product, stock_quantity=level, now=now(), by=by)
        Contact.objects.create(name=ENDLESS, search_key=ENDLESS.lower(), **more)
        self.offered = {
            "product": product.uuid,
            "service": service.uuid,
            "category": category.uuid,
            "staff": staff.uuid,
            "session": session.uuid,
            "series": series.uuid,
        }

    def make_appointments(self) -> None:
        """An appointment, time off and calendars of other programs, with the longest texts; one cannot be read."""
        staff, more = Staff.objects.get(uuid=self.offered["staff"]), {"workspace": self.customer}
        weekly = {key: [["06:00", "22:00"]] for key in DAYS}
        exceptions: dict[date, list[list[str]]] = {tomorrow().date() + timedelta(days=30): []}
        set_working_hours(staff=staff, timezone="UTC", weekly=weekly, exceptions=exceptions, now=now(), by=SYSTEM)
        service = ServiceFactory.create(name=f"{ENDLESS[:-1]}2", kind="appointment", staff=[staff], **more)
        contact = ContactFactory.create(name=f"{ENDLESS[:-1]}2", email=f"f{EMAIL[1:]}", **more)
        starts_at = tomorrow(8) + timedelta(days=1)
        given = {"service": service, "contact": contact, "note": ENDLESS, "timezone": "Asia/Kathmandu", **more}
        appointment = AppointmentFactory.create(starts_at=starts_at, **given)
        for hour in (9, 10):
            begins, ends = starts_at.replace(hour=hour), starts_at.replace(hour=hour + 2)
            add_time_off(staff=staff, starts_at=begins, ends_at=ends, reason=ENDLESS, now=now(), by=SYSTEM)
        for number, address in enumerate(("https://93.184.215.14/a.ics", "https://93.184.215.14/b.ics")):
            calendar = add_calendar(staff=staff, name=ENDLESS, address=address, now=now(), by=SYSTEM)
            if number:
                rows = ExternalCalendar.objects.filter(pk=calendar.pk)
                rows.update(failure="not_a_calendar", failing_since=now(), read_at=now())
        create_feed(staff=staff, now=now(), by=SYSTEM)
        self.planned = starts_at
        self.offered |= {"appointment": appointment.uuid, "bookable": service.uuid, "contact": contact.uuid}

    def make_invoices(self) -> None:
        """A draft and an overdue invoice that was partly paid and refunded, with the longest texts and amounts."""
        then, more = now() - timedelta(days=40), {"workspace": self.customer}
        self.tax_rate = TaxRateFactory.create(name=ENDLESS[:60], percent=Decimal("19.125"), **more)
        lines = [
            LineInput(text, Decimal("999999.999"), Decimal("99999.99"), self.tax_rate)
            for text in (ENDLESS, RIGHT_TO_LEFT, EMOJI)
        ]
        asked: dict[str, Any] = {"contact": self.endless_contact, "lines": lines, "note": ENDLESS, "now": then, **more}
        self.draft_invoice = InvoiceFactory.create(**asked)
        draft = InvoiceFactory.create(due_at=then + timedelta(days=1), **asked)
        self.issued_invoice = issue_invoice(invoice=draft, now=then, by=SYSTEM)
        paid: dict[str, Any] = {"amount": 10**12, "method": "cash", "note": ENDLESS, "now": now(), "by": SYSTEM}
        self.payment = record_payment(invoice=self.issued_invoice, **paid)
        refund_payment(payment=self.payment, amount=10**11, reason=ENDLESS, now=now(), by=SYSTEM)
        failed = {"amount": -(10**12), "currency": self.payment.currency, "failure_message": ENDLESS[:500]}
        self.payout = a_payout(self.customer, "failed", payment=self.payment, id=f"po_{'9' * 250}", **failed)
        change_finance_settings(workspace=self.customer, now=now(), by=SYSTEM, shares_totals=True)

    @property
    def workspace(self) -> Workspace:
        return self.customer
