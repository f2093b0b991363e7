"""Lines of files: CSV that no program takes for formulas, and JSON Lines."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from io import StringIO
from typing import Any, Final
from uuid import UUID

import orjson

# A program for tables takes a cell that begins like this for a formula, an East Asian one the wide forms as well; the
# apostrophe makes it a text. Which separator it splits at is set in it: what follows any of them may begin a cell.
TEXT: Final = "'"
SEPARATORS: Final = ";,|\t\r\n"
FORMULA: Final = "=+\\-@\uff1d\uff0b\uff0d\uff20\t\r"
BLANKS: Final = r"[^\S\t\r\n]*"
BEGINNING: Final = f"(?:^|(?<=[{SEPARATORS}]))({BLANKS}"
WRITTEN: Final = re.compile(f"{BEGINNING}{TEXT}*)(?=[{FORMULA}])")
READ: Final = re.compile(f"{BEGINNING}){TEXT}(?={TEXT}*[{FORMULA}])")


def written_cell(text: str) -> str:
    """Give a text so that no program for tables takes any of it for a formula; `read_cell` gives it back.

    Where a text has the apostrophe already it gets another one.
    """
    return WRITTEN.sub(rf"\1{TEXT}", text)


def read_cell(cell: str) -> str:
    """Give a cell's text, without the apostrophes that an export puts before what would be a formula."""
    return READ.sub(r"\1", cell.strip())


def csv_line(cells: Iterable[str]) -> str:
    """Write cells as a line, each in quotation marks and none of them a formula: every export is written by this."""
    written = StringIO()
    csv.writer(written, quoting=csv.QUOTE_ALL).writerow(map(written_cell, cells))
    return written.getvalue()


def csv_row(columns: Sequence[str], row: Mapping[str, Any]) -> str:
    """Write the values of a row as a line."""
    return csv_line(_text(row[column]) for column in columns)


def json_line(columns: Sequence[str], row: Mapping[str, Any]) -> str:
    """Write a row as an object on a line; nothing in it begins a second one."""
    return orjson.dumps({column: row[column] for column in columns}, option=orjson.OPT_UTC_Z).decode() + "\n"


def _text(value: Any) -> str:
    """Give a value as a cell shows it: times in UTC, numbers as they are, nothing for nothing."""
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
