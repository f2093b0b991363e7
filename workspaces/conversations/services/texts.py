"""Texts of networks as the database can hold them."""

import json
import re
from typing import Any

import orjson

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
# An escaped NUL in JSON: not one whose backslash is itself escaped.
ESCAPED_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
# Half of a character in JSON that is all ASCII: a high one without a low one behind it, or the reverse.
LONE_SURROGATE = re.compile(
    r"(?i)(?:\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f][0-9a-f]{2})|(?<!\\ud[89ab][0-9a-f]{2})\\ud[c-f][0-9a-f]{2})"
)
REPLACEMENT = "\ufffd"


def storable(text: str) -> str:
    """Replace characters that no text of the database can hold."""
    return UNSTORABLE.sub(REPLACEMENT, text)


def storable_json(value: Any) -> str:
    """Write a value as JSON without them."""
    try:
        text = orjson.dumps(value).decode()
    except TypeError:  # half of a character, which orjson refuses and which Python writes and reads
        text = orjson.dumps(orjson.loads(LONE_SURROGATE.sub(REPLACEMENT, json.dumps(value)))).decode()
    return ESCAPED_NUL.sub(rf"\g<1>{REPLACEMENT}", text) if "\\u0000" in text else text
