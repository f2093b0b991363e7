"""Public names of things: uuids, in any case, in one spelling."""

import re
from uuid import UUID

from django.urls import register_converter

SPELLING = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def parse_uuid(text: str) -> UUID | None:
    """Read 8-4-4-4-12 hexadecimal digits in any case; braces, `urn:` and bare digits are no ids here."""
    return UUID(text) if SPELLING.fullmatch(text) else None


class IdConverter:
    """`<id:workspace>` in a path takes any text, so that a malformed id reads like an unknown one: `None`."""

    regex = "[^/]+"

    def to_python(self, value: str) -> UUID | None:
        return parse_uuid(value)

    def to_url(self, value: UUID | str) -> str:
        return str(value)


register_converter(IdConverter, "id")
