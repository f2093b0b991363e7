"""CSV files of contacts: reads lines within limits, recognizes columns, and writes exported lines.

Headings are known in five languages and from other programs' exports. They are compared without case, accents and the
characters between words. If several columns fit one field, the heading in the earlier group wins, such as a mobile
number over an office number.
"""

import codecs
import csv
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from io import SEEK_END, TextIOWrapper
from itertools import chain, islice
from typing import IO, Any, Final

from django.db import connection

from agency.services.exports import csv_line, unescape_formula
from config.db import name_key
from config.errors import InvalidInput
from workspaces.contacts.models import Contact
from workspaces.contacts.services.fields import read_phone
from workspaces.subaccounts.models import Workspace

MOST_BYTES: Final = 16 * 1024 * 1024
# Empty rows count too, so that a file with millions of them is not read to its end.
MOST_FILE_ROWS: Final = 200_000
MOST_COLUMNS: Final = 60
# A row with more cells than columns is refused. So many of its cells are kept to show them with the reason.
MOST_CELLS: Final = 2 * MOST_COLUMNS
# A longer cell is cut. No field accepts a text of this length, so the row is refused with the reason.
LONGEST_CELL: Final = 5_000
LONGEST_CELL_READ: Final = 20_000
# The characters of one row over all its lines. The row is whole in memory before its cells are counted.
LONGEST_ROW: Final = 200_000
LONGEST_HEADING: Final = 100
DELIMITERS: Final = ",;\t|"
BYTE_ORDER_MARKS: Final = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
READ_BYTES: Final = 64 * 1024
UNCLOSED: Final = "Perhaps a quotation mark is never closed."


class FileRefused(InvalidInput):
    field = "file"


@contextmanager
def open_contacts(file: IO[bytes]) -> "Iterator[ContactFile]":
    """Open a CSV file to read its headings and rows. The caller's file stays open. Raises `FileRefused`."""
    if file.seek(0, SEEK_END) > MOST_BYTES:
        raise FileRefused(f"The file may have at most {MOST_BYTES // 1024 // 1024} MiB.")
    file.seek(0)
    text = TextIOWrapper(file, _encoding(file), errors="replace", newline="")
    try:
        yield ContactFile(text)
    finally:
        text.detach()


class ContactFile:
    """A CSV file that can be read once. The constructor reads the headings, `rows` yields the rows."""

    def __init__(self, text: TextIOWrapper) -> None:
        self._lines = _Lines(text)
        self._records = self._read_records()
        found = next((record for record in self._records if any(map(str.strip, record))), [])
        if len(found) > MOST_COLUMNS:
            raise FileRefused(f"The file may have at most {MOST_COLUMNS} columns.")
        self.headings = [unescape_formula(heading)[:LONGEST_HEADING] for heading in found]

    def rows(self) -> Iterator[list[str]]:
        """Yield the non-empty rows. Raises `FileRefused` at the first violation of a limit."""
        is_empty = True
        for number, record in enumerate(self._records):
            if number == MOST_FILE_ROWS:
                raise FileRefused(f"The file may have at most {MOST_FILE_ROWS:,} rows.")
            if any(map(str.strip, record)):
                is_empty = False
                yield [cell[:LONGEST_CELL] for cell in record[:MOST_CELLS]]
        if is_empty:
            raise FileRefused("The file needs a line of headings and at least one row.")

    def _read_records(self) -> Iterator[list[str]]:
        first = self._lines.first()
        csv.field_size_limit(LONGEST_CELL_READ)
        reader = csv.reader(chain([first], self._lines), delimiter=max(DELIMITERS, key=first.count))
        try:
            for record in reader:
                yield record
                self._lines.begin_row()
        except csv.Error as error:
            if "field limit" in str(error):
                message = f"A cell near line {self._lines.number} has more than {LONGEST_CELL_READ:,} characters."
                raise FileRefused(f"{message} {UNCLOSED}") from error
            raise FileRefused("This is not a CSV file.") from error


class _Lines:
    """Feeds a file's lines to the CSV reader and limits the characters of each row."""

    def __init__(self, text: TextIOWrapper) -> None:
        self.text, self.number = text, 0
        self.begin_row()

    def begin_row(self) -> None:
        self._left = LONGEST_ROW

    def first(self) -> str:
        """Return the first non-blank line, or an empty text."""
        return next((line for line in islice(self, MOST_FILE_ROWS) if line.strip()), "")

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        line = self.text.readline(self._left + 1)
        if not line:
            raise StopIteration
        self.number += 1
        self._left -= len(line)
        if self._left < 0:
            message = f"The row that ends in line {self.number} or later has more than {LONGEST_ROW:,} characters."
            raise FileRefused(f"{message} {UNCLOSED}")
        if "\x00" in line:
            raise FileRefused("This is not a CSV file.")
        return line


def _encoding(file: IO[bytes]) -> str:
    """Return a file's encoding: UTF-8, UTF-16 with a byte order mark, or else Windows-1252."""
    beginning = file.read(3)
    file.seek(0)
    for mark, encoding in BYTE_ORDER_MARKS:
        if beginning.startswith(mark):
            return encoding
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        while piece := file.read(READ_BYTES):
            decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return "cp1252"
    finally:
        file.seek(0)
    return "utf-8"


BETWEEN_WORDS: Final = re.compile(r"[\W_]+")
# Semicolons separate groups, commas separate headings. English, German, Spanish, French, Portuguese.
KNOWN: Final[Mapping[str, str]] = {
    "first_name": """
        first name, firstname, given name, fname, first, forename, contact first name, customer first name,
        vorname, rufname, primer nombre, nombre de pila, nombres, prénom, prenoms, primeiro nome, nome próprio""",
    "last_name": """
        last name, lastname, family name, surname, lname, last, contact last name, customer last name,
        nachname, familienname, zuname, apellido, apellidos, primer apellido, nom de famille, nom de naissance,
        sobrenome, último nome, apelido""",
    "name": """
        name, full name, fullname, display name, contact name, customer name, contact, customer, client, client name,
        vollständiger name, vor und nachname, anzeigename, kontakt, kontaktname, kunde, kundenname,
        nombre completo, nombre y apellidos, nombre, contacto, cliente, nombre del contacto, nombre del cliente,
        nom complet, nom et prénom, prénom et nom, nom, nom du contact, nom du client,
        nome completo, nome e sobrenome, nome, contato, nome do contato, nome do cliente; file as""",
    "phone": """
        mobile, mobile phone, mobile number, mobile phone number, cell, cell phone, cell number, cellphone, iphone,
        phone mobile, whatsapp, whatsapp number, whatsapp phone number, primary mobile phone, sms, sms phone number,
        mobil, mobiltelefon, mobilnummer, mobilfunknummer, mobilfunk, handy, handynummer, telefon mobil,
        móvil, teléfono móvil, número de móvil, celular, teléfono celular, número de celular, número de whatsapp,
        téléphone mobile, tél mobile, tel mobile, téléphone portable, portable, numéro de portable, numéro de mobile,
        numéro whatsapp, telemóvel, telefone celular, telefone móvel, número de whatsapp;
        phone, phone number, phone no, telephone, telephone number, tel, number, phone 1 value, primary phone,
        contact number, contact phone, customer phone, phone1, telefon, telefonnummer, rufnummer, tel nr,
        teléfono, número de teléfono, teléfono principal, téléphone, tél, numéro de téléphone,
        téléphone principal, telefone, número de telefone, telefone principal;
        home phone, business phone, work phone, company main phone, phone home, phone work, phone 2 value,
        telefon privat, telefon geschäftlich, telefon arbeit, festnetz, teléfono particular, teléfono del trabajo,
        teléfono fijo, téléphone domicile, téléphone bureau, téléphone professionnel, téléphone fixe,
        telefone residencial, telefone comercial, telefone fixo""",
    "email": """
        email, e mail, mail, email address, e mail address, e mail 1 value, email 1 value, primary email, contact email,
        customer email, mailadresse, e mail adresse, email adresse, correo, correo electrónico,
        dirección de correo electrónico, dirección de correo, courriel, adresse e mail, adresse email, adresse mail,
        adresse de messagerie, adresse électronique, correio eletrónico, endereço de e mail, endereço de email;
        e mail 2 value, email 2 value, home email, work email, email home, email work, e mail 2 address""",
    "tags": """
        tags, tag, labels, label, groups, group, segments, categories, group membership,
        schlagwörter, schlagworte, etiketten, gruppen, kategorien, etiquetas, etiqueta, grupos, categorías,
        étiquettes, groupes, catégories, libellés, marcadores, categorias""",
    "country": """
        country code, country, ländercode, länderkennung, código de país, code pays, código do país""",
    "timezone": "time zone, timezone, tz, zeitzone, zona horaria, huso horario, fuseau horaire, fuso horário",
    "opted_out": """
        opted out, opt out, unsubscribed, do not contact, abgemeldet, widersprochen, dado de baja, no contactar,
        désabonné, désinscrit, ne pas contacter, descadastrado, não contatar""",
}
# These headings mean the whole name, unless the file has a column for the other half of the name.
HALVES: Final = {"nombre": "first_name", "nome": "first_name", "nom": "last_name"}


def guessed_fields(columns: Sequence[str]) -> list[str]:
    """Guess the field of each column from its heading. No field occurs twice; an unknown heading gives ""."""
    keys = [_key(column) for column in columns]
    best: dict[str, tuple[int, int]] = {}
    for number, found in enumerate(map(_known().get, keys)):
        if found:
            field, rank = found
            best[field] = min(best.get(field, (rank, number)), (rank, number))
    fields = [""] * len(columns)
    for field, (_, number) in best.items():
        fields[number] = field
    return _with_halves(keys, fields)


def _with_halves(keys: Sequence[str], fields: list[str]) -> list[str]:
    """Treat the column of the whole name as the missing half, if the other half has a column and the heading fits."""
    if "name" in fields:
        place = fields.index("name")
        half = HALVES.get(keys[place]) or ("last_name" if keys[place] == "name" and "vorname" in keys else "")
        other = {"first_name": "last_name", "last_name": "first_name"}.get(half)
        if other in fields and half not in fields:
            fields[place] = half
    return fields


@cache
def _known() -> dict[str, tuple[str, int]]:
    """Return the field and the rank of each known heading. The lowest rank is the best."""
    return {
        _key(heading): (field, rank)
        for field, groups in KNOWN.items()
        for rank, group in enumerate(groups.split(";"))
        for heading in group.split(",")
    }


def _key(heading: str) -> str:
    decomposed = unicodedata.normalize("NFKD", name_key(heading))
    plain = "".join(character for character in decomposed if not unicodedata.combining(character))
    return BETWEEN_WORDS.sub(" ", plain).strip()


ATTRIBUTE = "attributes."
FIELDS = ("name", "phone", "email", "tags", "country", "timezone", "opted_out")
# A column can also be one half of the name. The contact stores the whole name.
FIRST_NAME, LAST_NAME = "first_name", "last_name"
PARTS_OF_NAMES = ("name", FIRST_NAME, LAST_NAME)
TARGETS = (*PARTS_OF_NAMES, *FIELDS[1:])
# Google's exports separate several values of a cell by this.
BETWEEN_VALUES = ":::"
BETWEEN_TAGS = re.compile(r"[;,|]|:::")
# Google's exports put this in front of some tags.
GOOGLE_GROUP = "* "
YES = {"true", "yes", "y", "1", "x", "ja", "j", "wahr", "sí", "si", "s", "verdadero", "oui", "o", "vrai", "sim"}
# Such a row is refused, because it is unclear which columns its last cells belong to.
TOO_MANY_CELLS = "This row has more cells than there are headings in the first line."
MOST_ATTRIBUTE_COLUMNS = 200
ATTRIBUTE_NAMES = """
SELECT DISTINCT held.name FROM contacts_contact, jsonb_object_keys(attributes) AS held (name)
WHERE workspace_id = %s ORDER BY held.name LIMIT %s
"""
EXPORTED = ("name", "phone", "email", "tags", "country", "timezone", "opted_out_at", "attributes")


def guessed_mapping(columns: Sequence[str]) -> list[str]:
    """Guess the field of each column from its heading. No field occurs twice; an unknown heading gives ""."""
    fields = guessed_fields(columns)
    guessed = [_detail(column) or field for column, field in zip(columns, fields, strict=True)]
    return ["" if field in guessed[:number] else field for number, field in enumerate(guessed)]


def _detail(column: str) -> str:
    column = column.strip()
    return column if name_key(column).startswith(ATTRIBUTE) else ""


def is_too_long(cells: Sequence[str], columns: Sequence[str]) -> bool:
    """Return whether a row has a non-empty cell after the last column."""
    return any(map(str.strip, cells[len(columns) :]))


def row_of(cells: Sequence[str], mapping: Sequence[str], *, tags: Sequence[str], country: str) -> dict[str, object]:
    """Turn a file's cells into a row for `import_contacts`. Empty cells are left out."""
    row: dict[str, Any] = {}
    attributes: dict[str, str] = {}
    for cell, field in zip(cells, mapping, strict=False):
        text = unescape_formula(cell)
        if not (field and text):
            continue
        if field.startswith(ATTRIBUTE):
            attributes[field.removeprefix(ATTRIBUTE)] = text
        else:
            row[field] = _value(field, text, country)
    halves = [row.pop(half, "") for half in (FIRST_NAME, LAST_NAME)]
    if whole := " ".join(filter(None, halves)):
        row.setdefault("name", whole)
    if attributes:
        row["attributes"] = attributes
    if tags:
        row["tags"] = [*row.get("tags", ()), *tags]
    return row


def _value(field: str, text: str, country: str) -> str | bool | list[str]:
    if field == "tags":
        return [tag for part in BETWEEN_TAGS.split(text) if (tag := _tag(part.strip()))]
    if field == "opted_out":
        return text.casefold() in YES
    if field in ("phone", "email"):
        text = text.partition(BETWEEN_VALUES)[0].strip()
    if field == "phone" and country:
        found = read_phone(text, within=country)
        return found.number if found else text
    return text


def _tag(text: str) -> str:
    """Return a tag without Mailchimp's quotation marks or Google's prefix."""
    is_quoted = len(text) > 2 and text.startswith('"') and text.endswith('"')
    return text[1:-1].strip() if is_quoted else text.removeprefix(GOOGLE_GROUP).strip()


def written_row(contact: Mapping[str, Any], attributes: Sequence[str]) -> list[str]:
    """Return a contact's cells in the order of the export's columns."""
    held = contact["attributes"]
    return [
        contact["name"],
        contact["phone"] or "",
        contact["email"] or "",
        "; ".join(contact["tags"]),
        contact["country"] or "",
        contact["timezone"] or "",
        "yes" if contact["opted_out_at"] else "",
        *(str(held.get(name, "")) for name in attributes),
    ]


def exported_lines(workspace: Workspace) -> Iterator[str]:
    """Yield a workspace's contacts as lines of CSV, oldest first. Only 1,000 rows are in memory at a time."""
    names = _attribute_names(workspace)
    yield csv_line([*FIELDS, *(f"{ATTRIBUTE}{name}" for name in names)])
    rows = Contact.objects.of(workspace).order_by("created_at", "id").values(*EXPORTED)
    for row in rows.iterator(chunk_size=1_000):
        yield csv_line(written_row(row, names))


def _attribute_names(workspace: Workspace) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(ATTRIBUTE_NAMES, [workspace.pk, MOST_ATTRIBUTE_COLUMNS])
        return [name for (name,) in cursor.fetchall()]
