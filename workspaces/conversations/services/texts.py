"""Texts of networks as the database can hold them."""

import re

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
# An escaped NUL in JSON: not one whose backslash is itself escaped.
ESCAPED_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
REPLACEMENT = "\ufffd"


def storable(text: str) -> str:
    """Replace characters that no text of the database can hold."""
    return UNSTORABLE.sub(REPLACEMENT, text)


def storable_json(text: str) -> str:
    """Replace them in JSON as it is written."""
    return ESCAPED_NUL.sub(rf"\g<1>{REPLACEMENT}", text) if "\\u0000" in text else text
