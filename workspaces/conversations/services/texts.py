"""Replaces characters in networks' texts that the database cannot store."""

import json
import re
from typing import Any

import orjson

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
# An escaped NUL in JSON, unless its backslash is itself escaped.
ESCAPED_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
# A lone surrogate in ASCII-only JSON: a high one without a low one after it, or the reverse.
LONE_SURROGATE = re.compile(
    r"(?i)(?:\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f][0-9a-f]{2})|(?<!\\ud[89ab][0-9a-f]{2})\\ud[c-f][0-9a-f]{2})"
)
REPLACEMENT = "\ufffd"


def storable(text: str) -> str:
    """Replace characters that the database cannot store."""
    return UNSTORABLE.sub(REPLACEMENT, text)


def storable_json(value: Any) -> str:
    """Dump a value as JSON without characters that the database cannot store."""
    try:
        text = orjson.dumps(value).decode()
    except TypeError:  # a lone surrogate, which orjson refuses and the json module accepts
        text = orjson.dumps(orjson.loads(LONE_SURROGATE.sub(REPLACEMENT, json.dumps(value)))).decode()
    return ESCAPED_NUL.sub(rf"\g<1>{REPLACEMENT}", text) if "\\u0000" in text else text
