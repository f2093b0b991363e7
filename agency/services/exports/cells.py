"""Lines of files: CSV that no spreadsheet takes for formulas, and JSON Lines."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from io import StringIO
from typing import Any, Final
from uuid import UUID

import orjson

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


def written_cell(text: str) -> str:
    """Return a text of which no spreadsheet takes any part for a formula; `read_cell` reverses this.

    A text that has the apostrophe already gets another.
    """
    return WRITTEN.sub(rf"\1{TEXT}", text)


def read_cell(cell: str) -> str:
    """Return a cell's text without the apostrophes that an export puts before what would be a formula."""
    return READ.sub(r"\1", cell.strip())


def csv_line(cells: Iterable[str]) -> str:
    """Write cells as a line, each in quotation marks and without formulas; every export uses this."""
    written = StringIO()
    csv.writer(written, quoting=csv.QUOTE_ALL).writerow(map(written_cell, cells))
    return written.getvalue()


def csv_row(columns: Sequence[str], row: Mapping[str, Any]) -> str:
    """Write the values of a row as a line."""
    return csv_line(_text(row[column]) for column in columns)


def json_line(columns: Sequence[str], row: Mapping[str, Any]) -> str:
    """Write a row as an object on one line; no value in it can begin a second line."""
    return orjson.dumps({column: row[column] for column in columns}, option=orjson.OPT_UTC_Z).decode() + "\n"


def _text(value: Any) -> str:
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
