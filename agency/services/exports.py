"""Exports: lists as files, begun in the console, written part by part, downloaded while they are kept."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from io import StringIO
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

import orjson
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone, translation
from django.utils.functional import Promise

from agency.actors import SYSTEM, Actor
from agency.models import Agency, Export, ExportPart
from agency.models.jobs import ACTIVE, Job
from agency.services.activity import record_activity
from agency.services.agencies import lock_agency
from agency.services.bulk import BROKE_OFF, Selection, TooManyJobs, reason_to_stop
from agency.services.notifications.agency_kinds import notify_of_ended_job
from config.errors import NotFound
from config.hooks import Registry

# A spreadsheet takes a cell that begins like this for a formula, an East Asian spreadsheet the wide forms as well. The
# apostrophe makes the cell a text. The separator is a setting of the spreadsheet, so a cell may begin after any of
# them.
TEXT: Final = "'"
SEPARATORS: Final = ";,|\t\r\n"
FORMULA: Final = "=+\\-@\uff1d\uff0b\uff0d\uff20\t\r"
BLANKS: Final = r"[^\S\t\r\n]*"
BEGINNING: Final = f"(?:^|(?<=[{SEPARATORS}]))({BLANKS}"
WRITTEN: Final = re.compile(f"{BEGINNING}{TEXT}*)(?=[{FORMULA}])")
READ: Final = re.compile(f"{BEGINNING}){TEXT}(?={TEXT}*[{FORMULA}])")


def escape_formula(text: str) -> str:
    """Return a text of which no spreadsheet takes any part for a formula; `unescape_formula` reverses this.

    A text that has the apostrophe already gets another.
    """
    return WRITTEN.sub(rf"\1{TEXT}", text)


def unescape_formula(cell: str) -> str:
    """Return a cell's text without the apostrophes that an export puts before what would be a formula."""
    return READ.sub(r"\1", cell.strip())


def csv_line(cells: Iterable[str]) -> str:
    """Write cells as a line, each in quotation marks and without formulas; every export uses this."""
    written = StringIO()
    csv.writer(written, quoting=csv.QUOTE_ALL).writerow(map(escape_formula, cells))
    return written.getvalue()


def csv_row(columns: Sequence[str], row: Mapping[str, object]) -> str:
    """Write the values of a row as a line."""
    return csv_line(_text(row[column]) for column in columns)


def json_line(columns: Sequence[str], row: Mapping[str, object]) -> str:
    """Write a row as an object on one line; no value in it can begin a second line."""
    return orjson.dumps({column: row[column] for column in columns}, option=orjson.OPT_UTC_Z).decode() + "\n"


def _text(value: object) -> str:
    """Return a value as a cell shows it: times in UTC, numbers as they are, None as an empty text."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds").replace("+00:00", "Z")
    if isinstance(value, dict | list):
        return orjson.dumps(value).decode()
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, UUID | int | float):
        return str(value)
    return str(value)


@dataclass(frozen=True, slots=True)
class RowBatch:
    """Some rows of a list, each with all of its columns; `cursor` is where the next rows begin, None at the end."""

    rows: Sequence[Mapping[str, object]]
    cursor: object


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportSource:
    """A list of the console. `read` returns the next rows after a cursor, in a statement whose cost does not grow.

    `count` returns the number of rows; without it the progress has no total. `url_name` is the list's page.
    """

    name: str
    label: str | Promise
    url_name: str
    columns: Sequence[str]
    read: Callable[[Selection, Any, int], RowBatch]
    count: Callable[[Selection], int] | None = None


class SourceNotFound(NotFound):
    message = "List not found."


export_sources = Registry[ExportSource](
    "lists that can be exported",
    called=("`write_next_part` calls `count` once and `read` for the next rows of a file; pages read the labels"),
    transaction="its own, one for each piece of a file",
    failure="rolls the piece back and is logged; the export is tried again later, and has failed after five tries",
)


def export_source(name: str) -> ExportSource:
    """Return a list. Raises `SourceNotFound`."""
    found = export_sources.get(name)
    if found is None:
        raise SourceNotFound
    return found


KEPT: Final = timedelta(days=7)
DAY: Final = timedelta(days=1)
MOST_ACTIVE: Final = 3
MOST_OF_A_DAY: Final = 20
MOST_ROWS: Final = 100_000
ROWS_OF_A_PIECE: Final = 1_000
State = Export.State


class ExportNotFound(NotFound):
    message = "Export not found."


@transaction.atomic
def start_export(
    *, agency: Agency, source: ExportSource, query: str, file_format: str, now: datetime, by: Actor
) -> Export:
    """Begin to write what a list shows with these filters. Raises `TooManyJobs`."""
    lock_agency(agency.pk)
    own = Export.objects.filter(agency=agency)
    if own.filter(state__in=ACTIVE).count() >= MOST_ACTIVE:
        raise TooManyJobs(f"{MOST_ACTIVE} exports are running. Start this one when one of them has ended.")
    if own.filter(created_at__gt=now - DAY).count() >= MOST_OF_A_DAY:
        raise TooManyJobs(f"{MOST_OF_A_DAY} exports were made in the last 24 hours. Download one of those.")
    made = Export.objects.create(
        agency=agency, kind=source.name, query=query, format=file_format, created_at=now, **Job.asked_by(by)
    )
    _record(made, "export.started", by)
    return made


@transaction.atomic
def cancel_export(*, export: Export, now: datetime, by: Actor) -> bool:
    """Stop writing a file, and delete what there is of it. Returns whether there was anything to cancel."""
    active = Export.objects.filter(pk=export.pk, state__in=ACTIVE)
    if not active.update(state=State.CANCELLED, ended_at=now):
        return False
    ExportPart.objects.filter(export=export).delete()
    _record(export, "export.cancelled", by)
    return True


@transaction.atomic
def write_next_part(pk: int, *, now: datetime, size: int = ROWS_OF_A_PIECE) -> bool:
    """Write the next rows; return whether more come. Each turn checks anew whether the maker may have them."""
    rows = Export.objects.select_for_update(of=("self",)).select_related("agency", "created_by")
    export = rows.get(pk=pk)
    if not export.is_active:
        return False
    reason = reason_to_stop(export)
    if reason:
        _end_without_file(export, State.STOPPED, reason, now)
        return False
    source, selection = export_source(export.kind), _selection_of(export)
    if export.state == State.WAITING:
        _begin(export, source, selection)
    with _as_its_maker_reads(export):
        found = source.read(selection, export.cursor, min(size, MOST_ROWS - export.rows))
    _append(export, source, found)
    export.cursor = found.cursor
    if found.cursor is None or export.rows >= MOST_ROWS:
        export.state, export.ended_at, export.is_cut = State.COMPLETED, now, found.cursor is not None
        notify_of_ended_job(export, now=now)
    export.save()
    return export.is_active


@transaction.atomic
def give_up_export(pk: int, *, now: datetime) -> bool:
    """End an export whose next piece died or failed too often. Returns that no turn is left."""
    export = Export.objects.select_for_update(of=("self",)).select_related("agency", "created_by").get(pk=pk)
    if export.is_active:
        _end_without_file(export, State.FAILED, BROKE_OFF, now)
        _record(export, "export.failed", SYSTEM)
    return False


def restart_export(export: Export, *, by: Actor) -> None:
    """Let a failed export begin anew, inside the caller's transaction, which holds the row's lock."""
    export.state, export.ended_at, export.stopped_because = State.WAITING, None, ""
    export.cursor, export.total, export.rows, export.bytes = None, None, 0, 0
    export.save()
    _record(export, "export.restarted", by)


def kept_exports(agency: Agency, now: datetime) -> QuerySet[Export]:
    """Return an agency's exports whose time is not over, whether or not retention has run."""
    return Export.objects.filter(agency=agency, created_at__gt=now - KEPT)


@transaction.atomic
def open_export(*, export: Export, by: Actor) -> Iterator[bytes]:
    """Return a file's lines, part by part, and record who downloads it. Raises `ExportNotFound`."""
    if export.state != State.COMPLETED:
        raise ExportNotFound
    _record(export, "export.downloaded", by)
    return _parts(export)


def _parts(export: Export) -> Iterator[bytes]:
    numbers = ExportPart.objects.filter(export=export).order_by("number").values_list("number", flat=True)
    for number in list(numbers):
        yield bytes(ExportPart.objects.values_list("content", flat=True).get(export=export, number=number))


def _begin(export: Export, source: ExportSource, selection: Selection) -> None:
    export.state = State.RUNNING
    export.total = min(source.count(selection), MOST_ROWS) if source.count else None
    if export.format == Export.Format.CSV:
        _add_part(export, 0, csv_line(source.columns).encode())


def _append(export: Export, source: ExportSource, found: RowBatch) -> None:
    line = csv_row if export.format == Export.Format.CSV else json_line
    content = "".join(line(source.columns, row) for row in found.rows).encode()
    if content:
        _add_part(export, export.rows + 1, content)
    export.rows += len(found.rows)


def _add_part(export: Export, number: int, content: bytes) -> None:
    ExportPart.objects.create(export=export, number=number, content=content)
    export.bytes += len(content)


@contextmanager
def _as_its_maker_reads(export: Export) -> Iterator[None]:
    """Use the language and the time zone of the person who asked, else the agency's language, and UTC."""
    reader = export.created_by
    language = reader.language or export.agency.language or str(settings.LANGUAGE_CODE)
    with translation.override(language), timezone.override(ZoneInfo(reader.time_zone or "UTC")):
        yield


def _end_without_file(export: Export, state: Export.State, reason: str, now: datetime) -> None:
    export.state, export.stopped_because, export.ended_at = state, reason, now
    export.save(update_fields=["state", "stopped_because", "ended_at"])
    notify_of_ended_job(export, now=now)
    ExportPart.objects.filter(export=export).delete()


def _selection_of(export: Export) -> Selection:
    return Selection(agency=export.agency, query=export.query, until=export.created_at)


def _record(export: Export, action: str, by: Actor) -> None:
    source = export_sources.get(export.kind)
    target = ("export", export.uuid, str(source.label) if source else export.kind)
    details = {"format": export.format}
    record_activity(by=by, action=action, agency_id=export.agency_id, target=target, details=details)
