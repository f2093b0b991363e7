"""This app's registrations: events, handlers, mails, menu entries, labels and fields of the activity log."""

from typing import Final

from django.db.models import Count, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from agency.event_types import event_types
from agency.notification_kinds import notification_kinds
from agency.pages.help import DASHBOARD, Guide, guides
from agency.pages.registry import (
    ActivityAction,
    ActivityDetail,
    MenuEntry,
    Section,
    activity_actions,
    activity_details,
    console_menu,
    dashboard_menu,
)
from agency.services.activity import RecordedAction, RecordedField, ValueFormat, recorded_actions
from agency.services.mail.attachments import mail_attachments
from agency.services.mail.content import mail_links
from config.metrics import METRICS, Gauge, capped_count, oldest_seconds
from config.request_bodies import BodyRule, body_rules
from config.retention import retention_rules
from workspaces.contacts.pages import ContactPanel, TimelineSource, contact_panels, timeline_sources
from workspaces.contacts.services import contact_merge_handlers, contact_removal_handlers
from workspaces.finance import events
from workspaces.finance.dashboard.exports import FILES
from workspaces.finance.dashboard.reports import invoices_of_contact, money_of_timeline
from workspaces.finance.dashboard.settings import ACCOUNT_LABELS
from workspaces.finance.models import Invoice, ProviderAccount, ProviderEvent
from workspaces.finance.providers.faults import OF_THE_KEY
from workspaces.finance.public import LONGEST_EVENT
from workspaces.finance.serializers.invoices import InvoiceSerializer
from workspaces.finance.serializers.payments import PaymentSerializer
from workspaces.finance.services.accounts import connected_accounts
from workspaces.finance.services.invoices import MERGE_HANDLER, REMOVAL_HANDLER
from workspaces.finance.services.payment_notifications import KINDS as PAYMENT_KINDS
from workspaces.finance.services.provider_events import RULES as PROVIDER_EVENT_RULES
from workspaces.finance.services.provider_work import KINDS as PROVIDER_WORK
from workspaces.finance.services.sending import INVOICE_FILES, INVOICE_LINK
from workspaces.subaccounts.events import workspace_event_type

# Invoices ----------------------------------------------------------------------------------------------------

INVOICE_ACTIONS: Final = {
    "invoice.created": _("Invoice drafted"),
    "invoice.changed": _("Invoice draft edited"),
    "invoice.deleted": _("Invoice draft deleted"),
    "invoice.issued": _("Invoice issued"),
    "invoice.sent": _("Invoice sent"),
    "invoice.paid": _("Invoice paid"),
    "invoice.voided": _("Invoice voided"),
    "invoice.credited": _("Credit note issued"),
    "tax_rate.created": _("Tax rate created"),
    "tax_rate.changed": _("Tax rate edited"),
    "finance.settings_changed": _("Invoice settings changed"),
    "finance.series_changed": _("Invoice numbers changed"),
}
INVOICE_FIELDS: Final[dict[str, tuple[RecordedField, ...]]] = {
    "invoice.changed": (
        RecordedField("due_at", _("Due date"), ValueFormat.MOMENT),
        RecordedField("supplied_on", _("Date of supply")),
        RecordedField("reverse_charge", _("Reverse charge"), ValueFormat.SWITCH),
        RecordedField("contact", _("Contact"), hidden=True),
        RecordedField("buyer", _("Buyer"), hidden=True),
        RecordedField("note", _("Note"), hidden=True),
        RecordedField("lines", _("Lines"), hidden=True),
    ),
    "tax_rate.changed": (
        RecordedField("name", _("Name")),
        RecordedField("percent", _("Percent"), ValueFormat.NUMBER),
        RecordedField("inclusive", _("Prices contain the tax"), ValueFormat.SWITCH),
        RecordedField("archived", _("Archived"), ValueFormat.SWITCH),
    ),
    "finance.settings_changed": (
        RecordedField("business_name", _("Name of the business"), hidden=True),
        RecordedField("address", _("Address"), hidden=True),
        RecordedField("vat_id", _("VAT ID")),
        RecordedField("tax_number", _("Tax number"), hidden=True),
        RecordedField("payment_details", _("Payment details"), hidden=True),
        RecordedField("footer", _("Footer"), hidden=True),
        RecordedField("payment_days", _("Days to pay"), ValueFormat.NUMBER),
        RecordedField("shares_totals", _("The agency sees the totals"), ValueFormat.SWITCH),
    ),
    "finance.series_changed": (
        RecordedField("prefix", _("Prefix")),
        RecordedField("next_number", _("Next number"), ValueFormat.NUMBER),
    ),
}
DUE = "2026-11-19T22:59:59Z"
PAID = {"status": "paid", "paid": 119.0, "balance": 0.0, "paid_at": "2026-11-21T09:30:00Z"}
VOID = {"status": "void", "credited": 119.0, "balance": 0.0, "pay_url": None, "voided_at": "2026-11-21T09:30:00Z"}

for name, label, sample in (
    (events.INVOICE_CREATED, gettext_noop("Invoice or credit note issued"), {}),
    (events.INVOICE_SENT, gettext_noop("Invoice sent"), {"sent_at": "2026-11-20T09:31:00Z"}),
    (events.INVOICE_PAID, gettext_noop("Invoice paid"), PAID),
    (events.INVOICE_OVERDUE, gettext_noop("Invoice overdue"), {"status": "overdue", "due_at": DUE}),
    (events.INVOICE_VOIDED, gettext_noop("Invoice voided"), VOID),
):
    event_types.add(
        workspace_event_type(
            name, label, group="Invoices", resource="invoice", serializer=InvoiceSerializer, sample=sample
        )
    )
contact_removal_handlers.add(REMOVAL_HANDLER)
contact_merge_handlers.add(MERGE_HANDLER)
mail_links.add(INVOICE_LINK)
mail_attachments.add(INVOICE_FILES)
timeline_sources.add(TimelineSource(name="finance", entries=money_of_timeline))
recorded_actions.add(*RecordedAction.from_fields(INVOICE_FIELDS))
activity_actions.add(*ActivityAction.from_labels(INVOICE_ACTIONS, _("Finance")))

# Payments ---------------------------------------------------------------------------------------------

PAYMENT_ACTIONS = {
    "payment.received": _("Payment recorded"),
    "payment.overpaid": _("Invoice paid twice"),
    "payment.refund_started": _("Refund started"),
    "payment.refunded": _("Payment refunded"),
    "payment.refund_failed": _("Refund failed"),
    "payment.disputed": _("Payment disputed"),
    "payment.dispute_changed": _("Dispute changed"),
    "payout.failed": _("Payout failed"),
    "payment_account.connected": _("Payment account connected"),
    "payment_account.key_changed": _("Key of the payment account changed"),
    "payment_account.failing": _("Payment account stopped"),
    "payment_account.webhooks_stopped": _("Webhooks of the payment account stopped"),
    "payment_account.webhooks_renewed": _("Webhooks of the payment account set up again"),
    "payment_account.disconnected": _("Payment account disconnected"),
}
for name, label, sample in (
    (events.PAYMENT_RECEIVED, gettext_noop("Payment received"), {}),
    (events.PAYMENT_REFUNDED, gettext_noop("Payment refunded"), {"refunded": 119.0, "status": "refunded"}),
):
    event_types.add(
        workspace_event_type(
            name, label, group="Payments", resource="payment", serializer=PaymentSerializer, sample=sample
        )
    )
activity_actions.add(*ActivityAction.from_labels(PAYMENT_ACTIONS, _("Finance")))
notification_kinds.add(*PAYMENT_KINDS)
retention_rules.add(*PROVIDER_EVENT_RULES)
# An event without a signature is refused before its body is read.
body_rules.add(BodyRule("/pay/stripe/", most_bytes=LONGEST_EVENT, headers=(b"stripe-signature",), view_refuses=True))
dashboard_menu.add(
    MenuEntry(url_name="app:payment-account", label=_("Card payments"), icon="plug", section=Section.SETTINGS, order=56)
)


def _oldest_due_seconds() -> float:
    working = ProviderAccount.objects.filter(failure="")
    rows = ((kind.rows(Now()).filter(**{f"{kind.account}__in": working}), kind.due) for kind in PROVIDER_WORK)
    return max(oldest_seconds(due, column) for due, column in rows)


def _failing_accounts() -> dict[str, float]:
    reasons = {
        "key": Q(failure__in=OF_THE_KEY),
        "webhooks": ~Q(endpoint_failure=""),
        "events": Q(look_failure="permission_missing"),
    }
    counts = {reason: Count("pk", filter=condition) for reason, condition in reasons.items()}
    return {reason: float(number) for reason, number in connected_accounts().aggregate(**counts).items()}


METRICS.add(
    Gauge(
        "payment_events_waiting",
        "Events of payment providers that are not handled yet, counted up to 10,000.",
        read=lambda: capped_count(ProviderEvent.objects.filter(due_at__isnull=False)),
    ),
    Gauge(
        "payment_work_due_oldest_seconds",
        "For how long the oldest work at a payment provider has been due, of accounts whose key works.",
        read=_oldest_due_seconds,
    ),
    Gauge(
        "payment_accounts",
        "Payment accounts that are connected, counted up to 10,000.",
        read=lambda: capped_count(connected_accounts()),
    ),
    Gauge(
        "payment_accounts_failing",
        "Payment accounts of which the key, the webhooks or the reading of events fails, by what fails.",
        read=_failing_accounts,
        label="reason",
    ),
)

# Pages and reports -------------------------------------------------------------------------------------------

FINANCE_PAGE_ACTIONS: Final = {
    "finance.bookkeeping_changed": _("Accounts for DATEV changed"),
    "finance.exported": _("Invoices or payments exported"),
}
ACCOUNT_FIELDS: Final = (
    RecordedField("consultant_number", _("Consultant number"), ValueFormat.NUMBER),
    RecordedField("client_number", _("Client number"), ValueFormat.NUMBER),
    RecordedField("year_begins_in", _("Month in which the financial year begins"), ValueFormat.NUMBER),
    RecordedField("account_length", _("Digits of an account"), ValueFormat.NUMBER),
    *(RecordedField(name, label) for name, label in ACCOUNT_LABELS.items()),
)

dashboard_menu.add(
    MenuEntry(url_name="app:finance", label=_("Finance"), icon="activity", section=Section.SALES, order=50),
    MenuEntry(url_name="app:invoices", label=_("Invoices"), icon="invoice", section=Section.SALES, order=46),
    MenuEntry(url_name="app:payments", label=_("Payments"), icon="card", section=Section.SALES, order=48),
    MenuEntry(url_name="app:payouts", label=_("Payouts"), icon="bank", section=Section.SALES, order=49),
    MenuEntry(
        url_name="app:finance-settings",
        label=_("Invoice settings"),
        icon="settings",
        section=Section.SETTINGS,
        order=58,
    ),
)
console_menu.add(MenuEntry(url_name="console:finance", label=_("Finance"), icon="bank", section=Section.MAIN, order=25))
contact_panels.add(
    ContactPanel(
        name="invoices",
        order=20,
        template="finance/_contact_panel.html",
        content=invoices_of_contact,
        inbox_template="finance/_inbox_panel.html",
    )
)
recorded_actions.add(*RecordedAction.from_fields({"finance.bookkeeping_changed": ACCOUNT_FIELDS}))
activity_actions.add(*ActivityAction.from_labels(FINANCE_PAGE_ACTIONS, _("Finance")))
activity_details.add(
    ActivityDetail("finance.file", _("File"), [*FILES, ("payout", _("Payouts"))]),
    ActivityDetail("finance.kind", _("Kind"), Invoice.Kind.choices),
    ActivityDetail("payment_account.provider", _("Provider"), ProviderAccount.Provider.choices),
    *ActivityDetail.from_labels(
        {
            "amount": _("Amount"),
            "currency": _("Currency"),
            "finance.first": _("First day"),
            "finance.last": _("Last day"),
            "invoice.invoice": "",
            "invoice.number": _("Invoice"),
            "payment.invoice": "",
            "payment.number": _("Invoice"),
            "payment.payment": "",
            "payment_account.account": _("Account"),
            "payment_account.key": _("Key"),
            "payout.failure": _("Reason"),
            "payout.payout": "",
            "tax_rate.tax_rate": "",
        }
    ),
)
guides.add(
    Guide(
        area=DASHBOARD,
        slug="invoices",
        title=_("Invoices and payments"),
        summary=_("Write invoices, get paid, and see what is owed."),
        picture=_("The draft of an invoice, with the button that issues it, its lines and its total."),
        order=120,
        pages=("invoices", "payments", "payouts", "finance", "finance-settings", "payment-account"),
        related=("products", "booking-page"),
    )
)
