"""JSON read so strictly that nothing which comes through can surprise a database or a later reader."""

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, cast

from rest_framework.exceptions import ValidationError

from config.api.errors.refusals import Malformed

DEEPEST = 100
INTEGERS = range(-(2**63), 2**63)
# No integer of fewer characters leaves the range, sign included; longer ones are looked at.
SAFE_DIGITS = 18
MAYBE_UNSTORABLE = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
# A string that never ends is taken to the end of the body, or each quote in it would be looked at again.
BRACKETS = re.compile(rb'"(?:[^"\\]+|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)
MOST_FLAWS = 50
LONGEST_NAME = 100

NOT_JSON = "The body is not valid JSON."
TOO_DEEP = f"The body is nested deeper than {DEEPEST} levels."


class _OutOfRange:
    """Stands where a number was that no column could hold, until its path is known."""


OUT_OF_RANGE = _OutOfRange()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Malformed("The body repeats a key within an object.")
    return found


def _constant(name: str) -> Any:
    raise Malformed(f"{name} is not a JSON number.")


class _Reader:
    """One reading of one body; remembers whether a number was out of range."""

    def __init__(self) -> None:
        self.lost_a_number = False
        self.decoder = json.JSONDecoder(
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_int=self._integer,
            parse_float=self._float,
        )

    def _lose(self) -> _OutOfRange:
        self.lost_a_number = True
        return OUT_OF_RANGE

    def _integer(self, text: str) -> int | _OutOfRange:
        if len(text) <= SAFE_DIGITS:
            return int(text)
        number = int(text) if len(text) <= SAFE_DIGITS + 2 else None
        return number if number is not None and number in INTEGERS else self._lose()

    def _float(self, text: str) -> float | _OutOfRange:
        number = float(text)
        return self._lose() if number in (float("inf"), float("-inf")) else number


def _refuse_depth(body: bytes) -> None:
    """Count brackets outside strings; a body with fewer of them than `DEEPEST` is let by."""
    if body.count(b"[") + body.count(b"{") <= DEEPEST:
        return
    depth = 0
    for found in BRACKETS.finditer(body):
        mark = found[0]
        if mark in b"[{":
            depth += 1
            if depth > DEEPEST:
                raise Malformed(TOO_DEEP)
        elif mark in b"]}":
            depth -= 1


def _flaws(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        if UNSTORABLE.search(value):
            yield path, f"The {path} field holds characters that cannot be stored."
    elif isinstance(value, dict):
        yield from _flaws_of_object(value, path)
    elif isinstance(value, list):
        for position, below in enumerate(value):
            yield from _flaws(below, f"{path}.{position}")
    elif value is OUT_OF_RANGE:
        yield path, f"The number in the {path} field is out of range."


def _flaws_of_object(value: dict[str, Any], path: str) -> Iterator[tuple[str, str]]:
    for name, below in value.items():
        clean = UNSTORABLE.sub("\ufffd", name)[:LONGEST_NAME]
        here = f"{path}.{clean}" if path else clean
        if UNSTORABLE.search(name):
            yield here, f"The name of the {here} field holds characters that cannot be stored."
        yield from _flaws(below, here)


def _refuse_flaws(value: dict[str, Any]) -> None:
    errors = {path: [sentence] for path, sentence in islice(_flaws(value, ""), MOST_FLAWS)}
    if errors:
        raise ValidationError(cast("Any", errors))


def parse_object(body: bytes) -> dict[str, Any]:
    """Read a JSON object from UTF-8 bytes.

    Raises `Malformed` (400) for whatever is not one JSON object without repeated keys, NaN or deep nesting,
    and `ValidationError` (422, by dotted path) for NUL, lone surrogates and numbers beyond 64 bits.
    """
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise Malformed("The body is not valid UTF-8.") from error
    _refuse_depth(body)
    reader = _Reader()
    try:
        value = reader.decoder.decode(text)
    except json.JSONDecodeError as error:
        raise Malformed(NOT_JSON) from error
    if not isinstance(value, dict):
        raise Malformed("The body must be a JSON object.")
    if reader.lost_a_number or MAYBE_UNSTORABLE.search(body):
        _refuse_flaws(value)
    return value
