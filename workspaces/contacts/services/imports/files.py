"""Reads CSV files line by line and refuses a file as soon as it exceeds a limit."""

import codecs
import csv
from collections.abc import Iterator
from contextlib import contextmanager
from io import SEEK_END, TextIOWrapper
from itertools import chain, islice
from typing import IO, Final

from agency.services.exports import unescape_formula
from config.errors import InvalidInput

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
