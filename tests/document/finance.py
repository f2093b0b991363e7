"""How the statuses of invoices' operations are brought about."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

from django.utils.timezone import now

from tests.document.calls import Call, Provocation
from tests.factories.finance import InvoiceFactory
from workspaces.finance.models import Checkout, Invoice, ProviderAccount

BASE = "api/v1/"
ONE = f"{BASE}invoices/<id:invoice>"


def an_unknown_contact(call: Call) -> int:
    return call.send({**call.body, "contact": str(uuid4())})


def a_malformed_time(call: Call) -> int:
    return call.send(path=f"/{call.route}?created_after=tomorrow")


def a_malformed_date(call: Call) -> int:
    return call.send(path=f"/{call.route}?arrives_after=tomorrow")


def an_issued_invoice(call: Call) -> int:
    return call.send(path=call.path.replace(str(call.ids["invoice"]), str(call.ids["issued_invoice"])))


def a_draft(call: Call) -> int:
    return call.send(path=call.path.replace(str(call.ids["issued_invoice"]), str(call.ids["invoice"])))


def no_line(call: Call) -> int:
    draft = InvoiceFactory.create(workspace=call.tenant.workspace, lines=[])
    return call.send(path=f"/{BASE}invoices/{draft.uuid}/issue")


def a_buyer_without_email(call: Call) -> int:
    draft = Invoice.objects.get(uuid=call.ids["invoice"])
    draft.contact.email = draft.contact.email_key = None  # type: ignore[union-attr]  # it has one
    draft.contact.save()  # type: ignore[union-attr]  # the same
    call.api.post(f"/invoices/{draft.uuid}/issue")
    return a_draft(call)


def another_name(call: Call) -> int:
    return [call.send({**call.body, "name": name}, idempotency_key="named") for name in ("One", "Two")][1]


def a_used_rate(call: Call) -> int:
    line = {"description": "Work", "unit_price": 1, "tax_rate": str(call.ids["tax_rate"])}
    call.api.post("/invoices", {"contact": str(call.ids["contact"]), "lines": [line]})
    return call.send({"percent": 50})


def too_much(call: Call) -> int:
    return call.send({"amount": 1_000_000})


def an_open_payment_page(call: Call) -> int:
    """A page of which nobody can say whether somebody pays there at the moment."""
    invoice = Invoice.objects.get(uuid=call.ids["issued_invoice"])
    account = ProviderAccount.objects.create(workspace=invoice.workspace, endpoint_id="we_1")
    Checkout.objects.create(
        invoice=invoice, account=account, amount=1, currency="USD", status="open", expires_at=now() + timedelta(hours=1)
    )
    return call.send()


OF_THEIR_OWN: dict[str, tuple[Provocation, ...]] = {
    f"GET {BASE}invoices": (a_malformed_time,),
    f"POST {BASE}invoices": (an_unknown_contact,),
    f"PATCH {ONE}": (an_issued_invoice,),
    f"DELETE {ONE}": (an_issued_invoice,),
    f"POST {ONE}/issue": (an_issued_invoice, no_line),
    f"POST {ONE}/send": (a_draft, a_buyer_without_email),
    f"POST {ONE}/void": (a_draft,),
    f"POST {ONE}/credit": (a_draft,),
    f"GET {ONE}/pdf": (a_draft,),
    f"POST {ONE}/payments": (a_draft, an_open_payment_page),
    f"POST {BASE}payments/<id:payment>/refunds": (too_much,),
    f"GET {BASE}payouts": (a_malformed_date,),
    f"POST {BASE}tax-rates": (another_name,),
    f"PATCH {BASE}tax-rates/<id:tax_rate>": (a_used_rate,),
}
