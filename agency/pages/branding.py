"""The host, the theme, the language and the time zone of a page: the person's choice, the agency's, or our own."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone, translation
from django.utils.cache import patch_vary_headers
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext

from agency.models import Agency, Brand, User
from agency.models.branding import AGENCY_PICTURE_BYTE_FIELDS, Picture
from agency.services.hosts import agency_of_host, cached_agencies_by_host, language_of_host, url_of_host
from config.api.text_fields import known_zones
from config.serving.middleware import NOT_LOGGED, Next, is_api

if TYPE_CHECKING:

    class PageRequest(HttpRequest):
        """A request with what our middleware and views note on it."""

        host_agency_id: int | None
        host_url: str
        made_for: UUID
        _locale_of: User
        _view_has_failed: bool


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


def is_host_resolved(request: HttpRequest) -> bool:
    """Return whether it is known whose host this is: while the database is away, a new process cannot find out."""
    return hasattr(request, "host_agency_id")


def host_serves(request: HttpRequest, agency_ids: Collection[int]) -> bool:
    """Return whether this host serves anything of these agencies: one of them has it, or it is the installation's."""
    agency_id = host_agency_id(request)
    return agency_id is None or agency_id in agency_ids


def agency_host_name(request: HttpRequest) -> str:
    """Return the name of the agency's host that was requested; empty on the installation's own."""
    return "" if host_agency_id(request) is None else host_name(request.get_host())


def host_agency(request: HttpRequest) -> Agency | None:
    """Return the agency whose host this is, with its brand; looked up once per request."""
    agency_id = host_agency_id(request)
    if agency_id is None:
        return None
    kept: Agency | None = getattr(request, "_host_agency", None)
    if kept is None:
        kept = Agency.objects.select_related("brand").defer(*AGENCY_PICTURE_BYTE_FIELDS).get(pk=agency_id)
        request._host_agency = kept  # type: ignore[attr-defined]  # ours alone
    return kept


class HostMiddleware:
    """Sets `request.host_agency_id`, and answers 404 for every unknown host, so that links have no foreign name.

    A host that the settings name is the installation's, whatever agencies have; `.name` there stands for every host
    below `name` that no agency has. An agency's host has no admin. Its HSTS header does not include the hosts below it,
    which are not ours.
    """

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: "PageRequest") -> HttpResponseBase:
        name = host_name(request.META.get("HTTP_HOST", request.META.get("SERVER_NAME", "")))
        agency_id = None if name in settings.HOSTS else agency_of_host(name)
        request.host_agency_id = agency_id  # see `host_agency_id`
        if agency_id is not None:
            request.host_url = url_of_host(name)  # what `origin` gives
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


class ResolvedHost(NamedTuple):
    """A host that we serve; without `agency_id` it is the installation's own."""

    agency_id: int | None


def cached_host(header: str) -> ResolvedHost | None:
    """Return the host that a `Host` header names, if this process knows it without a query."""
    name = host_name(header)
    if name in settings.HOSTS:
        return ResolvedHost(None)
    agencies = cached_agencies_by_host()
    if agencies is None:
        return None
    agency_id = agencies.get(name)
    return ResolvedHost(agency_id) if agency_id is not None or is_installations(name) else None


def is_installations(name: str) -> bool:
    """Return whether the settings name this host, or a name that it is below."""
    return name in settings.HOSTS or any(one.startswith(".") and name.endswith(one) for one in settings.HOSTS)


# Themes that this process has shown, so that an error page needs no database.
MOST_REMEMBERED: Final = 1_000


@dataclass(frozen=True, slots=True)
class Theme:
    """A page's theme. Without a `name` it is the product's own (`is_product`), or a neutral one."""

    name: str = ""
    colour: str = ""
    logo: Picture | None = None
    dark_logo: Picture | None = None
    favicon: str = ""
    is_product: bool = False


PRODUCT: Final = Theme(is_product=True)
NEUTRAL: Final = Theme()
_remembered: dict[int, Theme] = {}


def theme_of_host(request: HttpRequest) -> Theme:
    """Return the theme of the requested host."""
    agency = host_agency(request)
    return theme_of_agency(agency) if agency else PRODUCT


def theme_of_agency(agency: Agency, brand: Brand | None = None) -> Theme:
    """Return an agency's theme, with its own brand unless another is given."""
    shown = brand or getattr(agency, "brand", None) or Brand(agency=agency)
    look = Theme(
        name=agency.name,
        colour=shown.colour,
        logo=shown.picture("logo"),
        dark_logo=shown.picture("dark_logo"),
        favicon=shown.favicon_digest,
    )
    _remember(agency.pk, look)
    return look


def cached_theme(request: HttpRequest) -> Theme:
    """Return the host's theme without a query: neutral if this process has not shown it yet.

    It is also neutral while it is unknown whose host this is.
    """
    if not is_host_resolved(request):
        return NEUTRAL
    host = host_agency_id(request)
    return PRODUCT if host is None else _remembered.get(host, NEUTRAL)


def theme_context(request: HttpRequest) -> Mapping[str, object]:
    """Give every template `look`, which makes no query unless the template uses it."""
    return {"look": SimpleLazyObject(lambda: theme_of_host(request))}


def _remember(agency_id: int, look: Theme) -> None:
    if len(_remembered) >= MOST_REMEMBERED:
        _remembered.clear()
    _remembered[agency_id] = look


COOKIE_SECONDS: Final = 365 * 24 * 3600
# Support's own pages are in English, and nobody reads the others.
WITHOUT_LANGUAGE: Final = ("/admin", "/internal", "/healthz", "/readyz")


class PageLocaleMiddleware:
    """Shows each page in its reader's language and time zone, without a query.

    Cookies hold a person's choices; they are set when the person chooses and when they sign in. A page that finds out
    later whose it is calls `prefer_language_of`.
    """

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if is_api(request):
            return self.get_response(request)
        with translation.override(_language_of(request)), timezone.override(_time_zone_of(request)):
            response = self.get_response(request)
            if response.headers.get("Content-Type", "").startswith("text/html"):
                response.headers.setdefault("Content-Language", translation.get_language())
                patch_vary_headers(response, ("Accept-Language",))
        person: User | None = getattr(request, "_locale_of", None)
        if person is not None:
            _set_cookie(response, settings.LANGUAGE_COOKIE_NAME, person.language)
            _set_cookie(response, settings.TIME_ZONE_COOKIE_NAME, person.time_zone)
        return response


def remember_locale(request: "PageRequest", user: User) -> None:
    """Have the response set the cookies with this person's choices."""
    request._locale_of = user


def prefer_language_of(request: HttpRequest, agency: Agency) -> None:
    """Switch to this agency's language, unless it has none or the person chose one."""
    if agency.language and not chosen_language(request):
        translation.activate(agency.language)


def in_page_language(sentence: str) -> str:
    """Translate a refusal's sentence, which services write in English, into the page's language."""
    return gettext(sentence) if sentence else ""


def chosen_language(request: HttpRequest) -> str:
    """Return the language that the person chose; empty if they chose none."""
    name = request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, "")
    return name if name in dict(settings.LANGUAGES) else ""


@receiver(user_logged_in)
def _signed_in(sender: object, request: "PageRequest", user: User, **_: object) -> None:
    remember_locale(request, user)


def _language_of(request: HttpRequest) -> str:
    if request.path_info.startswith(WITHOUT_LANGUAGE):
        return settings.LANGUAGE_CODE
    return chosen_language(request) or _hosts_language(request) or translation.get_language_from_request(request)


def _hosts_language(request: HttpRequest) -> str:
    return language_of_host(host_agency_id(request))


def _time_zone_of(request: HttpRequest) -> ZoneInfo:
    """Return the reader's time zone; UTC for support, who compares times with logs."""
    if request.path_info.startswith(WITHOUT_LANGUAGE):
        return ZoneInfo("UTC")
    for cookie in (settings.TIME_ZONE_COOKIE_NAME, settings.BROWSER_TIME_ZONE_COOKIE_NAME):
        name = request.COOKIES.get(cookie, "")
        if name in known_zones():
            return ZoneInfo(name)
    return ZoneInfo("UTC")


def _set_cookie(response: HttpResponseBase, name: str, value: str) -> None:
    secure = settings.SESSION_COOKIE_SECURE
    if value:
        response.set_cookie(name, value, max_age=COOKIE_SECONDS, secure=secure, httponly=True, samesite="Lax")
    else:
        response.set_cookie(name, "", max_age=0, secure=secure, httponly=True, samesite="Lax")
