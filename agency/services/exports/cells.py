"""Lines of files: CSV that no program takes for formulas, and JSON Lines."""

import csv
from collections.abc import Mapping, Sequence
from datetime import datetime
from io import StringIO
from typing import Any
from uuid import UUID

import orjson

# A program for tables takes a cell that begins like this for a formula; the apostrophe makes it a text.
FORMULA = ("=", "+", "-", "@", "\t", "\r")
TEXT = "'"


def written_cell(text: str) -> str:
    """Give a text so that no program for tables takes it for a formula; `read_cell` gives it back."""
    return f"{TEXT}{text}" if text.startswith(FORMULA) else text


def read_cell(cell: str) -> str:
    """Give a cell's text, without the apostrophe that an export puts before what would be a formula."""
    text = cell.strip()
    return text[1:] if text.startswith(TEXT) and text[1:].startswith(FORMULA) else text


def csv_line(cells: Sequence[str]) -> str:
    """Write cells that are safe already as a line."""
    written = StringIO()
    csv.writer(written).writerow(cells)
    return written.getvalue()


def csv_row(columns: Sequence[str], row: Mapping[str, Any]) -> str:
    """Write the values of a row as a line."""
    return csv_line([written_cell(_text(row[column])) for column in columns])


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
