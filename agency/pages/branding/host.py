"""The hosts that we answer for: the installation's own, and those that agencies have verified."""

from collections.abc import Collection
from typing import NamedTuple

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase

from agency.models import Agency
from agency.models.branding.brands import BYTES_OF_AGENCY
from agency.services.domains.hosts import agency_of_host, remembered_agencies, url_of_host
from config.serving.middleware import NOT_LOGGED, Next

# A proxy on the inside asks there under whatever name it knows this process by.
TLS_ALLOWED = "/internal/tls-allowed"
ON_ANY_UNKNOWN_HOST = NOT_LOGGED | {TLS_ALLOWED}
NOT_ON_AGENCIES_HOSTS = ("/admin", "/internal")
HSTS = "Strict-Transport-Security"


def host_name(host: str) -> str:
    """Give a `Host` header's name or address, in lower case, without the port and the root's dot."""
    name = host.lower()
    if name.startswith("["):
        return name.partition("]")[0] + "]"
    return name.partition(":")[0].rstrip(".")


def host_agency_id(request: HttpRequest) -> int | None:
    """Give the id of the agency whose host this is; None on the installation's own."""
    return getattr(request, "host_agency_id", None)


def is_host_known(request: HttpRequest) -> bool:
    """Say whether it was found out whose host this is: the database may be away before this process has asked it."""
    return hasattr(request, "host_agency_id")


def host_serves(request: HttpRequest, agency_ids: Collection[int]) -> bool:
    """Say whether something of these agencies is there on the host that was asked: theirs, or the installation's."""
    agency_id = host_agency_id(request)
    return agency_id is None or agency_id in agency_ids


def agencys_host(request: HttpRequest) -> str:
    """Give the name of the agency's host that was asked; empty on the installation's own."""
    return "" if host_agency_id(request) is None else host_name(request.get_host())


def host_agency(request: HttpRequest) -> Agency | None:
    """Give the agency whose host this is, with its brand; looked up once a request."""
    agency_id = host_agency_id(request)
    if agency_id is None:
        return None
    kept: Agency | None = getattr(request, "_host_agency", None)
    if kept is None:
        kept = Agency.objects.select_related("brand").defer(*BYTES_OF_AGENCY).get(pk=agency_id)
        request._host_agency = kept  # type: ignore[attr-defined]  # ours alone
    return kept


class KnownHosts:
    """Sets `request.host_agency_id`, and answers 404 for every host that is not ours: no link has a foreign name.

    A host that the settings name is the installation's, whatever agencies have; `.name` there stands for every host
    below `name` that is no agency's. On an agency's host there is no admin, and for other hosts below it, which are
    not ours, nothing is promised.
    """

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        name = host_name(request.META.get("HTTP_HOST", request.META.get("SERVER_NAME", "")))
        agency_id = None if name in settings.HOSTS else agency_of_host(name)
        request.host_agency_id = agency_id  # type: ignore[attr-defined]  # see `host_agency_id`
        if agency_id is not None:
            request.host_url = url_of_host(name)  # type: ignore[attr-defined]  # what `origin` gives
            return self._on_agencys_host(request)
        if is_installations(name) or request.path in ON_ANY_UNKNOWN_HOST:
            return self.get_response(request)
        return HttpResponse('{"message":"Not found."}', status=404, content_type="application/json")

    def process_view(self, request: HttpRequest, *_: object) -> None:
        """Have the admin not found there, as any other address that leads nowhere."""
        path = request.path_info
        if host_agency_id(request) is not None and path.startswith(NOT_ON_AGENCIES_HOSTS):
            raise Http404

    def _on_agencys_host(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if HSTS in response.headers:
            response.headers[HSTS] = response.headers[HSTS].partition(";")[0]
        return response


class Host(NamedTuple):
    """A host that we answer for; no `agency_id` is one of the installation's own."""

    agency_id: int | None


def host_at_once(header: str) -> Host | None:
    """Give the host that a `Host` header names, where this process knows it without asking anybody."""
    name = host_name(header)
    if name in settings.HOSTS:
        return Host(None)
    agencies = remembered_agencies()
    if agencies is None:
        return None
    agency_id = agencies.get(name)
    return Host(agency_id) if agency_id is not None or is_installations(name) else None


def is_installations(name: str) -> bool:
    """Say whether the settings name this host, or one that it is below."""
    return name in settings.HOSTS or any(one.startswith(".") and name.endswith(one) for one in settings.HOSTS)
