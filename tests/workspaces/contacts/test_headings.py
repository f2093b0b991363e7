"""What the columns of a file are taken for, in five languages and from the programs that export contacts."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests import furnished
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.contacts.models import Contact, ContactImport, RefusedRow
from workspaces.contacts.services.csv_files import TARGETS, guessed_mapping
from workspaces.contacts.tasks import import_files

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
# By the file: its headings, and what each of them is; a dash for one that is not imported.
FILES = {
    "English": ("first_name,last_name,Phone", "first_name last_name phone"),
    "German": ("Vorname;Nachname;Telefon;E-Mail-Adresse;Schlagwörter", "first_name last_name phone email tags"),
    "German, the name in halves": ("Name;Vorname;Handy", "last_name first_name phone"),
    "German, the name whole": ("Name;Telefon", "name phone"),
    "Spanish": ("Nombre;Apellidos;Teléfono móvil;Correo electrónico", "first_name last_name phone email"),
    "Spanish, the name whole": ("Nombre;Telefono", "name phone"),
    "French": ("Prénom;Nom;Téléphone portable;Adresse e-mail", "first_name last_name phone email"),
    "French, the name whole": ("Nom;Tél.", "name phone"),
    "Portuguese": ("Nome;Sobrenome;Celular;E-mail;Etiquetas", "first_name last_name phone email tags"),
    "Portuguese, the name whole": ("Nome completo;Telefone", "name phone"),
    "Google Contacts": (
        "First Name,Middle Name,Last Name,Nickname,Notes,Labels,E-mail 1 - Value,Phone 1 - Label,Phone 1 - Value",
        "first_name - last_name - - tags email - phone",
    ),
    "Google Contacts, the older": (
        "Name,Given Name,Family Name,Group Membership,E-mail 1 - Type,E-mail 1 - Value,Phone 1 - Value",
        "name first_name last_name tags - email phone",
    ),
    "Outlook": (
        "First Name,Middle Name,Last Name,Company,Business Phone,Home Phone,Mobile Phone,E-mail Address,Categories",
        "first_name - last_name - - - phone email tags",
    ),
    "HubSpot": (
        "Record ID,First Name,Last Name,Email,Phone Number,Mobile Phone Number,Lead Status",
        "- first_name last_name email - phone -",
    ),
    "Mailchimp": (
        "Email Address,First Name,Last Name,Address,Phone Number,TAGS,MEMBER_RATING",
        "email first_name last_name - phone tags -",
    ),
    "Mailchimp, its own names": ("EMAIL,FNAME,LNAME,PHONE", "email first_name last_name phone"),
    "Apple": ("First name,Last name,mobile,home,iPhone,E-Mail", "first_name last_name phone - - email"),
    "our own": ("name,phone,email,tags,country,timezone,opted_out,attributes.plan", None),
}


@pytest.fixture
def customer(a: Tenant) -> Client:
    return dashboard_client(a.workspace)


def upload(customer: Client, content: str) -> str:
    answer = customer.post("/app/contacts/imports/new", {"file": SimpleUploadedFile("a.csv", content.encode())})
    return str(answer["Location"])


def start(customer: Client, page: str, **more: Any) -> None:
    mapping = ContactImport.objects.get().mapping
    chosen = {f"column_{number}": field for number, field in enumerate(mapping)}
    assert customer.post(page, {**chosen, **more}).status_code == 302
    import_files()


@pytest.mark.parametrize("name", FILES)
def test_the_columns_of_a_file_are_known(customer: Client, name: str) -> None:
    headings, wanted = FILES[name]
    upload(customer, f"{headings}\n1\n")
    expected = ["" if field == "-" else field for field in wanted.split()] if wanted else headings.split(",")
    assert ContactImport.objects.get().mapping == expected


def test_every_field_can_be_guessed_and_none_twice() -> None:
    assert set(guessed_mapping([*TARGETS, *TARGETS])) == {*TARGETS, ""}
    assert guessed_mapping(["attributes.a", "attributes.a", "phone", "Phone"]) == ["attributes.a", "", "phone", ""]


def test_halves_of_a_name_become_the_name(a: Tenant, customer: Client) -> None:
    rows = "Ada,Lovelace,+4930123450,\n,Hopper,+4930123451,\nLinus,,+4930123452,\nGrace,Hopper,+4930123453,G. H.\n"
    page = upload(customer, f"first_name,last_name,phone,full name\n{rows}")
    assert b"First and last name become one name" in customer.get(page).content
    start(customer, page)
    named = dict(Contact.objects.of(a.workspace).values_list("phone", "name"))
    assert [named[f"+493012345{number}"] for number in range(4)] == ["Ada Lovelace", "Hopper", "Linus", "G. H."]


def test_several_values_of_a_cell_are_read_as_their_program_writes_them(a: Tenant, customer: Client) -> None:
    rows = (
        "+49 30 123450 ::: +49 30 123451,ada@example.com ::: l@example.com,Friends ::: * myContacts\n"
        '+4930123452,,"""VIP"",""New customer"""\n'
    )
    start(customer, upload(customer, f"Phone 1 - Value,E-mail 1 - Value,Labels\n{rows}"))
    [ada, other] = Contact.objects.of(a.workspace).order_by("phone")
    assert (ada.phone, ada.email, ada.tags) == ("+4930123450", "ada@example.com", ["Friends", "myContacts"])
    assert other.tags == ["VIP", "New customer"]


@pytest.mark.parametrize("word", ["yes", "Ja", "Sí", "oui", "SIM"])
def test_opt_out_columns_are_read_in_five_languages(a: Tenant, customer: Client, word: str) -> None:
    start(customer, upload(customer, f"phone;abgemeldet\n+4930123450;{word}\n+4930123451;no\n"))
    opted_out = Contact.objects.of(a.workspace).filter(opted_out_at__isnull=False)
    assert [contact.phone for contact in opted_out] == ["+4930123450"]


def test_what_will_not_be_imported_is_named_before_and_after(customer: Client) -> None:
    page = upload(customer, "Vorname;Telefon;Schuhgröße;;Notizen\nAda;+4930123450;38;x;y\n")
    before = customer.get(page).content.decode()
    assert "Not imported unless you choose a field above: Schuhgröße, Column 4, Notizen." in before
    start(customer, page, column_2="attributes.Schuhgröße")
    assert "Columns that were left out: Column 4, Notizen." in customer.get(page).content.decode()


def test_a_form_that_was_refused_names_what_it_would_leave_out_now(customer: Client) -> None:
    page = upload(customer, "Vorname;Telefon\nAda;+4930123450\n")
    answer = customer.post(page, {"column_0": "first_name", "column_1": ""})
    assert answer.status_code == 422
    assert "Not imported unless you choose a field above: Telefon." in answer.content.decode()


def test_a_row_with_more_cells_than_headings_is_refused_with_the_reason(a: Tenant, customer: Client) -> None:
    rows = "+4930123450,Ada\n+4930123451,Hopper, Grace,x\n+4930123452,Linus,, \n"
    page = upload(customer, f"phone,name\n{rows}")
    start(customer, page)
    [refused] = RefusedRow.objects.all()
    assert (refused.row, refused.values) == (3, ["+4930123451", "Hopper", " Grace", "x"])
    assert refused.reason == "This row has more cells than there are headings in the first line."
    assert set(Contact.objects.of(a.workspace).values_list("name", flat=True)) == {"Ada", "Linus"}
    assert " Grace" in customer.get(f"{page}/refused").content.decode()
