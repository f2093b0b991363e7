"""The query string, read once and without surprises: what cannot be a stored text matches nothing."""

from collections.abc import Collection
from datetime import datetime
from functools import cached_property
from urllib.parse import parse_qsl
from uuid import UUID

from django.http import HttpRequest
from django.utils.dateparse import parse_datetime

from config.api.errors.refusals import Malformed
from config.api.requests.ids import parse_uuid
from config.errors import Invalid

MOST_PARAMETERS = 1000


class NothingMatches(Exception):
    """A filter's value can belong to nothing that exists; the surface answers with an empty list."""


def is_storable(text: str) -> bool:
    if "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class Parameters:
    """The query string's parameters: the last one of a name counts, a blank one was not sent."""

    def __init__(self, query: str) -> None:
        self.query = query

    @classmethod
    def of(cls, request: HttpRequest) -> "Parameters":
        return cls(request.META.get("QUERY_STRING", ""))

    @cached_property
    def _values(self) -> dict[str, str]:
        if not self.query:
            return {}
        # WSGI hands bytes over as Latin-1. What is not UTF-8 becomes lone surrogates, which match nothing.
        text = self.query.encode("latin-1", "replace").decode("utf-8", "surrogateescape")
        try:
            return dict(parse_qsl(text, errors="surrogateescape", max_num_fields=MOST_PARAMETERS))
        except ValueError as error:
            raise Malformed("The query string has too many parameters.") from error

    def plain(self, name: str) -> str:
        """Give a parameter as it was sent, or nothing: for numbers, where any odd text means the default."""
        return self._values.get(name, "")

    def sent(self, name: str) -> bool:
        return name in self._values

    def text(self, name: str) -> str | None:
        value = self.plain(name).strip()
        if not value:
            return None
        if not is_storable(value):
            raise NothingMatches
        return value

    def uuid(self, name: str) -> UUID | None:
        value = self.text(name)
        if value is None:
            return None
        found = parse_uuid(value)
        if found is None:
            raise NothingMatches
        return found

    def one_of(self, name: str, values: Collection[str]) -> str | None:
        value = self.text(name)
        if value is not None and value not in values:
            raise NothingMatches
        return value

    def moment(self, name: str) -> datetime | None:
        """Give a time with its offset; anything else is refused, as a misread date matches wrong things."""
        value = self.text(name)
        if value is None:
            return None
        try:
            found = parse_datetime(value)
        except ValueError:
            found = None
        if found is None or found.tzinfo is None:
            raise Invalid(f"The {name} parameter must be an ISO 8601 time with an offset.", field=name)
        return found
