"""Files that are dear to read: refused while they are read, before what they hold is in memory."""

import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests import furnished
from tests.sizes import size
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.contacts.models import ContactImport, ContactImportPiece
from workspaces.contacts.services.csv_files import MOST_BYTES, FileRefused
from workspaces.contacts.services.file_imports import upload_contacts

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
MIB = 1024 * 1024
# So many rows a file may have where a test reads all of them; the limit itself is the first test's.
ROWS = size("large", "rows of a file")
FEW_ROWS = f"at most {ROWS:,} rows"
# What a file may take while it is read, whatever it holds: a piece of its rows, some copies of it, and buffers.
MOST_MEMORY = 12 * MIB


@pytest.fixture
def customer(a: Tenant) -> Client:
    return dashboard_client(a.workspace)


@pytest.fixture
def _few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workspaces.contacts.services.csv_files.MOST_FILE_ROWS", ROWS)


def repeated(text: str, beginning: str, most: int = MOST_BYTES) -> bytes:
    """Fill a file, of the largest size that is taken unless told otherwise."""
    return (beginning + text * (most // len(text) + 1)).encode()[:most]


@contextmanager
def peak_memory() -> Iterator[Callable[[], int]]:
    """Give what was in memory at the most, of what was allocated since the beginning."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        yield lambda: tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def kept_in(folder: Path, content: bytes) -> IO[bytes]:
    path = folder / "contacts.csv"
    path.write_bytes(content)
    return path.open("rb")


def upload(workspace: Any, file: IO[bytes]) -> ContactImport:
    return upload_contacts(workspace=workspace, filename="contacts.csv", content=file, now=now(), by=SYSTEM)


def test_a_file_of_millions_of_short_lines_is_refused_with_a_sentence(customer: Client) -> None:
    content = repeated("ab\n", "")
    answer = customer.post("/app/contacts/imports/new", {"file": SimpleUploadedFile("short.csv", content)})
    assert answer.status_code == 422
    assert "at most 200,000 rows" in answer.content.decode()
    assert not ContactImport.objects.exists()


HEADINGS = "name,phone\n"
# Where each begins, what it repeats, and what it is told.
DEAR = {
    "short lines": (HEADINGS, "ab\n", FEW_ROWS),
    "short lines in UTF-16": (HEADINGS, "ab\n", FEW_ROWS),
    "empty lines": (HEADINGS, "\n", FEW_ROWS),
    "lines of blanks": (HEADINGS, " ,\r\n", FEW_ROWS),
    "one line of cells": (HEADINGS, "ab,", "characters"),
    "headings": ("", "ab,", "characters"),
    "one row of cells with line breaks": (HEADINGS, '"\n",', "characters"),
    "one cell": (HEADINGS, "x", "characters"),
    "a quotation mark that nobody closes": (f'{HEADINGS}"', "x\n", "characters"),
    "quotation marks in quotation marks": (HEADINGS, '""', "characters"),
}


@pytest.mark.usefixtures("_few_rows")
@pytest.mark.parametrize("name", DEAR)
def test_what_is_dear_is_refused_before_it_is_in_memory(a: Tenant, tmp_path: Path, name: str) -> None:
    beginning, text, message = DEAR[name]
    content = repeated(text, beginning)
    if "UTF-16" in name:
        content = content[: MOST_BYTES // 2 - 1].decode().encode("utf-16")
    with kept_in(tmp_path, content) as file:
        with peak_memory() as peak, pytest.raises(FileRefused, match=message):
            upload(a.workspace, file)
        assert peak() < MOST_MEMORY
        assert file.tell() < 2 * MIB
    assert not ContactImportPiece.objects.exists()


def test_a_file_that_is_taken_is_never_whole_in_memory(a: Tenant, tmp_path: Path) -> None:
    """Rows of as many cells as there may be, each an object of its own: whole they would take some 22 MiB."""
    row = ",".join(["ab"] * 60) + "\n"
    content = repeated(row, ",".join(f"Column {number}" for number in range(60)) + "\n", MIB)
    with kept_in(tmp_path, content) as file, peak_memory() as peak:
        made = upload(a.workspace, file)
        assert peak() < MOST_MEMORY
    assert made.rows_total == content.count(b"\n") > 5_000
    assert made.pieces.count() == made.rows_total // 1_000 + 1


def test_long_cells_come_in_pieces_of_bounded_size(a: Tenant, tmp_path: Path) -> None:
    """A piece is one transaction: its size counts, not only its number of rows."""
    content = repeated(",".join(["x" * 5_000] * 3) + "\n", "name,notes,phone\n", 4 * MIB)
    with kept_in(tmp_path, content) as file, peak_memory() as peak:
        made = upload(a.workspace, file)
        assert peak() < MOST_MEMORY
    pieces = list(made.pieces.order_by("first_row"))
    assert all(sum(len(cell) for row in piece.rows for cell in row) < 1.1 * MIB for piece in pieces)
    assert [piece.first_row for piece in pieces[:2]] == [0, len(pieces[0].rows)]
    assert made.rows_total == sum(len(piece.rows) for piece in pieces)


@pytest.mark.usefixtures("_few_rows")
def test_as_many_rows_as_there_may_be_are_taken_and_one_more_is_not(a: Tenant, tmp_path: Path) -> None:
    content = b"phone\n" + b"+49\n" * ROWS
    with kept_in(tmp_path, content) as file:
        assert upload(a.workspace, file).rows_total == ROWS
    with kept_in(tmp_path, content + b"+49\n") as file, pytest.raises(FileRefused, match=FEW_ROWS):
        upload(a.workspace, file)
