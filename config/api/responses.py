"""Writes answers as JSON with orjson: times in UTC with `Z`, uuids in lower case."""

from collections.abc import Mapping
from datetime import UTC, datetime

import orjson
from django.http import HttpResponse
from django.utils.functional import Promise
from rest_framework.renderers import BaseRenderer

CONTENT_TYPE = "application/json"


def iso(moment: datetime) -> str:
    """Return a time as every answer has it: UTC, `Z`, six digits of a second, or none if they are all zero."""
    return moment.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"


def _plain(value: object) -> str:
    if isinstance(value, Promise):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def to_json(data: object) -> bytes:
    """Return data as compact JSON. Times must be aware and in UTC, as the ORM gives them."""
    return orjson.dumps(data, default=_plain, option=orjson.OPT_UTC_Z)


def json_response(data: object, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpResponse:
    return HttpResponse(to_json(data), status=status, content_type=CONTENT_TYPE, headers=headers)


def error_response(
    status: int, message: str, errors: Mapping[str, list[str]] | None = None, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    """Return an error in the form of every error: `{message}`, and `errors` if fields were refused."""
    body: dict[str, object] = {"message": message}
    if errors is not None:
        body["errors"] = errors
    return json_response(body, status, headers)


# Surfaces write their answers themselves; the documents take the media type from it.


class JSONRenderer(BaseRenderer):
    media_type = CONTENT_TYPE
    format = "json"
    charset = None

    def render(
        self, data: object, accepted_media_type: str | None = None, renderer_context: Mapping[str, object] | None = None
    ) -> bytes:
        return to_json(data)
