"""Strict JSON: nothing ambiguous is accepted, and each field refuses what cannot be stored."""

import json
import re
from dataclasses import dataclass
from typing import Any

from config.api.errors.refusals import Malformed

DEEPEST = 100
INTEGERS = range(-(2**63), 2**63)
# An integer of at most this many characters, sign included, is in range. Longer ones are checked.
SAFE_DIGITS = 18
# Strings and brackets. A string that never ends is taken to the end of the body; otherwise each quote in it would be
# looked at again.
MARKS = re.compile(rb'"(?:[^"\\]+|\\.)*+"?|[\[\]{}]', re.DOTALL)
QUOTE = ord('"')
OPENING = frozenset(b"[{")

NOT_JSON = "The body is not valid JSON."
TOO_DEEP = f"The body is nested deeper than {DEEPEST} levels."


@dataclass(frozen=True, slots=True)
class OutOfRange:
    """Stands for a number that no column can hold. Every field refuses it; in an unknown field it is ignored."""

    digits: str

    @property
    def canonical(self) -> list[str]:
        return [self.digits]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Malformed("The body repeats a key within an object.")
    return found


def _constant(name: str) -> Any:
    raise Malformed(f"{name} is not a JSON number.")


def _integer(text: str) -> int | OutOfRange:
    if len(text) <= SAFE_DIGITS:
        return int(text)
    number = int(text) if len(text) <= SAFE_DIGITS + 2 else None
    return number if number is not None and number in INTEGERS else OutOfRange(text)


def _float(text: str) -> float | OutOfRange:
    number = float(text)
    return OutOfRange(text) if number in (float("inf"), float("-inf")) else number


DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer, parse_float=_float)


def _refuse_depth(body: bytes) -> None:
    """Count brackets outside strings. A body with at most `DEEPEST` opening brackets passes at once."""
    if body.count(b"[") + body.count(b"{") <= DEEPEST:
        return
    depth = 0
    for found in MARKS.finditer(body):
        mark = body[found.start()]
        if mark == QUOTE:
            continue
        depth += 1 if mark in OPENING else -1
        if depth > DEEPEST:
            raise Malformed(TOO_DEEP)


def parse_object(body: bytes) -> dict[str, Any]:
    """Parse a JSON object from UTF-8 bytes.

    Raises `Malformed` (400) for anything but one JSON object without repeated keys, NaN or deep nesting. NUL
    characters, lone surrogates and numbers beyond 64 bits (`OutOfRange`) pass, for the fields to refuse.
    """
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise Malformed("The body is not valid UTF-8.") from error
    _refuse_depth(body)
    try:
        value = DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise Malformed(NOT_JSON) from error
    if not isinstance(value, dict):
        raise Malformed("The body must be a JSON object.")
    return value


def canonical_bytes(value: Any) -> bytes:
    """Return a body as bytes that are the same for the same JSON, whatever the order of its keys.

    A number out of range and an uploaded file give the values to compare in `canonical`.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=lambda other: other.canonical).encode()
