"""The dashboard's changes and the operations of the workspace's API that make the same."""

from datetime import timedelta
from typing import Any

from django.utils.timezone import now

from agency.actors import SYSTEM
from tests.broadcasts.making import EVERYBODY, bring_to
from tests.factories.appointments import move_to_the_past, tomorrow
from tests.factories.webhooks import a_failed_delivery
from tests.routes import ids_of
from tests.same_changes.changes import Change, Prepare, nothing, of_workspace
from tests.same_changes.console import YESTERDAY, name
from tests.tenants import Tenant
from tests.workspaces.automations.runs import fail_run
from tests.workspaces.subaccounts.dashboard.clients import pickers
from webhooks.models import Delivery, Endpoint
from workspaces.appointments.models import Appointment, TimeOff
from workspaces.appointments.services.hours import hours_of
from workspaces.automations.models import Automation, AutomationRun
from workspaces.automations.services import enable_automation
from workspaces.catalogue.models import Staff
from workspaces.classes.models import ClassSeries, ClassSession, WaitingListEntry
from workspaces.contacts.models import Contact
from workspaces.conversations.models import Conversation, Message
from workspaces.conversations.services import mark_read, mark_unread
from workspaces.finance.models import Invoice, Payment
from workspaces.finance.services.payments import record_payment

CLASS_AT = (now() + timedelta(days=2)).replace(minute=0, second=0, microsecond=0, tzinfo=None).isoformat()


def own_failed(tenant: Tenant) -> dict[str, Any]:
    endpoint = Endpoint.objects.get(workspace_id=tenant.workspace.pk)
    delivery = a_failed_delivery(tenant, endpoint)
    Delivery.objects.filter(pk=delivery.pk).update(workspace_id=tenant.workspace.pk)
    return {"own_delivery": delivery.uuid}


def own_webhook(tenant: Tenant) -> str:
    return str(Endpoint.objects.get(workspace_id=tenant.workspace.pk).uuid)


def broadcast(status: str, **changes: Any) -> Prepare:
    def prepare(tenant: Tenant) -> None:
        row = bring_to({"id": ids_of(tenant)["broadcast"]}, status)
        type(row).objects.filter(pk=row.pk).update(**changes)

    return prepare


def unread(tenant: Tenant) -> None:
    mark_unread(conversation=Conversation.objects.get(uuid=ids_of(tenant)["conversation"]), now=now())


def was_read(tenant: Tenant) -> None:
    mark_read(conversation=Conversation.objects.get(uuid=ids_of(tenant)["conversation"]), now=now())


def unread_count(tenant: Tenant) -> Any:
    return Conversation.objects.get(uuid=ids_of(tenant)["conversation"]).unread_count


def messages(tenant: Tenant) -> Any:
    rows = Message.objects.filter(conversation__uuid=ids_of(tenant)["conversation"]).order_by("pk")
    return [*rows.values_list("direction", "type", "text", "status")]


def switched_on(tenant: Tenant) -> None:
    enable_automation(automation=Automation.objects.get(uuid=ids_of(tenant)["automation"]), now=now(), by=SYSTEM)


def failed_run(tenant: Tenant) -> None:
    switched_on(tenant)
    fail_run(AutomationRun.objects.get(uuid=ids_of(tenant)["run"]))


def runs(tenant: Tenant) -> Any:
    rows = AutomationRun.objects.of(tenant.workspace).order_by("pk")
    return [*rows.values_list("status", "node", "wait_kind", "error_message")]


def a_class(tenant: Tenant) -> dict[str, Any]:
    return {"service": str(ids_of(tenant)["class_service"]), "starts_at": CLASS_AT[:16], "capacity": 5}


def a_class_series(tenant: Tenant) -> dict[str, Any]:
    service = str(ids_of(tenant)["class_service"])
    return {"service": service, "first_date": "2100-12-01", "start_time": "18:00", "capacity": 5}


def full_class(tenant: Tenant) -> None:
    assert tenant.other_contact.pk
    ClassSession.objects.filter(uuid=ids_of(tenant)["session"]).update(capacity=1)


def waits_for_class(tenant: Tenant) -> None:
    ids = ids_of(tenant)
    session, contact = ClassSession.objects.get(uuid=ids["session"]), Contact.objects.get(uuid=ids["contact"])
    WaitingListEntry.objects.create(session=session, contact=contact)


def an_appointment(tenant: Tenant) -> dict[str, Any]:
    ids = ids_of(tenant)
    names = {"service": str(ids["bookable_service"]), "contact": str(ids["contact"])}
    return {**names, "starts_at": tomorrow(14).isoformat()}


def began(tenant: Tenant) -> None:
    move_to_the_past(Appointment.objects.get(uuid=ids_of(tenant)["appointment"]))


def of_appointment(verb: str, prepare: Prepare = nothing) -> Change:
    call = of_workspace(f"POST appointments/<id:appointment>/{verb}")
    return Change(call=call, ids=("appointment",), prepare=prepare)


def hours(tenant: Tenant) -> Any:
    return hours_of(Staff.objects.get(uuid=ids_of(tenant)["staff"]))


def times_off(tenant: Tenant) -> Any:
    rows = TimeOff.objects.filter(staff__uuid=ids_of(tenant)["staff"])
    return [*rows.order_by("starts_at").values_list("starts_at", "ends_at", "reason")]


def other(tenant: Tenant) -> dict[str, Any]:
    return {"contact": str(tenant.other_contact.uuid)}


def made_first(tenant: Tenant) -> None:
    assert tenant.other_contact.pk


def of_broadcast(verb: str, status: str, **changes: Any) -> Change:
    call = of_workspace(f"POST broadcasts/<id:broadcast>/{verb}")
    return Change(call=call, ids=("broadcast",), prepare=broadcast(status, **changes))


def renaming(route: str, one: str) -> Change:
    call = of_workspace(f"PATCH {route}/<id:{one}>")
    return Change(call=call, ids=(one,), fields=name("New"), body=name("New"))


def removing(route: str, one: str) -> Change:
    return Change(call=of_workspace(f"DELETE {route}/<id:{one}>"), ids=(one,))


def adding(route: str, **fields: Any) -> Change:
    return Change(call=of_workspace(f"POST {route}"), fields=lambda _: fields, body=lambda _: fields)


def a_typed_invoice(tenant: Tenant) -> dict[str, Any]:
    line = {"description": "Work", "quantity": "1", "unit_price": "12.50", "tax_rate": ""}
    return {"contact": str(ids_of(tenant)["contact"]), **{f"line-0-{part}": text for part, text in line.items()}}


def an_invoice(tenant: Tenant) -> dict[str, Any]:
    line = {"description": "Work", "quantity": 1, "unit_price": 12.5}
    return {"contact": str(ids_of(tenant)["contact"]), "lines": [line]}


def issued(tenant: Tenant) -> dict[str, Any]:
    return {"invoice": ids_of(tenant)["issued_invoice"]}


def paid(tenant: Tenant) -> dict[str, Any]:
    invoice = Invoice.objects.get(uuid=ids_of(tenant)["issued_invoice"])
    return {"payment": record_payment(invoice=invoice, amount=900, method="cash", now=now(), by=SYSTEM).uuid}


def payments(tenant: Tenant) -> Any:
    rows = Payment.objects.filter(workspace=tenant.workspace).order_by("pk")
    return [*rows.values_list("amount", "method", "refunded")]


DASHBOARD = {
    "settings": Change(
        call=of_workspace("PATCH workspace"), fields=lambda _: {"currency": "EUR"}, body=lambda _: {"currency": "EUR"}
    ),
    "webhook-new": Change(
        call=of_workspace("POST webhooks"),
        fields=lambda _: {"url": "https://93.184.215.14/new", "events": ["product.updated"], "enabled": "on"},
        body=lambda _: {"url": "https://93.184.215.14/new", "topics": ["product.updated"]},
    ),
    "webhook-edit": Change(
        call=of_workspace("PATCH webhooks/<id:webhook>"),
        ids=("own_webhook",),
        fields=lambda _: {"description": "CRM"},
        body=lambda _: {"description": "CRM"},
    ),
    "webhook-rotate": Change(
        call=of_workspace("POST webhooks/<id:webhook>/rotate-secret"),
        ids=("own_webhook",),
        body=lambda _: {"overlap_hours": 24},
    ),
    "webhook-remove": Change(call=of_workspace("DELETE webhooks/<id:webhook>"), ids=("own_webhook",)),
    "webhook-test": Change(call=of_workspace("POST webhooks/<id:webhook>/test"), ids=("own_webhook",)),
    "webhook-redeliver": Change(
        call=of_workspace("POST webhooks/deliveries/<id:delivery>/redeliver"), ids=("own_delivery",), prepare=own_failed
    ),
    "webhook-redeliver-failed": Change(
        call=of_workspace("POST webhooks/<id:webhook>/replay"),
        fields=lambda a: {"webhook": own_webhook(a), "since": YESTERDAY[:16]},
        body=lambda _: {"since": YESTERDAY},
        prepare=own_failed,
    ),
    "contact-new": adding("contacts", name="Ada"),
    "contact": renaming("contacts", "contact"),
    "contact-remove": removing("contacts", "contact"),
    "contact-merge": Change(
        call=of_workspace("POST contacts/<id:contact>/merge"),
        ids=("contact",),
        fields=lambda a: {"other": str(a.other_contact.uuid)},
        body=other,
        prepare=made_first,
    ),
    "segment-new": Change(
        call=of_workspace("POST segments"),
        fields=lambda _: {"name": "Regulars", "row-0-operator": "tags_any", "row-0-value": "VIP"},
        body=lambda _: {"name": "Regulars", "filter": {"tags_any": ["VIP"]}},
    ),
    "segment": renaming("segments", "segment"),
    "segment-remove": removing("segments", "segment"),
    "conversation-send": Change(
        call=of_workspace("POST conversations/<id:conversation>/messages"),
        ids=("conversation",),
        fields=lambda _: {"text": "Yes"},
        body=lambda _: {"text": "Yes"},
        rows=messages,
    ),
    "conversation-note": Change(
        call=of_workspace("POST conversations/<id:conversation>/notes"),
        ids=("conversation",),
        fields=lambda _: {"text": "Calls back"},
        body=lambda _: {"text": "Calls back"},
    ),
    "conversation-read": Change(
        call=of_workspace("POST conversations/<id:conversation>/read"),
        ids=("conversation",),
        prepare=unread,
        rows=unread_count,
    ),
    "conversation-unread": Change(
        call=of_workspace("POST conversations/<id:conversation>/unread"),
        ids=("conversation",),
        prepare=was_read,
        rows=unread_count,
    ),
    "conversation-status": Change(
        call=of_workspace("PATCH conversations/<id:conversation>"),
        ids=("conversation",),
        fields=lambda _: {"status": "closed"},
        body=lambda _: {"status": "closed"},
    ),
    "conversation-assign": Change(
        call=of_workspace("PATCH conversations/<id:conversation>"),
        ids=("conversation",),
        fields=lambda a: {"assigned_to": a.workspace.owner.email},
        body=lambda a: {"assigned_to": a.workspace.owner.email},
    ),
    "product-new": adding("products", name="Soap", price=3),
    "product": renaming("products", "product"),
    "product-delete": removing("products", "product"),
    "service-new": adding("services", name="Cut", kind="appointment"),
    "service": renaming("services", "service"),
    "service-delete": removing("services", "service"),
    "service-category-new": adding("service-categories", name="Hair"),
    "service-category": renaming("service-categories", "category"),
    "service-category-delete": removing("service-categories", "category"),
    "staff-new": adding("staff", name="Mia"),
    "staff-member": renaming("staff", "staff"),
    "staff-delete": removing("staff", "staff"),
    "appointment-new": Change(call=of_workspace("POST appointments"), fields=an_appointment, body=an_appointment),
    "appointment-reschedule": Change(
        call=of_workspace("POST appointments/<id:appointment>/reschedule"),
        ids=("appointment",),
        fields=lambda _: {"starts_at": tomorrow(16).isoformat()},
        body=lambda _: {"starts_at": tomorrow(16).isoformat()},
    ),
    "appointment-confirm": of_appointment("confirm"),
    "appointment-cancel": of_appointment("cancel"),
    "appointment-complete": of_appointment("complete", began),
    "appointment-miss": of_appointment("miss", began),
    "staff-hours": Change(
        call=of_workspace("PUT staff/<id:staff>/working-hours"),
        ids=("staff",),
        fields=lambda _: {
            "follows_business": "",
            "timezone": "Europe/Berlin",
            **pickers("weekly_monday", "09:00-17:00"),
        },
        body=lambda _: {"timezone": "Europe/Berlin", "weekly": {"monday": [["09:00", "17:00"]]}, "exceptions": []},
        rows=hours,
    ),
    "staff-time-off": Change(
        call=of_workspace("POST staff/<id:staff>/time-off"),
        ids=("staff",),
        fields=lambda _: {"starts_at": "2030-12-24T00:00", "ends_at": "2030-12-27T00:00"},
        body=lambda _: {"starts_at": "2030-12-24T00:00:00Z", "ends_at": "2030-12-27T00:00:00Z"},
        rows=times_off,
    ),
    "staff-time-off-remove": Change(
        call=of_workspace("DELETE staff/<id:staff>/time-off/<id:time_off>"), ids=("staff", "time_off"), rows=times_off
    ),
    "class-new": Change(
        call=of_workspace("POST classes"), fields=a_class, body=lambda a: {**a_class(a), "starts_at": f"{CLASS_AT}Z"}
    ),
    "class-edit": Change(
        call=of_workspace("PATCH classes/<id:session>"),
        ids=("session",),
        fields=lambda _: {"capacity": 7},
        body=lambda _: {"capacity": 7},
    ),
    "class-series-new": Change(
        call=of_workspace("POST classes/series"),
        fields=a_class_series,
        body=a_class_series,
        rows=lambda a: list(ClassSeries.objects.of(a.workspace).values_list("first_date", "timezone", "weekdays")),
    ),
    "class-series-edit": Change(
        call=of_workspace("PATCH classes/series/<id:series>"),
        ids=("series",),
        fields=lambda _: {"capacity": 7},
        body=lambda _: {"capacity": 7},
        rows=lambda a: list(ClassSeries.objects.of(a.workspace).values_list("capacity", "first_date", "start_time")),
    ),
    "class-series-end": Change(call=of_workspace("DELETE classes/series/<id:series>"), ids=("series",)),
    "class-waiting-add": Change(
        call=of_workspace("POST classes/<id:session>/waiting-list"),
        ids=("session",),
        fields=other,
        body=other,
        prepare=full_class,
        rows=lambda a: WaitingListEntry.objects.filter(contact=a.other_contact).count(),
    ),
    "class-waiting-remove": Change(
        call=of_workspace("DELETE classes/<id:session>/waiting-list/<id:contact>"),
        ids=("session", "contact"),
        prepare=waits_for_class,
        rows=lambda a: WaitingListEntry.objects.filter(session__workspace=a.workspace).count(),
    ),
    "class-cancel": Change(call=of_workspace("POST classes/<id:session>/cancel"), ids=("session",)),
    "class-participant-add": Change(
        call=of_workspace("POST classes/<id:session>/participants"),
        ids=("session",),
        fields=other,
        body=other,
        prepare=made_first,
    ),
    "class-participant-remove": Change(
        call=of_workspace("DELETE classes/<id:session>/participants/<id:contact>"), ids=("session", "contact")
    ),
    "invoice-new": Change(call=of_workspace("POST invoices"), fields=a_typed_invoice, body=an_invoice),
    "invoice-edit": Change(
        call=of_workspace("PATCH invoices/<id:invoice>"),
        ids=("invoice",),
        fields=lambda a: {**a_typed_invoice(a), "note": "New"},
        body=lambda a: {**an_invoice(a), "note": "New"},
    ),
    "invoice-delete": removing("invoices", "invoice"),
    "invoice-issue": Change(call=of_workspace("POST invoices/<id:invoice>/issue"), ids=("invoice",)),
    "invoice-send": Change(call=of_workspace("POST invoices/<id:invoice>/send"), ids=("issued_invoice",)),
    "invoice-void": Change(call=of_workspace("POST invoices/<id:invoice>/void"), ids=("issued_invoice",)),
    "invoice-credit": Change(call=of_workspace("POST invoices/<id:invoice>/credit"), ids=("issued_invoice",)),
    "payment-new": Change(
        call=of_workspace("POST invoices/<id:invoice>/payments"),
        ids=("invoice",),
        prepare=issued,
        fields=lambda _: {"amount": "5", "method": "cash", "note": "At the till"},
        body=lambda _: {"amount": 5, "method": "cash", "note": "At the till"},
        rows=payments,
    ),
    "payment-refund": Change(
        call=of_workspace("POST payments/<id:payment>/refunds"),
        ids=("payment",),
        prepare=paid,
        fields=lambda _: {"amount": "4", "reason": "Sorry"},
        body=lambda _: {"amount": 4, "reason": "Sorry"},
        rows=payments,
    ),
    "tax-rate-new": adding("tax-rates", name="Reduced", percent=7),
    "tax-rate": renaming("tax-rates", "tax_rate"),
    "tax-rate-archive": Change(
        call=of_workspace("PATCH tax-rates/<id:tax_rate>"), ids=("tax_rate",), body=lambda _: {"archived": True}
    ),
    "broadcast-new": Change(
        call=of_workspace("POST broadcasts"),
        fields=lambda a: {
            "name": "Sale",
            "channel": str(a.channel.uuid),
            "message_text": "Hello",
            "audience": "all",
            "time": "now",
        },
        body=lambda a: {
            "name": "Sale",
            "channel": str(a.channel.uuid),
            "message": {"text": "Hello"},
            "audience": EVERYBODY,
        },
    ),
    "broadcast-edit": renaming("broadcasts", "broadcast"),
    "broadcast-schedule": of_broadcast("schedule", "Draft"),
    "broadcast-approve": of_broadcast("approve", "Scheduled"),
    "broadcast-pause": of_broadcast("pause", "sending"),
    "broadcast-resume": of_broadcast("resume", "paused"),
    "broadcast-cancel": of_broadcast("cancel", "Scheduled"),
    "automation-on": Change(call=of_workspace("POST automations/<id:automation>/enable"), ids=("automation",)),
    "automation-off": Change(
        call=of_workspace("POST automations/<id:automation>/disable"), ids=("automation",), prepare=switched_on
    ),
    "automation-run-stop": Change(
        call=of_workspace("POST automations/<id:automation>/runs/<id:run>/stop"), ids=("automation", "run"), rows=runs
    ),
    "automation-run-retry": Change(
        call=of_workspace("POST automations/<id:automation>/runs/<id:run>/retry"),
        ids=("automation", "run"),
        prepare=failed_run,
        rows=runs,
    ),
    "broadcast-delete": Change(
        call=of_workspace("DELETE broadcasts/<id:broadcast>"), ids=("broadcast",), prepare=broadcast("Draft")
    ),
}

TASKS = "tasks of the team"
CALENDARS = "calendars of other programs: tests/workspaces/appointments/dashboard"
FEED = "the address of a calendar: tests/workspaces/appointments/public/test_feeds.py"
# What people change in the dashboard alone, as no operation of the workspace's API does.
ONLY_PAGES = {
    "booking-page": "the workspace's public page",
    "webhook-dismiss": "failures that the pages tell of: tests/webhooks/services",
    "switch": "which workspace a person looks at",
    "leave": "a person's own",
    "first-steps": "a person's own",
    "channel-connect": "the agency's API does it",
    "saved-view-save": "a person's own",
    "saved-view-remove": "a person's own",
    "notifications-read": "a person's own",
    "notification-settings": "a person's own",
    "two-factor": "the workspace's people",
    "person-invite": "the workspace's people",
    "person-invite-again": "the workspace's people",
    "person-invite-withdraw": "the workspace's people",
    "person-remove": "the workspace's people",
    "person-make-owner": "the workspace's people",
    "agency-access-end": "a person of the agency goes back to the console",
    "workspace-new": "sign-up",
    "api-key-new": "the agency's API does it",
    "api-key-roll": "the agency's API does it",
    "api-key-revoke": "the agency's API does it",
    "channel-request": "a question to the agency, which has its own API",
    "channel-disconnect": "the agency's API does it: console:sub-account-channel-disconnect",
    "contact-import-new": "a file; the API imports rows",
    "contact-import": "a file; the API imports rows",
    "contact-import-cancel": "a file; the API imports rows",
    "contact-opt-out": "what a contact has told somebody",
    "contact-opt-in": "what a contact has told somebody",
    "conversation-opt-out": "what a contact has told somebody",
    "conversation-new": "a template to somebody: tests/workspaces/conversations",
    "conversations-change": "of each change on many: tests/workspaces/conversations",
    "conversation-enter-key": "a person's own key that sends",
    "conversation-insert": "only changes what is typed",
    "conversation-again": "sends what has failed as a new message",
    "conversation-resume-automations": "lets automations answer again after people did",
    "conversation-snooze": "puts aside in the team's inbox",
    "saved-reply-new": "replies of the team's inbox",
    "saved-reply": "replies of the team's inbox",
    "saved-reply-delete": "replies of the team's inbox",
    "task-new": TASKS,
    "task": TASKS,
    "task-complete": TASKS,
    "task-reopen": TASKS,
    "task-remove": TASKS,
    "staff-calendars": CALENDARS,
    "staff-calendar-read": CALENDARS,
    "staff-calendar-remove": CALENDARS,
    "staff-feed-create": FEED,
    "staff-feed-renew": FEED,
    "staff-feed-remove": FEED,
    "product-stock": "a movement with its reason; the API sets the quantity",
    "automations-ready": "automations",
    "automation": "automations",
    "automation-remove": "automations",
    "automation-new": "automations",
    "automation-copy": "automations",
    "automation-settings": "automations",
    "automation-undo": "automations",
    "automation-redo": "automations",
    "automation-trigger": "automations",
    "automation-step": "automations",
    "automation-step-move": "automations",
    "automation-step-remove": "automations",
    "automation-step-add": "automations",
    "automation-connect": "automations",
    "automation-publish": "automations",
    "automation-new-version": "automations",
    "automation-test": "a chat that changes nothing",
    "pack-install": "automations",
    "finance-settings": "settings of invoices: tests/workspaces/finance/dashboard",
    "bookkeeping": "settings of invoices: tests/workspaces/finance/dashboard",
    "payment-account": "a key, which the API never takes",
    "payment-account-webhooks": "an endpoint at Stripe, which the API never makes",
    "payment-account-disconnect": "a key, which the API never takes",
    "broadcast-test": "its recipients are typed: tests/broadcasts",
    "broadcast-duplicate": "copies a draft",
}
