"""The hosts that we serve: the installation's own, and those that agencies have verified."""

from collections.abc import Collection
from typing import NamedTuple

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase

from agency.models import Agency
from agency.models.branding.brands import BYTES_OF_AGENCY
from agency.services.domains.hosts import agency_of_host, remembered_agencies, url_of_host
from config.serving.middleware import NOT_LOGGED, Next

# A proxy inside the network asks there, under whatever name it knows this process by.
TLS_ALLOWED = "/internal/tls-allowed"
ON_ANY_UNKNOWN_HOST = NOT_LOGGED | {TLS_ALLOWED}
NOT_ON_AGENCIES_HOSTS = ("/admin", "/internal")
HSTS = "Strict-Transport-Security"


def host_name(host: str) -> str:
    """Return the name or address of a `Host` header in lower case, without the port and the root's dot."""
    name = host.lower()
    if name.startswith("["):
        return name.partition("]")[0] + "]"
    return name.partition(":")[0].rstrip(".")


def host_agency_id(request: HttpRequest) -> int | None:
    """Return the id of the agency whose host this is; None on the installation's own."""
    return getattr(request, "host_agency_id", None)


def is_host_known(request: HttpRequest) -> bool:
    """Return whether it is known whose host this is: while the database is away, a new process cannot find out."""
    return hasattr(request, "host_agency_id")


def host_serves(request: HttpRequest, agency_ids: Collection[int]) -> bool:
    """Return whether this host serves anything of these agencies: one of them has it, or it is the installation's."""
    agency_id = host_agency_id(request)
    return agency_id is None or agency_id in agency_ids


def agencys_host(request: HttpRequest) -> str:
    """Return the name of the agency's host that was requested; empty on the installation's own."""
    return "" if host_agency_id(request) is None else host_name(request.get_host())


def host_agency(request: HttpRequest) -> Agency | None:
    """Return the agency whose host this is, with its brand; looked up once per request."""
    agency_id = host_agency_id(request)
    if agency_id is None:
        return None
    kept: Agency | None = getattr(request, "_host_agency", None)
    if kept is None:
        kept = Agency.objects.select_related("brand").defer(*BYTES_OF_AGENCY).get(pk=agency_id)
        request._host_agency = kept  # type: ignore[attr-defined]  # ours alone
    return kept


class KnownHosts:
    """Sets `request.host_agency_id`, and answers 404 for every unknown host, so that links have no foreign name.

    A host that the settings name is the installation's, whatever agencies have; `.name` there stands for every host
    below `name` that no agency has. An agency's host has no admin. Its HSTS header does not include the hosts below it,
    which are not ours.
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
        """Answer 404 for admin and internal addresses on an agency's host, as for any unknown address."""
        path = request.path_info
        if host_agency_id(request) is not None and path.startswith(NOT_ON_AGENCIES_HOSTS):
            raise Http404

    def _on_agencys_host(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if HSTS in response.headers:
            response.headers[HSTS] = response.headers[HSTS].partition(";")[0]
        return response


class Host(NamedTuple):
    """A host that we serve; without `agency_id` it is the installation's own."""

    agency_id: int | None


def host_at_once(header: str) -> Host | None:
    """Return the host that a `Host` header names, if this process knows it without a query."""
    name = host_name(header)
    if name in settings.HOSTS:
        return Host(None)
    agencies = remembered_agencies()
    if agencies is None:
        return None
    agency_id = agencies.get(name)
    return Host(agency_id) if agency_id is not None or is_installations(name) else None


def is_installations(name: str) -> bool:
    """Return whether the settings name this host, or a name that it is below."""
    return name in settings.HOSTS or any(one.startswith(".") and name.endswith(one) for one in settings.HOSTS)
