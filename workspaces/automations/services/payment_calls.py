"""Has invoices issued for runs that ask the contact for a payment, and records payments as facts."""

from datetime import datetime
from decimal import Decimal
from typing import Final

from agency.actors import Actor
from config.errors import DomainError
from workspaces.appointments.models import Appointment
from workspaces.automations.execution.internal_calls import NOTHING_DUE, RequestPayment
from workspaces.automations.execution.languages.contacts import money_language
from workspaces.automations.execution.payment_steps import PAYMENT_RECEIVED
from workspaces.automations.services.appointment_calls import NO_APPOINTMENT, OPEN, CallRefused, find_appointment
from workspaces.automations.services.trigger_events import NewTriggerEvent, record_trigger_events
from workspaces.catalogue.models import Product
from workspaces.contacts.models import Contact
from workspaces.finance.models import Invoice, Payment, TaxRate
from workspaces.finance.services.invoices import LineInput, create_invoice, issue_invoice, pay_url
from workspaces.finance.services.payments import PaymentHandler
from workspaces.subaccounts.services.money import format_money

# Why no payment is asked for. The steps' details have these codes.
NO_PRICE: Final = "no_price"
NO_PRODUCT: Final = "no_product"
NOT_INVOICED: Final = "not_invoiced"


def request_payment(call: RequestPayment, contact: Contact, now: datetime, by: Actor) -> dict[str, object]:
    """Issue an invoice of one line, and give the link to its pay page."""
    line = _line(call, contact, now)
    if line.unit_price <= 0:
        raise CallRefused(NOTHING_DUE)
    try:
        draft = create_invoice(workspace=contact.workspace, contact=contact, lines=[line], now=now, by=by)
        invoice = issue_invoice(invoice=draft, now=now, by=by)
    except DomainError:
        raise CallRefused(NOT_INVOICED) from None
    return {"invoice": str(invoice.uuid), "payment": payment_values(invoice, invoice.balance, contact)}


def payment_values(invoice: Invoice, amount: int, contact: Contact) -> dict[str, str]:
    """Return the values of `{{payment.…}}`, in the contact's language."""
    language = money_language(str(contact.attributes.get("language") or ""), contact.country or "")
    return {"amount": format_money(amount, invoice.currency, language), "link": pay_url(invoice) or ""}


def record_payment_fact(payment: Payment, now: datetime) -> None:
    """Record that a contact paid. Runs that wait for the invoice go on once it is paid as a whole."""
    invoice = payment.invoice
    contact = invoice.contact
    if contact is None:
        return
    is_paid = invoice.status == Invoice.Status.PAID
    fact = NewTriggerEvent(
        workspace_id=payment.workspace_id,
        contact_id=contact.pk,
        kind=PAYMENT_RECEIVED,
        source_key=f"payment:{payment.uuid}",
        subject=str(invoice.uuid) if is_paid else "",
        data={"values": {"payment": payment_values(invoice, payment.amount, contact)}},
    )
    record_trigger_events([fact])


PAYMENT_HANDLER: Final = PaymentHandler("automations", record_payment_fact)


def _line(call: RequestPayment, contact: Contact, now: datetime) -> LineInput:
    if call.pays in ("appointment", "deposit"):
        return _appointment_line(call, contact, now)
    product = _product(call.product, contact) if call.product else None
    price = Decimal(call.amount) if call.amount else product.price if product else None
    if price is None:
        raise CallRefused(NO_PRICE)
    name = product.name if product else contact.workspace.name
    return LineInput(name, Decimal(1), price, _tax_rate(contact), product)


def _appointment_line(call: RequestPayment, contact: Contact, now: datetime) -> LineInput:
    appointment = find_appointment(call.appointment, contact) if call.appointment else _latest(contact, now)
    price = appointment.price if call.pays == "appointment" else appointment.service.deposit
    if price is None:
        raise CallRefused(NO_PRICE)
    return LineInput(appointment.service.name, Decimal(1), price, _tax_rate(contact))


def _latest(contact: Contact, now: datetime) -> Appointment:
    """Return the contact's next appointment, else the last one that took place."""
    rows = Appointment.objects.of(contact.workspace).filter(contact=contact).select_related("service")
    following = rows.filter(status__in=OPEN, ends_at__gt=now).by_start().first()
    latest = rows.filter(status=Appointment.Status.COMPLETED).order_by("-starts_at", "-id")
    found = following or latest.first()
    if found is None:
        raise CallRefused(NO_APPOINTMENT)
    return found


def _product(uuid: str, contact: Contact) -> Product:
    found = Product.objects.of(contact.workspace).filter(uuid=uuid).first()
    if found is None:
        raise CallRefused(NO_PRODUCT)
    return found


def _tax_rate(contact: Contact) -> TaxRate | None:
    """Return the workspace's tax rate, if it has only one that prices contain. So the contact pays the price itself."""
    rates = list(TaxRate.objects.filter(workspace=contact.workspace, archived_at=None, inclusive=True)[:2])
    return rates[0] if len(rates) == 1 else None
