"""Files of contacts in the dashboard: uploaded, their columns chosen, taken in piece by piece, and exported again."""

import csv
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.utils.timezone import now

from agency.limits import unlimited
from config.tries.counting import MOST_TRIES
from config.tries.models import BegunWork
from tests import furnished
from tests.agency.console.browsers import text
from tests.factories import ContactFactory, ContactImportFactory
from tests.processes.preloaded import Order, Preloaded
from tests.sizes import size
from tests.tenants import Tenant
from tests.waiting import until, wait_for_lock
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.contacts.dashboard import imports
from workspaces.contacts.models import Contact, ContactImport, ContactImportPiece, RefusedRow
from workspaces.contacts.services import count_contacts
from workspaces.contacts.services.file_imports import IMPORTS, import_next_piece
from workspaces.contacts.tasks import forget_records, import_files
from workspaces.subaccounts.models import Workspace

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
KILLS = size("workers", "killed importers")
IMPORTER = Order("tests.workspaces.contacts.import_process")
# Whoever writes this contact waits for a lock that the test has.
HOLD = """
CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_advisory_xact_lock(4711);
    RETURN new;
END $$;
CREATE TRIGGER hold BEFORE INSERT ON contacts_contact
FOR EACH ROW WHEN (new.name = '{name}') EXECUTE FUNCTION hold()
"""
# As if somebody gave the address to another contact whenever this one is written.
REFUSES_ADA = """
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE unique_violation USING CONSTRAINT = 'contact_phone_once_per_workspace';
END $$;
CREATE TRIGGER refuse BEFORE INSERT ON contacts_contact
FOR EACH ROW WHEN (new.name = 'Ada') EXECUTE FUNCTION refuse()
"""
FILE = """\
\ufeffFull name;Mobile;E-mail;Labels;Shoe size;Unsubscribed
Ada;0151 1234567;ada@example.com;VIP, New;38;
Grace;+1 650 253 0000;;;;yes
Nobody;not a number;;;40;
"""


@pytest.fixture
def customer(a: Tenant) -> Client:
    return dashboard_client(a.workspace)


def upload(customer: Client, content: bytes, name: str = "customers.csv") -> Any:
    return customer.post("/app/contacts/imports/new", {"file": SimpleUploadedFile(name, content)})


def run_to_the_end() -> int:
    pieces = 0
    while import_next_piece(now=now()):
        pieces += 1
    return pieces


def test_a_file_is_mapped_taken_in_and_what_was_refused_can_be_mended(a: Tenant, customer: Client) -> None:
    # Contacts leads to the form while there is no import, and then to the imports.
    assert 'href="/app/contacts/imports/new"' in customer.get("/app/contacts").content.decode()
    page = upload(customer, FILE.encode())["Location"]
    assert 'href="/app/contacts/imports"' in customer.get("/app/contacts").content.decode()
    shown = customer.get(page).content.decode()
    assert "become one name" not in shown
    assert "first name." not in shown
    assert "Shoe size" in shown
    assert "0151 1234567" in shown
    assert "Recognized: Full name → Name, Mobile → Phone number, E-mail → E-mail" in shown
    made = ContactImport.objects.get()
    assert made.mapping == ["name", "phone", "email", "tags", "", "opted_out"]
    columns = {f"column_{number}": field for number, field in enumerate(made.mapping)}
    chosen = {**columns, "column_4": "attributes.Shoe size", "default_country": "DE", "tags": "Imported"}
    assert customer.post(page, chosen).status_code == 302
    made.refresh_from_db()
    assert made.status == "running"
    assert 'http-equiv="refresh"' in customer.get(page).content.decode()
    assert customer.post(page, chosen).status_code == 422  # it has begun
    import_files()
    made.refresh_from_db()
    assert (made.status, made.created, made.updated, made.refused) == ("completed", 2, 0, 1)
    ada = Contact.objects.get(name="Ada")
    assert (ada.phone, ada.tags, ada.attributes) == ("+491511234567", ["VIP", "New", "Imported"], {"Shoe size": "38"})
    assert Contact.objects.get(name="Grace").opt_out_source == "import"
    assert "refresh" not in customer.get(page).content.decode()
    result = text(customer.get(page))
    assert "2 imported, 1 not imported" in result
    assert re.search(
        r"Row Reason In the file 4 The phone number must have its country code, .* Nobody · not a number · 40", result
    )
    assert 'href="/app/contacts?tag=Imported"' in customer.get(page).content.decode()
    refused = list(csv.reader(StringIO(customer.get(f"{page}/refused").content.decode())))
    assert refused[0][:3] == ["Row", "Reason", "Full name"]
    assert refused[1][0] == "4"
    assert refused[1][2:4] == ["Nobody", "not a number"]
    assert customer.get(f"{page}/refused").content.decode().startswith('"Row","Reason","Full name"')


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is required"),
        (b"phone\n", "at least one row"),
        (b"\x00\x01\x02\x00,\n\x00", "not a CSV file"),
        (b"a,b\n" + b"x" * 17 * 1024 * 1024, "16 MiB"),
        ((",".join("abc" for _ in range(61)) + "\n1\n").encode(), "at most 60 columns"),
    ],
    ids=["empty", "no rows", "binary", "large", "wide"],
)
def test_what_is_no_such_file_is_refused(customer: Client, content: bytes, message: str) -> None:
    answer = upload(customer, content)
    assert answer.status_code == 422
    assert message in answer.content.decode() or content == b""
    assert not ContactImport.objects.exists()


@pytest.mark.parametrize("language", [code for code, _ in settings.LANGUAGES])
def test_the_sample_file_is_recognized_in_each_language(a: Tenant, customer: Client, language: str) -> None:
    customer.cookies[settings.LANGUAGE_COOKIE_NAME] = language
    assert 'href="/app/contacts/imports/sample"' in customer.get("/app/contacts/imports/new").content.decode()
    sample = customer.get("/app/contacts/imports/sample").content
    page = upload(customer, sample)["Location"]
    made = ContactImport.objects.get()
    assert made.mapping == ["first_name", "last_name", "phone", "email", "tags"]
    customer.post(page, {f"column_{number}": field for number, field in enumerate(made.mapping)})
    run_to_the_end()
    ada = Contact.objects.get(name="Ada Lovelace")
    assert (ada.phone, ada.email, ada.tags) == ("+49301234567", "ada@example.com", ["VIP", "Newsletter"])


def test_the_first_ten_refused_rows_are_shown_and_the_country_is_the_workspace_s(a: Tenant, customer: Client) -> None:
    Workspace.objects.filter(pk=a.workspace.pk).update(timezone="Europe/Vienna")
    lines = "".join(f"Contact {number},<b>{number}</b>\n" for number in range(12))
    page = upload(customer, f"name,phone\n{lines}Ada,+49301234567\n".encode())["Location"]
    assert '<option value="AT" selected>' in customer.get(page).content.decode()
    customer.post(page, {"column_0": "name", "column_1": "phone"})
    run_to_the_end()
    shown = customer.get(page)
    assert "1 imported, 12 not imported" in text(shown)
    assert "The first 10 of 12 are shown." in text(shown)
    assert "Contact 9 · &lt;b&gt;9&lt;/b&gt;" in shown.content.decode()
    assert "Contact 10" not in shown.content.decode()


def test_reasons_are_translated_also_where_they_hold_a_number(
    customer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    long, tags = "x" * 2_100, ";".join(f"t{number}" for number in range(60))
    rows = (
        f"{long},+4930123451,,,",
        "Ada,1,no,,",
        f"Ada,+4930123452,,{tags},",
        f"Ada,+4930123453,,,{long}",
        "Ada,+4930123454,,,,surplus",
        f"Ada,+4930123455,,{'y' * 90},",
        "A\u0007da,+4930123456,,,",
    )
    page = upload(customer, "\n".join(["name,phone,email,tags,attributes.Size", *rows]).encode())["Location"]
    fields = ("name", "phone", "email", "tags", "attributes.Size")
    customer.post(page, {f"column_{number}": field for number, field in enumerate(fields)})
    run_to_the_end()
    plain = list(RefusedRow.objects.order_by("row").values_list("reason", flat=True))
    assert plain[0].startswith("The name field may have at most ")
    monkeypatch.setattr(imports, "_", lambda sentence: f"<{sentence}>")
    read = list(csv.reader(StringIO(customer.get(f"{page}/refused").content.decode())))[1:]
    reasons = [line[1] for line in read]
    assert len(reasons) == len(rows)
    for reason in reasons:
        assert re.fullmatch(r"(<[^<>]+\.> ?)+", reason), reason
    assert reasons[0] == f"<{plain[0].replace('name', 'Name')}>"
    assert reasons[1].count("<") == 2
    assert reasons[3].startswith("<The Size field may have at most ")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_files_are_read_in_what_programs_write(a: Tenant, customer: Client, encoding: str) -> None:
    page = upload(customer, "name\tphone\nJürgen\t+4930123456\n".encode(encoding))["Location"]
    customer.post(page, {"column_0": "name", "column_1": "phone"})
    assert run_to_the_end() == 1
    assert Contact.objects.get().name == "Jürgen"


def test_columns_have_to_lead_to_somebody(customer: Client) -> None:
    page = upload(customer, b"a,b\n1,2\n")["Location"]
    for chosen, message in (
        ({"column_0": "name"}, "phone number or the e-mail"),
        ({"column_0": "phone", "column_1": "phone"}, "No two columns"),
        ({"column_0": "uuid"}, "Select a valid choice"),
    ):
        answer = customer.post(page, chosen)
        assert answer.status_code == 422
        assert message in answer.content.decode()


def test_the_columns_page_says_how_many_rows_have_no_first_name(customer: Client) -> None:
    lines = ["1,Ada,,1", "2,,Hopper,2", "3,,,3", '4," ",,4']
    page = upload(customer, "\n".join(["Phone,First name,Last name,Nickname", *lines]).encode())["Location"]
    assert "2 rows have no first name. A broadcast can use a fallback value for them." in text(customer.get(page))
    refused = {"column_0": "phone", "column_3": "phone"}
    for names, shown in (
        ({}, "4 rows have"),
        ({"column_1": "first_name"}, "3 rows have"),
        ({"column_2": "name"}, "3 rows have"),
        ({"column_1": "first_name", "column_2": "first_name"}, "3 rows have"),
    ):
        assert f"{shown} no first name." in text(customer.post(page, {**refused, **names}))
    customer.post(page, {"column_0": "phone", "column_3": "name"})
    assert "no first name" not in text(customer.get(page))


def a_running_import(a: Tenant, rows: int) -> ContactImport:
    lines = "".join(f"Contact {number},+49301{number:06d}\n" for number in range(rows))
    Workspace.objects.filter(pk=a.workspace.pk).update(limits=unlimited())
    made = ContactImportFactory.create(workspace=a.workspace, content=f"name,phone\n{lines}".encode())
    ContactImport.objects.filter(pk=made.pk).update(status="running", mapping=["name", "phone"])
    return made


@pytest.mark.django_db(transaction=True)
def test_workers_that_are_killed_lose_nothing_and_double_nothing(a: Tenant, preloaded: Preloaded) -> None:
    """Each of them in the middle of a piece of a thousand rows."""
    rows = 1_000 * (KILLS + 1) + 10
    made = a_running_import(a, rows)
    for kills in range(KILLS):
        with _held_at_row(1_500 + kills * 1_000), preloaded.killed_at_end(IMPORTER):
            wait_for_lock("advisory")
    made.refresh_from_db()
    assert (made.status, made.rows_done) == ("running", 1_000 * KILLS)

    def is_completed() -> bool:
        import_files()  # does nothing until the database has noticed the last death
        made.refresh_from_db()
        return made.status != "running"

    until(is_completed, what="the rest of the import")
    assert (made.status, made.rows_done, made.created, made.updated) == ("completed", rows, rows, 0)
    assert Contact.objects.count() == rows == count_contacts(a.workspace)
    assert not ContactImportPiece.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_an_import_that_always_kills_its_worker_is_set_aside_and_says_so(
    a: Tenant, b: Tenant, preloaded: Preloaded
) -> None:
    """Its try is counted before it begins; meanwhile others go before it."""
    deadly = a_running_import(a, 1_010)
    with _held_at_row(1_005):
        for kills in range(MOST_TRIES):
            with preloaded.killed_at_end(IMPORTER):
                sessions = wait_for_lock("advisory")
            end_sessions(sessions)
            until(lambda: not has_waiting_imports(), what="the end of the killed one's transaction")
            deadly.refresh_from_db()
            assert (deadly.status, deadly.rows_done) == ("running", 1_000)
            assert BegunWork.objects.get(kind="contact import", key=deadly.pk).tries == kills + 1
    other = a_running_import(b, 5)

    assert import_next_piece(now=now())
    other.refresh_from_db()
    assert other.status == "completed"
    assert import_next_piece(now=now())

    deadly.refresh_from_db()
    assert (deadly.status, deadly.rows_done, deadly.created) == ("failed", 1_000, 1_000)
    assert Contact.objects.filter(workspace=a.workspace).count() == 1_000
    assert not deadly.pieces.exists()
    assert BegunWork.objects.exclude(set_aside_at=None).get().key == str(deadly.pk)
    assert not import_next_piece(now=now())
    page = dashboard_client(a.workspace).get(f"/app/contacts/imports/{deadly.uuid}", HTTP_ACCEPT_LANGUAGE="de")
    assert "Der Import brach 5-mal" in page.content.decode()
    assert (
        "Fehlgeschlagen"
        in dashboard_client(a.workspace).get("/app/contacts/imports", HTTP_ACCEPT_LANGUAGE="de").content.decode()
    )


def end_sessions(pids: list[int]) -> None:
    """End the sessions of a process that was killed. PostgreSQL does not look for it while they wait for a lock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pid) FROM unnest(%s) AS pid", [pids])


def has_waiting_imports() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = "
            "(SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        return cursor.fetchone() is not None


@contextmanager
def _held_at_row(number: int) -> Iterator[None]:
    """Have whoever takes in this contact wait, with what it has changed, until the block ends."""
    with connection.cursor() as cursor:
        cursor.execute(HOLD.format(name=f"Contact {number}"))
        cursor.execute("SELECT pg_advisory_lock(4711)")
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(4711)")
            cursor.execute("DROP FUNCTION hold CASCADE")


def test_a_short_file_does_not_wait_for_a_long_one(a: Tenant, b: Tenant) -> None:
    long = a_running_import(a, 1_010)
    assert import_next_piece(now=now())
    short = a_running_import(b, 5)
    assert import_next_piece(now=now())
    long.refresh_from_db()
    short.refresh_from_db()
    assert (long.status, long.rows_done, short.status) == ("running", 1_000, "completed")


def an_import_of(a: Tenant, content: str) -> ContactImport:
    made = ContactImportFactory.create(workspace=a.workspace, content=content.encode())
    ContactImport.objects.filter(pk=made.pk).update(status="running")
    return made


def test_a_row_that_names_two_other_rows_people_holds_no_import_up(a: Tenant) -> None:
    for number in range(2):
        ContactFactory.create(workspace=a.workspace, phone=f"+493012345{number}")
    made = an_import_of(a, "phone,email\n+4930123450,\n+4930123451,x@example.com\n+4930123450,x@example.com\n")
    import_files()
    made.refresh_from_db()
    assert (made.status, made.updated, made.refused) == ("completed", 2, 1)


def test_rows_that_the_database_refuses_hold_no_other_import_up(a: Tenant, b: Tenant) -> None:
    with connection.cursor() as cursor:
        cursor.execute(REFUSES_ADA)
    refused = an_import_of(a, "name,phone\nAda,+4930123450\n")
    other = an_import_of(b, "name,phone\nGrace,+4930123451\n")
    import_files()
    refused.refresh_from_db()
    other.refresh_from_db()
    assert (refused.status, refused.refused, refused.refused_rows.count()) == ("completed", 1, 1)
    assert "Send them again" in refused.refused_rows.get().reason
    assert (other.status, other.created) == ("completed", 1)


def test_a_cancelled_import_keeps_what_was_taken_in(a: Tenant, customer: Client) -> None:
    made = a_running_import(a, 1_010)
    import_next_piece(now=now())
    customer.post(f"/app/contacts/imports/{made.uuid}/cancel")
    assert run_to_the_end() == 0
    made.refresh_from_db()
    assert (made.status, made.rows_done, made.pieces.count()) == ("cancelled", 1_000, 0)


def test_an_export_is_no_formula_and_can_be_imported_again(a: Tenant, b: Tenant, customer: Client) -> None:
    ContactFactory.create(
        workspace=a.workspace, name="=HYPERLINK(1)", phone="+4930123456", tags=["@VIP", "New", "@SUM(1)"],
        attributes={"-plan": "+gold", "a;=b": "x\n=1"}, opted_out=True,
    )  # fmt: skip
    ContactFactory.create(workspace=a.workspace, name='Grace "G", H', email="grace@example.com")
    ContactFactory.create(workspace=a.workspace, name="Ada;=1+1;@SUM(1)", email="ada@example.com")
    ContactFactory.create(workspace=a.workspace, name="\uff1dSUM(1)", email="linus@example.com")
    exported = b"".join(customer.get("/app/contacts/export")).decode()
    lines = list(csv.reader(StringIO(exported)))
    assert lines[0][:7] == ["name", "phone", "email", "tags", "country", "timezone", "opted_out"]
    assert not any(re.search(r"(^|[;,|\t\r\n]) *[=+@\uff1d-]", cell) for line in lines for cell in line)
    assert "\"Ada;'=1+1;'@SUM(1)\"" in exported
    assert all(line.startswith('"') for line in exported.splitlines() if "=1" not in line)
    made = ContactImportFactory.create(workspace=b.workspace, content=exported.encode())
    ContactImport.objects.filter(pk=made.pk).update(status="running")
    run_to_the_end()
    columns = ("name", "phone", "email", "tags", "country", "timezone", "attributes")
    here, there = (list(Contact.objects.of(one.workspace).order_by("name").values(*columns)) for one in (a, b))
    assert here == there
    assert Contact.objects.of(b.workspace).get(phone="+4930123456").opted_out


def test_imports_are_forgotten_30_days_after_their_end_and_those_that_never_began_after_their_upload(a: Tenant) -> None:
    days = {
        "never began": ("uploaded", 31, None, None),
        "may begin": ("uploaded", 29, None, None),
        "ended": ("completed", 70, 70, 31),
        "has just ended": ("completed", 70, 70, 29),
        "was cancelled": ("cancelled", 70, 31, None),
        "runs": ("running", 70, 70, None),
    }
    for name, (status, created, started, completed) in days.items():
        made = ContactImportFactory.create(workspace=a.workspace)
        at = [None if ago is None else now() - timedelta(days=ago) for ago in (created, started, completed)]
        values = dict(zip(("created_at", "started_at", "completed_at"), at, strict=True))
        ContactImport.objects.filter(pk=made.pk).update(filename=name, status=status, **values)
        RefusedRow.objects.create(contact_import=made, row=2, values=["x"], reason="No phone number.")
    assert timedelta(days=1) <= IMPORTS.lag() < timedelta(days=2)

    forget_records()

    left = ContactImport.objects.order_by("pk").values_list("filename", flat=True)
    assert list(left) == ["may begin", "has just ended", "runs"]
    for belonging in (ContactImportPiece, RefusedRow):
        assert set(belonging.objects.values_list("contact_import", flat=True)) == set(
            ContactImport.objects.values_list("pk", flat=True)
        )
    assert IMPORTS.lag() == timedelta(0)
