"""Public ids: uuids, accepted in any case."""

import re
from uuid import UUID

from django.urls import register_converter

SPELLING = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def parse_uuid(text: str) -> UUID | None:
    """Parse 8-4-4-4-12 hexadecimal digits in any case. Braces, `urn:` and bare digits are not accepted."""
    return UUID(text) if SPELLING.fullmatch(text) else None


class IdConverter:
    """`<id:workspace>` in a path takes any text. A malformed id becomes `None`, so it reads like an unknown one."""

    regex = "[^/]+"

    def to_python(self, value: str) -> UUID | None:
        return parse_uuid(value)

    def to_url(self, value: UUID | str) -> str:
        return str(value)


register_converter(IdConverter, "id")
