"""Invoices on the workspace surface: drafts, issue, credit notes and what is refused."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry
from tests import furnished
from tests.factories import ContactFactory
from tests.factories.finance import InvoiceFactory, TaxRateFactory, a_line, an_issued_invoice, pay_in_cash
from tests.tenants import Tenant, message
from tests.workspaces.topics import recorded_events, subscribe_to
from workspaces.contacts.services import merge_contacts, remove_contact
from workspaces.finance.models import Invoice
from workspaces.finance.services.invoices import issue_invoice
from workspaces.finance.services.numbering import SeriesInUse, change_series
from workspaces.finance.services.recording import report_overdue_invoices
from workspaces.finance.services.settings import change_finance_settings
from workspaces.subaccounts.models import Workspace

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
TOPICS = ("invoice.created", "invoice.sent", "invoice.paid", "invoice.overdue", "invoice.voided")


@pytest.fixture
def rate(a: Tenant) -> Any:
    return TaxRateFactory.create(workspace=a.workspace, name="VAT")


def body(a: Tenant, *lines: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "contact": str(a.contact.uuid),
        "lines": list(lines or [{"description": "Work", "unit_price": 100}]),
        **more,
    }


def drafted(a: Tenant, *lines: dict[str, Any], **more: Any) -> dict[str, Any]:
    answer = a.workspace_api.post("/invoices", body(a, *lines, **more))
    assert answer.status_code == 201, answer.content
    return dict(answer.json()["data"])


def moved(a: Tenant, invoice: dict[str, Any], move: str, sent: Any = None) -> dict[str, Any]:
    path = f"/invoices/{invoice['id']}/{move}"
    answer = a.workspace_api.post(path) if sent is None else a.workspace_api.post(path, sent)
    assert answer.status_code in (200, 201), answer.content
    return dict(answer.json()["data"])


def read(a: Tenant, invoice: dict[str, Any]) -> dict[str, Any]:
    return dict(a.workspace_api.get(f"/invoices/{invoice['id']}").json()["data"])


def refused(a: Tenant, invoice: dict[str, Any], move: str, sent: Any = None) -> tuple[int, str]:
    path = f"/invoices/{invoice['id']}/{move}"
    answer = a.workspace_api.post(path) if sent is None else a.workspace_api.post(path, sent)
    return answer.status_code, message(answer)


def pay(invoice: dict[str, Any], amount: int) -> None:
    pay_in_cash(Invoice.objects.get(uuid=invoice["id"]), amount)


def test_a_draft_is_issued_paid_and_then_stays_as_it_is(a: Tenant, rate: Any) -> None:
    subscribe_to(a.workspace, *TOPICS)
    Workspace.objects.filter(pk=a.workspace.pk).update(currency="EUR", timezone="Europe/Berlin")
    change_finance_settings(
        workspace=a.workspace, now=now(), by=SYSTEM, business_name="Salon GmbH", vat_id="DE1", payment_days=7
    )
    line = {"description": "Work", "quantity": 2.5, "unit_price": 10.01, "tax_rate": str(rate.uuid)}
    draft = drafted(a, line, {"description": "Stamp", "unit_price": 0.85})
    assert (draft["number"], draft["status"], draft["pay_url"], draft["issued_at"]) == (None, "draft", None, None)
    assert [each["amount"] for each in draft["lines"]] == [25.03, 0.85]
    assert draft["taxes"] == [
        {"name": "", "percent": 0.0, "base": 0.85, "tax": 0.0},
        {"name": "VAT", "percent": 19.0, "base": 25.03, "tax": 4.76},
    ]
    assert (draft["net"], draft["tax"], draft["total"]) == (25.88, 4.76, 30.64)
    changed = a.workspace_api.patch(f"/invoices/{draft['id']}", {"note": "Thanks", "lines": [line]}).json()["data"]
    assert (changed["note"], changed["total"], len(changed["lines"])) == ("Thanks", 29.79, 1)
    issued = moved(a, draft, "issue")
    assert (issued["number"], issued["status"], issued["balance"]) == ("INV-0001", "open", 29.79)
    assert (issued["seller"]["name"], issued["seller"]["vat_id"]) == ("Salon GmbH", "DE1")
    assert issued["buyer"]["name"] == a.contact.name
    assert issued["due_at"].endswith(("T21:59:59Z", "T22:59:59Z"))
    assert issued["pay_url"].startswith("http")
    assert "/pay/" in issued["pay_url"]
    pay(issued, 1000)
    assert (read(a, issued)["status"], read(a, issued)["balance"]) == ("open", 19.79)
    pay(issued, 1979)
    paid = read(a, issued)
    assert (paid["status"], paid["paid"], paid["balance"]) == ("paid", 29.79, 0.0)
    for answer in (
        a.workspace_api.patch(f"/invoices/{draft['id']}", {"note": "Other"}),
        a.workspace_api.delete(f"/invoices/{draft['id']}"),
        a.workspace_api.post(f"/invoices/{draft['id']}/issue"),
    ):
        assert (answer.status_code, message(answer)) == (
            409,
            "This invoice was issued, so it stays as it is. Correct it by a credit note.",
        )
    assert read(a, issued) == paid
    events = [(topic, data["invoice"]["status"]) for topic, data in recorded_events(a.workspace)]
    assert events == [("invoice.created", "open"), ("invoice.paid", "paid")]
    actions = ActivityEntry.objects.filter(action__startswith="invoice.").order_by("id")
    names = ["created", "changed", "issued", "paid"]
    assert list(actions.values_list("action", flat=True)) == [f"invoice.{name}" for name in names]


def test_a_line_takes_only_what_fits_its_currency(a: Tenant) -> None:
    line = {"description": "Work", "unit_price": 1.5}
    for currency, status, errors in (("EUR", 201, None), ("JPY", 422, {"lines"}), ("KWD", 422, {"currency"})):
        Workspace.objects.filter(pk=a.workspace.pk).update(currency=currency)
        answer = a.workspace_api.post("/invoices", body(a, line))
        assert (answer.status_code, errors) == (status, set(answer.json()["errors"]) if errors else None), currency
    Workspace.objects.filter(pk=a.workspace.pk).update(currency="JPY")
    assert drafted(a, {"description": "Work", "unit_price": 150, "quantity": 1.5})["total"] == 225.0


IMPOSSIBLE: tuple[tuple[dict[str, Any], set[str]], ...] = (
    ({"lines": []}, {"lines"}),
    ({"lines": [{"description": "Work", "unit_price": 1}] * 201}, {"lines"}),
    ({"lines": [{"description": "Work", "unit_price": 1, "quantity": 0}]}, {"lines.0.quantity"}),
    ({"lines": [{"description": "Work", "unit_price": 1, "quantity": 1.0001}]}, {"lines.0.quantity"}),
    ({"lines": [{"description": "Work", "unit_price": 1e11, "quantity": 2}]}, {"lines"}),
    ({"lines": [{"description": "Work", "unit_price": -1}]}, {"lines"}),
    ({"supplied_on": "2026-02-30"}, {"supplied_on"}),
    ({"due_at": "2066-01-01T00:00:00Z"}, {"due_at"}),
    ({"language": "xx"}, {"language"}),
)


def test_a_draft_that_cannot_be_is_refused(a: Tenant) -> None:
    for changes, errors in IMPOSSIBLE:
        answer = a.workspace_api.post("/invoices", {**body(a), **changes})
        assert (answer.status_code, set(answer.json()["errors"])) == (422, errors), errors


def test_the_lines_of_a_change_are_written_whole(a: Tenant) -> None:
    draft = drafted(a)
    changed = a.workspace_api.patch(f"/invoices/{draft['id']}", {"lines": [{"description": "Cut", "unit_price": 12.5}]})
    assert [(line["quantity"], line["unit_price"]) for line in changed.json()["data"]["lines"]] == [(1, 12.5)]
    wrong = a.workspace_api.patch(f"/invoices/{draft['id']}", {"lines": [{"description": "Cut"}]})
    assert (wrong.status_code, set(wrong.json()["errors"])) == (422, {"lines.0.unit_price"})


def test_reverse_charge_needs_the_buyers_vat_id_and_no_tax(a: Tenant, rate: Any) -> None:
    taxed = {"description": "Work", "unit_price": 1, "tax_rate": str(rate.uuid)}
    answer = a.workspace_api.post("/invoices", body(a, taxed, reverse_charge=True))
    assert (answer.status_code, set(answer.json()["errors"])) == (422, {"reverse_charge"})
    draft = drafted(a, reverse_charge=True)
    assert refused(a, draft, "issue") == (422, "An invoice with reverse charge needs the buyer's VAT id.")
    a.workspace_api.patch(f"/contacts/{a.contact.uuid}", {"attributes": {"vat_id": "FR99"}})
    assert moved(a, draft, "issue")["buyer"]["vat_id"] == "FR99"


def test_a_voided_invoice_is_credited_as_a_whole_by_a_note_of_its_own_series(a: Tenant, rate: Any) -> None:
    subscribe_to(a.workspace, *TOPICS)
    line = {"description": "Work", "unit_price": 9.99, "tax_rate": str(rate.uuid)}
    issued = moved(a, drafted(a, line), "issue")
    void = moved(a, issued, "void")
    assert (void["status"], void["credited"], void["balance"], void["pay_url"]) == ("void", 11.89, 0.0, None)
    [note] = a.workspace_api.get("/invoices?kind=credit_note").json()["data"]
    assert (note["number"], note["credits"]) == ("CN-0001", {"id": issued["id"], "number": "INV-0001"})
    assert {name: note[name] for name in ("lines", "taxes", "total", "buyer")} == {
        name: issued[name] for name in ("lines", "taxes", "total", "buyer")
    }
    state = "This is not possible for a void invoice or a credit note."
    assert refused(a, issued, "void") == refused(a, note, "credit") == refused(a, issued, "credit") == (409, state)
    topics = [topic for topic, _ in recorded_events(a.workspace)]
    assert topics == ["invoice.created", "invoice.created", "invoice.voided"]


def test_what_was_paid_can_be_credited_but_not_voided(a: Tenant) -> None:
    issued = moved(a, drafted(a), "issue")
    pay(issued, 1)
    sentence = "Something was paid for this invoice. Refund it first, or create a credit note."
    assert refused(a, issued, "void") == (409, sentence)
    note = moved(a, issued, "credit", {"lines": [{"description": "Less", "unit_price": 99.99}]})
    assert (note["total"], read(a, issued)["status"], read(a, issued)["balance"]) == (99.99, "paid", 0.0)


@pytest.mark.parametrize("says_the_last_lines", [True, False])
def test_parts_of_a_credit_take_exactly_what_was_invoiced(a: Tenant, rate: Any, says_the_last_lines: bool) -> None:
    """The tax of each third is rounded down, and the tax of the whole is rounded up."""
    inside = TaxRateFactory.create(workspace=a.workspace, name="Inside", inclusive=True)

    def lines(work: float, goods: float) -> list[dict[str, Any]]:
        return [
            {"description": "Work", "unit_price": work, "tax_rate": str(rate.uuid)},
            {"description": "Goods", "unit_price": goods, "tax_rate": str(inside.uuid)},
        ]

    issued = moved(a, drafted(a, *lines(0.36, 10)), "issue")
    a.workspace_api.patch(f"/tax-rates/{rate.uuid}", {"name": "Renamed"})
    notes = [moved(a, issued, "credit", {"lines": lines(0.12, 3.33)}) for _ in range(2)]
    too_much = (422, "The lines are more than what is left of the invoice.")
    assert refused(a, issued, "credit", {"lines": lines(0.13, 3.34)}) == too_much
    foreign = [{"description": "Untaxed", "unit_price": 1}]
    assert refused(a, issued, "credit", {"lines": foreign})[0] == 422
    notes.append(moved(a, issued, "credit", {"lines": lines(0.12, 3.34)} if says_the_last_lines else None))
    assert refused(a, issued, "credit")[0] == 409
    assert [note["number"] for note in notes] == ["CN-0001", "CN-0002", "CN-0003"]
    for name in ("net", "tax", "total"):
        assert round(sum(note[name] for note in notes), 2) == issued[name], name
    assert (read(a, issued)["status"], read(a, issued)["credited"]) == ("void", issued["total"])


def test_an_overdue_invoice_is_shown_found_and_reported_once(a: Tenant) -> None:
    subscribe_to(a.workspace, *TOPICS)
    late, later = drafted(a), moved(a, drafted(a), "issue")
    issue_invoice(invoice=Invoice.objects.get(uuid=late["id"]), now=now() - timedelta(days=30), by=SYSTEM)
    found = {
        status: [each["id"] for each in a.workspace_api.get(f"/invoices?status={status}").json()["data"]]
        for status in ("open", "overdue", "paid")
    }
    assert found == {"open": [later["id"]], "overdue": [late["id"]], "paid": []}
    assert [report_overdue_invoices(now=now()) for _ in range(2)] == [1, 0]
    overdue = [data["invoice"] for topic, data in recorded_events(a.workspace) if topic == "invoice.overdue"]
    assert [(each["id"], each["status"]) for each in overdue] == [(late["id"], "overdue")]


def test_a_series_begins_as_chosen_until_its_first_number_is_given(a: Tenant) -> None:
    def choose(prefix: str) -> None:
        change_series(workspace=a.workspace, kind="invoice", prefix=prefix, next_number=77, by=SYSTEM)

    choose("2026/")
    assert [moved(a, drafted(a), "issue")["number"] for _ in range(2)] == ["2026/0077", "2026/0078"]
    with pytest.raises(SeriesInUse):
        choose("2027/")


def test_a_used_tax_rate_keeps_its_percentage(a: Tenant, rate: Any) -> None:
    path, line = f"/tax-rates/{rate.uuid}", {"description": "Work", "unit_price": 1, "tax_rate": str(rate.uuid)}
    assert a.workspace_api.patch(path, {"percent": 20}).json()["data"]["percent"] == 20.0
    drafted(a, line)
    assert a.workspace_api.patch(path, {"percent": 21}).status_code == 409
    assert a.workspace_api.patch(path, {"inclusive": True}).status_code == 409
    archived = a.workspace_api.patch(path, {"name": "Old", "archived": True}).json()["data"]
    assert (archived["name"], archived["archived"]) == ("Old", True)
    assert a.workspace_api.get("/tax-rates?archived=false").json()["data"] == []
    answer = a.workspace_api.post("/invoices", body(a, line))
    assert (answer.status_code, message(answer)) == (404, "Tax rate not found.")


def test_a_contacts_removal_and_merge_leave_issued_invoices(a: Tenant) -> None:
    kept, gone = (ContactFactory.create(workspace=a.workspace, email=f"{name}@example.com") for name in "kg")
    issued = an_issued_invoice(a.workspace, contact=gone)
    draft = InvoiceFactory.create(workspace=a.workspace, contact=gone)
    merge_contacts(contact=kept, other=gone, now=now(), by=SYSTEM)
    assert set(Invoice.objects.filter(contact=kept)) == {issued, draft}
    remove_contact(contact=kept, now=now(), by=SYSTEM)
    left = Invoice.objects.get()
    assert (left.pk, left.contact, left.buyer["name"]) == (issued.pk, None, gone.name)


CHANGES = {
    "number": "number = 'X'",
    "amounts": "total = total + 1, net = net + 1",
    "buyer": "buyer = '{}'",
    "seller": "seller = '{}'",
    "issue": "issued_at = now()",
    "due time": "due_at = now()",
    "back to draft": "status = 'draft'",
    "note": "note = 'x'",
    "currency": "currency = 'JPY'",
    "paid": "paid = 1",
    "credited": "credited = 1",
}
STATEMENTS = {
    **{name: f"UPDATE finance_invoice SET {change} WHERE id = %s" for name, change in CHANGES.items()},  # noqa: S608  # our own
    "a line": "UPDATE finance_invoiceline SET amount = amount + 1 WHERE invoice_id = %s",
    "a tax": "UPDATE finance_invoicetax SET tax = tax + 1 WHERE invoice_id = %s",
    "no line": "DELETE FROM finance_invoiceline WHERE invoice_id = %s",
    "one more tax": "INSERT INTO finance_invoicetax (invoice_id, name, percent, inclusive, base, tax) "
    "VALUES (%s, 'x', 1, false, 0, 0)",
    "the invoice": "DELETE FROM finance_invoice WHERE id = %s",
}


def carry_out(statement: str, invoice: Invoice) -> None:
    """Run a statement as far as its commit would come."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(statement, [invoice.pk])


def issue_and_commit(draft: Invoice) -> None:
    """Issue a draft, and check what its commit would check."""
    with transaction.atomic(), connection.cursor() as cursor:
        issue_invoice(invoice=draft, now=now(), by=SYSTEM)
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


@pytest.mark.parametrize("changed", STATEMENTS)
def test_sql_cannot_change_what_was_issued(a: Tenant, changed: str) -> None:
    invoice = an_issued_invoice(a.workspace)
    with pytest.raises(DatabaseError, match=r"stays as it is|is what its"):
        carry_out(STATEMENTS[changed], invoice)


def test_sql_cannot_issue_what_does_not_add_up(a: Tenant) -> None:
    draft = InvoiceFactory.create(workspace=a.workspace)
    Invoice.objects.filter(pk=draft.pk).update(net=draft.net + 1, total=draft.total + 1)
    with pytest.raises(IntegrityError, match="taxes of an invoice are its totals"):
        issue_and_commit(draft)


def test_the_erasure_of_a_person_changes_texts_and_nothing_else(a: Tenant) -> None:
    invoice = an_issued_invoice(a.workspace)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL agency.activity = 'erasure'")
        cursor.execute("UPDATE finance_invoice SET buyer = %s WHERE id = %s", ['{"name": "Erased"}', invoice.pk])
        cursor.execute("UPDATE finance_invoiceline SET description = 'Erased' WHERE invoice_id = %s", [invoice.pk])
    for changed in ("amounts", "a line", "a tax", "the invoice"):
        with pytest.raises(DatabaseError, match="stays as it is"):
            carry_out(STATEMENTS[changed], invoice)
    invoice.refresh_from_db()
    assert (invoice.buyer, invoice.lines.get().description) == ({"name": "Erased"}, "Erased")


def statements_of_list(a: Tenant, invoices: int) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert len(a.workspace_api.get("/invoices").json()["data"]) == invoices
    return len(captured)


def test_a_list_takes_the_same_statements_however_long(a: Tenant, rate: Any) -> None:
    counts = []
    for number in (1, 2, 3):
        an_issued_invoice(a.workspace, lines=[a_line(), a_line("5", rate=rate)])
        counts.append(statements_of_list(a, number))
    assert counts[1] == counts[2] <= 6
