"""Reads the text of a PDF that Typst has made: what its fonts' tables say of each drawn glyph."""

import re
import zlib
from typing import Any

OBJECT = re.compile(rb"(\d+) 0 obj\n(.*?)\nendobj", re.DOTALL)
REFERENCE = re.compile(rb"/(\w+) (\d+) 0 R")
TOKEN = re.compile(rb"<<|>>|<(?P<hex>[0-9A-Fa-f]*)>|(?P<open>\()|/(?P<name>[\w.]+)|(?P<operator>[A-Za-z*'\"]+)")
PARENTHESIS = re.compile(rb"\\.|[()]", re.DOTALL)
ESCAPED = re.compile(rb"\\([0-7]{1,3}|.)", re.DOTALL)
LETTERS = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}


def text_of(pdf: bytes) -> str:
    """Return everything that is drawn, in the order of drawing."""
    objects = {int(number): body for number, body in OBJECT.findall(pdf)}
    fonts: dict[bytes, dict[int, str]] = {}
    for body in objects.values():
        for resources in re.findall(rb"/Font ?<<(.*?)>>", body, re.DOTALL):
            for name, number in REFERENCE.findall(resources):
                fonts[name] = _letters(objects, int(number))
    contents = [int(number) for body in objects.values() for number in re.findall(rb"/Contents (\d+) 0 R", body)]
    return "\n".join(_drawn(_stream(objects[number]), fonts) for number in contents)


def _stream(body: bytes) -> bytes:
    [length] = re.findall(rb"/Length (\d+)", body)
    begins = body.index(b"stream\n") + len(b"stream\n")
    found = body[begins : begins + int(length)]
    return zlib.decompress(found) if b"FlateDecode" in body else found


def _letters(objects: dict[int, bytes], font: int) -> dict[int, str]:
    [table] = re.findall(rb"/ToUnicode (\d+) 0 R", objects[font])
    found: dict[int, str] = {}
    text = _stream(objects[int(table)])
    for block in re.findall(rb"beginbfchar(.*?)endbfchar", text, re.DOTALL):
        for glyph, letters in re.findall(rb"<([0-9A-Fa-f]+)>\s*<([0-9A-Fa-f]+)>", block):
            found[int(glyph, 16)] = bytes.fromhex(letters.decode()).decode("utf-16-be")
    for block in re.findall(rb"beginbfrange(.*?)endbfrange", text, re.DOTALL):
        for first, last, letters in re.findall(rb"<(\w+)>\s*<(\w+)>\s*<(\w+)>", block):
            start = bytes.fromhex(letters.decode()).decode("utf-16-be")
            for step in range(int(last, 16) - int(first, 16) + 1):
                found[int(first, 16) + step] = start[:-1] + chr(ord(start[-1]) + step)
    return found


def _drawn(stream: bytes, fonts: dict[bytes, dict[int, str]]) -> str:
    letters: dict[int, str] = {}
    pieces: list[str] = []
    name, strings, at = b"", b"", 0
    while found := TOKEN.search(stream, at):
        at = found.end()
        if found["open"]:
            closes = _end_of_literal(stream, at)
            strings += ESCAPED.sub(_unescaped, stream[at:closes])
            at = closes + 1
        elif found["hex"]:
            strings += bytes.fromhex(found["hex"].decode())
        elif found["name"]:
            name = found["name"]
        elif found["operator"]:
            letters = fonts[name] if found["operator"] == b"Tf" else letters
            if found["operator"] in (b"Tj", b"TJ"):
                glyphs = (int.from_bytes(strings[two : two + 2], "big") for two in range(0, len(strings), 2))
                pieces.append("".join(letters.get(glyph, "\N{REPLACEMENT CHARACTER}") for glyph in glyphs))
            strings = b""
    return " ".join(pieces)


def _end_of_literal(stream: bytes, at: int) -> int:
    """Return where the string that begins here is closed. It may hold parentheses in pairs."""
    depth = 1
    for found in PARENTHESIS.finditer(stream, at):
        depth += {b"(": 1, b")": -1}.get(found[0], 0)
        if depth == 0:
            return found.start()
    raise ValueError("A string has no end.")


def _unescaped(found: Any) -> bytes:
    mark: bytes = found[1]
    return bytes([int(mark, 8)]) if mark.isdigit() else LETTERS.get(mark, mark)
