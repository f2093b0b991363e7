"""The base of every API view: it finds the caller and counts the call, in each surface's order, before any work."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar, Generic, NamedTuple, NoReturn, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import OperationalError, connection
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.datastructures import MultiValueDict
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

import config.api.requests  # noqa: F401  # paths of views name ids by it: `<id:workspace>`
from config.api.errors import TooManyRequests, Unauthorized, exception_handler
from config.api.filters import FilterSet
from config.api.keys import has_key_format, key_digest, presented_key
from config.api.operations import operation_of
from config.api.parsers import StrictJSONParser, Upload, UploadRule, read_object, read_upload
from config.api.requests import (
    DEFAULT_PAGE_SIZE,
    NothingMatches,
    Page,
    QueryParameters,
    client_address,
    page_envelope,
    rate_limit_bucket,
    read_page,
)
from config.api.responses import JSONRenderer, json_response
from config.api.serializers import Serializer
from config.api.throttling import RateLimit, RateLimitStatus, count_request
from config.errors import DomainError, NotFound

Caller = TypeVar("Caller")
InputSerializer = TypeVar("InputSerializer", bound=Serializer)
Row = TypeVar("Row", bound=Model)

KEY_MISSING = 'API key missing. Send it as the "x-api-key" header or a Bearer token.'
WRITES = frozenset({"POST", "PUT", "PATCH"})
NEGOTIATION = DefaultContentNegotiation()


class KeyLookup(NamedTuple, Generic[Caller]):
    """The result of one look-up: whether the surface is switched on, and whose key it is."""

    switched_on: bool
    caller: Caller | None


class JSONRequest(Request):
    """DRF's request. Our own strict reader reads `data`, whatever the content type claims."""

    may_be_empty = False
    upload: UploadRule | None = None

    def _parse(self) -> tuple[dict[str, object], MultiValueDict[str, Upload]]:
        if self.upload:
            return {}, read_upload(self._request, self.upload)  # which Django's request closes
        return read_object(self._request, may_be_empty=self.may_be_empty), MultiValueDict()

    def _load_data_and_files(self) -> None:
        untyped: Any = super()
        untyped._load_data_and_files()
        if self.upload:  # DRF's own way of joining the two would leave a list in each field
            own: Any = self
            self._full_data = dict(own._files.items())


class SurfaceView(APIView, Generic[Caller]):
    """A view of a surface; `KeyLimitedSurface` and `AddressLimitedSurface` know the order of checks.

    A surface gives its name, its keys' prefix and its refusal while switched off, and knows its callers.
    Handlers find the caller in `self.caller` and answer with `Response(data)` or `json_response(data)`.
    """

    http_method_names = ["get", "post", "put", "patch", "delete", "head"]
    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()
    renderer_classes = (JSONRenderer,)
    parser_classes = (StrictJSONParser,)

    surface: ClassVar[str] = ""
    key_prefix: ClassVar[str] = ""
    switched_off: ClassVar[type[DomainError]]
    limit_alias: ClassVar[bool] = False
    usual_page_size: ClassVar[int] = DEFAULT_PAGE_SIZE
    # The path parameter with the id of a viewset's object, and the error to raise if the object is not found.
    lookup_url_kwarg: ClassVar[str] = ""
    not_found: ClassVar[type[NotFound]] = NotFound

    caller: Caller
    rate: RateLimitStatus | None = None

    # Each surface defines these ---------------------------------------------------------------------

    def switch_is_on(self) -> bool:
        """Read the fleet-wide switch of the surface."""
        raise NotImplementedError

    @property
    def principal(self) -> str:
        """Name the caller; an `Idempotency-Key` belongs to one."""
        raise NotImplementedError

    def resolve_key(self, digest: bytes) -> Caller | None:
        """Give the caller whose key has this SHA-256, or None for an unknown or revoked key."""
        raise NotImplementedError

    def look_up(self, digest: bytes | None) -> KeyLookup[Caller]:
        """Look up switch and caller; a surface that finds both with one query overrides this."""
        if not self.switch_is_on():
            return KeyLookup(switched_on=False, caller=None)
        return KeyLookup(switched_on=True, caller=None if digest is None else self.resolve_key(digest))

    def check_caller(self, caller: Caller) -> None:
        """Refuse a caller who is known and may not call now."""

    def authenticate(self, request: HttpRequest) -> Caller:
        """Find out who calls, and refuse who may not."""
        raise NotImplementedError

    # Steps of both orders of checks -------------------------------------------------------------------

    def look_up_key(self, presented: str | None) -> KeyLookup[Caller]:
        plausible = presented is not None and has_key_format(self.key_prefix, presented)
        digest = key_digest(presented) if presented is not None and plausible else None
        try:
            return self.look_up(digest)
        except OperationalError:
            # A kept connection was closed meanwhile, perhaps by a pooler. Nothing was done over it yet.
            if connection.in_atomic_block or connection.connection is None:
                raise
            connection.close()
            return self.look_up(digest)

    def address_limit(self, request: HttpRequest) -> RateLimit:
        bucket = rate_limit_bucket(client_address(request))
        return RateLimit(f"{self.surface}:address:{bucket}", settings.ADDRESS_LIMIT)

    def count(self, limit: RateLimit) -> None:
        self.rate = count_request(limit)
        if self.rate is not None and self.rate.retry_after is not None:
            raise TooManyRequests(self.rate.retry_after)

    def refuse_unresolved(self, presented: str | None) -> NoReturn:
        raise Unauthorized(KEY_MISSING if presented is None else None)

    # DRF's own steps, reduced for an API with one format and without sessions -------------------------

    @property
    def default_response_headers(self) -> dict[str, str]:
        return {}

    def initialize_request(self, request: HttpRequest, *args: object, **kwargs: object) -> Request:
        json_request = JSONRequest(request, negotiator=NEGOTIATION)
        declared = operation_of(self, request.method)
        if declared is not None:
            json_request.may_be_empty, json_request.upload = declared.takes_empty_body, declared.upload
        return json_request

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        self.caller = self.authenticate(request._request)
        self.check_method(request)
        if request.method in WRITES:
            _ = request.data  # read here, so that endpoints that ignore the body also refuse a malformed one

    def check_method(self, request: Request) -> None:
        name = (request.method or "").lower()
        if name not in self.http_method_names or not hasattr(self, name):
            raise MethodNotAllowed(request.method or "")

    def handle_exception(self, exc: Exception) -> HttpResponse:  # type: ignore[override]  # any answer will do
        if isinstance(exc, NothingMatches):
            return self.nothing_matches()
        return exception_handler(exc, {"view": self})

    def finalize_response(  # type: ignore[override]  # any answer will do
        self, request: Request, response: HttpResponseBase, *args: object, **kwargs: object
    ) -> HttpResponseBase:
        if isinstance(response, Response):
            response = json_response(response.data, response.status_code, headers=_given_headers(response))
        headers = response.headers
        headers["Cache-Control"] = "no-store"
        if self.rate is not None:
            for name, value in self.rate.headers.items():
                headers[name] = value
        return response

    # For handlers -------------------------------------------------------------------------------------

    @cached_property
    def parameters(self) -> QueryParameters:
        return QueryParameters.of(self.request._request)

    @cached_property
    def page(self) -> Page:
        return read_page(self.parameters, limit_alias=self.limit_alias, usual_size=self.usual_page_size)

    def get_queryset(self) -> "QuerySet[Model]":
        """Give the rows of the tenant that the paths of a viewset may name."""
        raise NotImplementedError

    def get_object(self) -> Any:
        """Find what the path names among `get_queryset()`; malformed, unknown and foreign ids read alike."""
        return self.find(self.get_queryset(), self.kwargs[self.lookup_url_kwarg], missing=self.not_found)

    def find(self, rows: "QuerySet[Row]", uuid: UUID | None, *, missing: type[NotFound]) -> Row:
        """Find the row with this public id, which is None for a malformed one. Raises `missing`."""
        found = rows.filter(uuid=uuid).first() if uuid else None
        if found is None:
            raise missing
        return found

    @property
    def is_filtered(self) -> bool:
        """Whether any of the action's filters was sent."""
        filters = self._filters
        return filters is not None and filters.is_sent(self.parameters)

    def filtered(self, rows: "QuerySet[Row]") -> "QuerySet[Row]":
        """Keep what the action's filters were asked for."""
        filters = self._filters
        return rows if filters is None else filters.apply(self.parameters, rows)

    @property
    def _filters(self) -> type[FilterSet] | None:
        declared = operation_of(self, self.request.method)
        return declared.filters if declared else None

    def context(self) -> dict[str, object]:
        """Give what serializers may know of the request: the view, and so its tenant."""
        return {"view": self}

    def validated(self, serializer: type[InputSerializer], *, partial: bool = False) -> InputSerializer:
        """Validate the body, or refuse it with 422; with `partial` every field may be missing."""
        body = serializer(data=self.request.data, partial=partial, context=self.context())
        body.is_valid(raise_exception=True)
        return body

    def answer(
        self, serializer: BaseSerializer[object], *, status: int = 200, meta: BaseSerializer[object] | None = None
    ) -> HttpResponse:
        """Answer `{data}`, with `meta` beside it where there is one."""
        data = {"data": serializer.data}
        return json_response(data if meta is None else {**data, "meta": meta.data}, status)

    def paged(self, serializer: BaseSerializer[object], total: int) -> HttpResponse:
        """Answer the page asked for of a list of this length."""
        return json_response(page_envelope(self.request._request, self.page, serializer.data, total))

    def page_of(self, rows: "QuerySet[Model]", serializer: type[Serializer]) -> HttpResponse:
        """Answer the page asked for of ordered rows."""
        shown = rows[self.page.offset : self.page.offset + self.page.size]
        return self.paged(serializer(shown, many=True), rows.count())

    def nothing_matches(self) -> HttpResponse:
        declared = operation_of(self, self.request.method)
        answer = declared.answer if declared else None
        if answer and answer.is_page:
            return json_response(page_envelope(self.request._request, self.page, [], 0))
        return json_response({"data": [], **dict.fromkeys(answer.beside if answer else ())})


def _given_headers(response: Response) -> dict[str, str]:
    return {name: value for name, value in response.items() if name.lower() != "content-type"}


class KeyLimitedSurface(SurfaceView[Caller]):
    """Switch, key, caller, then the key's own limit; keys that nobody holds count against their address."""

    def key_limit(self, caller: Caller) -> RateLimit:
        """Give the limit that the caller's key counts against. Each surface has its own."""
        raise NotImplementedError

    def authenticate(self, request: HttpRequest) -> Caller:
        presented = presented_key(request)
        lookup = self.look_up_key(presented)
        if not lookup.switched_on:
            raise self.switched_off
        if lookup.caller is None:
            self.count(self.address_limit(request))
            self.refuse_unresolved(presented)
        self.check_caller(lookup.caller)
        self.count(self.key_limit(lookup.caller))
        return lookup.caller


class AddressLimitedSurface(SurfaceView[Caller]):
    """The address's limit, then switch, key and caller."""

    def authenticate(self, request: HttpRequest) -> Caller:
        self.count(self.address_limit(request))
        presented = presented_key(request)
        lookup = self.look_up_key(presented)
        if not lookup.switched_on:
            raise self.switched_off
        if lookup.caller is None:
            self.refuse_unresolved(presented)
        self.check_caller(lookup.caller)
        return lookup.caller


def unknown_path(surface: type[SurfaceView[Caller]]) -> Callable[..., HttpResponseBase]:
    """Return the catch-all view of a surface: the surface's checks first, then 404 for every method."""

    def check_method(view: SurfaceView[Caller], request: Request) -> None:
        raise NotFound

    unknown: type[SurfaceView[Caller]]
    unknown = type("UnknownPath", (surface,), {"schema": None, "check_method": check_method})
    return unknown.as_view()
