"""The query string, read once. A text that cannot be stored matches nothing."""

from functools import cached_property
from urllib.parse import parse_qsl

from django.http import HttpRequest

from config.api.errors.refusals import Malformed

MOST_PARAMETERS = 1000


class NothingMatches(Exception):
    """A filter's value can belong to nothing that exists. The surface answers with an empty list."""


def is_storable(text: str) -> bool:
    if "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class Parameters:
    """The query string's parameters. The last one of a name counts, and a blank one counts as not sent."""

    def __init__(self, query: str) -> None:
        self.query = query

    @classmethod
    def of(cls, request: HttpRequest) -> "Parameters":
        return cls(request.META.get("QUERY_STRING", ""))

    @cached_property
    def _values(self) -> dict[str, str]:
        if not self.query:
            return {}
        # WSGI passes bytes as Latin-1. Bytes that are not UTF-8 become lone surrogates, which match nothing.
        text = self.query.encode("latin-1", "replace").decode("utf-8", "surrogateescape")
        try:
            return dict(parse_qsl(text, errors="surrogateescape", max_num_fields=MOST_PARAMETERS))
        except ValueError as error:
            raise Malformed("The query string has too many parameters.") from error

    def plain(self, name: str) -> str:
        """Return a parameter as it was sent, or an empty string."""
        return self._values.get(name, "")

    def sent(self, name: str) -> bool:
        return name in self._values
