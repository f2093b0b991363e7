"""Imports of files. A file's rows wait in pieces; one transaction imports a piece and removes it."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import IO, Any

from django.db import DataError, IntegrityError, connection, transaction
from django.db.models import QuerySet

from agency.actors import Actor
from config.errors import Conflict, InvalidInput, NotFound
from config.retention import ExpiredRows, RetentionRule
from config.tries.counting import begin_next, run_begun
from workspaces.contacts.models import ContactImport, ContactImportPiece, RefusedRow
from workspaces.contacts.models.imports import LONGEST_FILENAME, MOST_REFUSED_ROWS
from workspaces.contacts.services.csv_files import (
    ATTRIBUTE,
    PARTS_OF_NAMES,
    TARGETS,
    TOO_MANY_CELLS,
    guessed_mapping,
    is_too_long,
    open_contacts,
    row_of,
)
from workspaces.contacts.services.events import record_import
from workspaces.contacts.services.fields import checked_tags
from workspaces.contacts.services.importing import ConcurrentImport, ImportResult, RowError, import_contacts
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import record_workspace_activity

logger = logging.getLogger(__name__)

# One transaction imports at most so much.
ROWS_OF_A_PIECE = 1_000
CHARACTERS_OF_A_PIECE = 1024 * 1024
KIND = "contact import"
WITHOUT_NAME = """
SELECT count(*) FROM contacts_contactimportpiece AS piece, jsonb_array_elements(piece.rows) AS line (cells)
WHERE piece.contact_import_id = %s AND concat(cells ->> %s, cells ->> %s, cells ->> %s) !~ '\\S'
"""
Status = ContactImport.Status


class ImportNotFound(NotFound):
    message = "Import not found."


class ImportHasStarted(Conflict):
    message = "This import has been started or cancelled already."


class MappingRefused(InvalidInput):
    field = "mapping"


@transaction.atomic
def upload_contacts(
    *, workspace: Workspace, filename: str, content: IO[bytes], now: datetime, by: Actor
) -> ContactImport:
    """Store a CSV file's rows until its columns are mapped. One piece is in memory at a time. Raises `FileRefused`."""
    with open_contacts(content) as file:
        made = ContactImport.objects.create(
            workspace=workspace,
            filename=filename[:LONGEST_FILENAME],
            columns=file.headings,
            mapping=guessed_mapping(file.headings),
            rows_total=0,
            by_label=by.label,
            created_at=now,
        )
        for rows in _pieces(file.rows()):
            ContactImportPiece.objects.create(contact_import=made, first_row=made.rows_total, rows=rows)
            made.rows_total += len(rows)
    made.save(update_fields=["rows_total"])
    return made


def _pieces(rows: Iterable[list[str]]) -> Iterator[list[list[str]]]:
    """Yield the rows in pieces that fit into one transaction."""
    piece: list[list[str]] = []
    size = 0
    for row in rows:
        piece.append(row)
        size += sum(map(len, row))
        if len(piece) == ROWS_OF_A_PIECE or size >= CHARACTERS_OF_A_PIECE:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def rows_without_name(contact_import: ContactImport, mapping: Sequence[str]) -> int:
    """Count the rows of an import that has not begun in which every column of a name is empty."""
    columns = [mapping.index(field) for field in PARTS_OF_NAMES if field in mapping]
    if not columns:
        return contact_import.rows_total
    columns += columns[:1] * (len(PARTS_OF_NAMES) - len(columns))
    with connection.cursor() as cursor:
        cursor.execute(WITHOUT_NAME, [contact_import.pk, *columns])
        return int(cursor.fetchone()[0])


@transaction.atomic
def start_import(
    *,
    contact_import: ContactImport,
    mapping: Sequence[str],
    tags: Sequence[str] = (),
    default_country: str = "",
    now: datetime,
    by: Actor,
) -> ContactImport:
    """Set the field of each column and start the import. Raises `MappingRefused`, `ImportHasStarted`."""
    found = _lock(contact_import)
    if found.status != Status.UPLOADED:
        raise ImportHasStarted
    _check_mapping(mapping, found.columns)
    found.mapping, found.tags, found.default_country = list(mapping), checked_tags(list(tags)), default_country
    found.status, found.started_at = Status.RUNNING, now
    found.save()
    details = {"filename": found.filename, "rows": found.rows_total}
    record_workspace_activity(workspace=found.workspace, action="contact.import_started", by=by, details=details)
    return found


@transaction.atomic
def cancel_import(*, contact_import: ContactImport) -> ContactImport:
    """Cancel the rest of an import. Imported rows stay. An import that has ended does not change."""
    found = _lock(contact_import)
    if found.status in (Status.UPLOADED, Status.RUNNING):
        found.status = Status.CANCELLED
        found.save(update_fields=["status"])
        found.pieces.all().delete()
    return found


def _lock(contact_import: ContactImport) -> ContactImport:
    rows = ContactImport.objects.select_for_update(of=("self",)).select_related("workspace")
    found = rows.filter(pk=contact_import.pk).first()
    if found is None:
        raise ImportNotFound
    return found


def _check_mapping(mapping: Sequence[str], columns: Sequence[str]) -> None:
    chosen = [field for field in mapping if field]
    if len(mapping) != len(columns) or not all(is_field(field) for field in chosen):
        raise MappingRefused("Choose a field for each column, or leave it out.")
    if len(set(chosen)) != len(chosen):
        raise MappingRefused("No two columns can be the same field.")
    if not {"phone", "email"} & set(chosen):
        raise MappingRefused("One of the columns has to be the phone number or the e-mail.")


def is_field(field: str) -> bool:
    """Return whether a column can be mapped to this field."""
    return field in TARGETS or (field.startswith(ATTRIBUTE) and len(field) > len(ATTRIBUTE))


def import_next_piece(*, now: datetime) -> bool:
    """Import the next piece of the file with the fewest rows done, so that no file waits for a long one.

    Files whose last try ended with a crash or an exception come after the others. Return whether there was a piece.
    """
    begun = begin_next(running_imports().only("pk").select_for_update(skip_locked=True), kind=KIND)
    if begun is None:
        return False
    number = begun[0].pk
    return run_begun(
        begun[1], partial(_take_next, number, now), give_up=partial(_give_up, number, now), counts_faults=True
    )


def running_imports() -> "QuerySet[ContactImport]":
    """Return the running imports, the one with the fewest rows done first."""
    return ContactImport.objects.filter(status=Status.RUNNING).order_by("rows_done", "id")


@transaction.atomic
def _give_up(number: int, now: datetime) -> bool:
    """Fail an import whose next piece keeps crashing its worker, and drop its remaining rows."""
    running = ContactImport.objects.filter(pk=number, status=Status.RUNNING)
    if running.update(status=Status.FAILED, completed_at=now):
        ContactImportPiece.objects.filter(contact_import=number).delete()
    return True


@transaction.atomic
def _take_next(number: int, now: datetime) -> bool:
    rows = ContactImport.objects.select_related("workspace").select_for_update(skip_locked=True, of=("self",))
    found = rows.filter(pk=number).first()
    if found is None:
        return False  # another worker has it
    if found.status != Status.RUNNING:
        return True
    piece = found.pieces.order_by("first_row").first()
    if piece is not None:
        _take(found, piece, now)
    if not found.pieces.exists():
        _complete(found, now)
    found.save()
    return True


def _take(found: ContactImport, piece: ContactImportPiece, now: datetime) -> None:
    whole = [number for number, cells in enumerate(piece.rows) if not is_too_long(cells, found.columns)]
    rows = [
        row_of(piece.rows[number], found.mapping, tags=found.tags, country=found.default_country) for number in whole
    ]
    result = _import_or_refuse(found.workspace, rows, now)
    errors = {whole[error.index]: error.errors for error in result.errors}
    too_long = set(range(len(piece.rows))).difference(whole)
    errors |= {number: {"contacts": [TOO_MANY_CELLS]} for number in too_long}
    _keep_refused(found, piece, [RowError(number, errors[number]) for number in sorted(errors)])
    found.rows_done += len(piece.rows)
    found.created += result.created
    found.updated += result.updated
    found.refused += len(errors)
    piece.delete()


def _import_or_refuse(workspace: Workspace, rows: Sequence[Any], now: datetime) -> ImportResult:
    """Import the rows. If the whole piece fails, refuse its rows, as a piece that stays would hold up other imports."""
    try:
        return import_contacts(workspace=workspace, rows=rows, now=now)
    except (ConcurrentImport, IntegrityError, DataError) as error:
        logger.warning("rows of an import refused as a whole", extra={"fault": type(error).__name__})
        reason = {"contacts": [ConcurrentImport.message]}
        return ImportResult(errors=[RowError(index, reason) for index in range(len(rows))])


def _keep_refused(found: ContactImport, piece: ContactImportPiece, errors: Sequence[RowError]) -> None:
    """Store refused rows, up to `MOST_REFUSED_ROWS` for an import."""
    room = max(0, MOST_REFUSED_ROWS - found.refused)
    RefusedRow.objects.bulk_create(
        RefusedRow(
            contact_import=found,
            row=piece.first_row + error.index + 2,  # as spreadsheets count: row 1 holds the headings
            values=piece.rows[error.index],
            reason=" ".join(sentence for sentences in error.errors.values() for sentence in sentences),
        )
        for error in errors[:room]
    )


def _complete(found: ContactImport, now: datetime) -> None:
    found.status, found.completed_at = Status.COMPLETED, now
    counts: dict[str, Any] = {"created": found.created, "updated": found.updated, "refused": found.refused}
    record_import(found.workspace, origin="file", filename=found.filename, counts=counts, now=now)


KEPT = timedelta(days=30)
# Small batches, because thousands of rows may go with each import.
BATCH = 500
IMPORTS = ExpiredRows(
    "contacts_contactimport",
    "coalesce(completed_at, started_at, created_at)",
    KEPT,
    of="status <> 'running'",
    belonging=(("contacts_contactimportpiece", "contact_import_id"), ("contacts_refusedrow", "contact_import_id")),
)


def forget_imports() -> int:
    return IMPORTS.forget(BATCH)


RETENTION_RULES = (RetentionRule("contact_imports", KEPT, forget_imports, IMPORTS.lag),)
