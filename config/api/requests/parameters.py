"""The query string, read once and without surprises: what cannot be a stored text matches nothing."""

from functools import cached_property
from urllib.parse import parse_qsl

from django.http import HttpRequest

from config.api.errors.refusals import Malformed

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
