"""The language and time zone of a page: the person's choice, else the agency's, else the browser's."""

from typing import Any, Final
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone, translation
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext

from agency.models import Agency, User
from agency.pages.branding.host import host_agency_id
from agency.services.domains.hosts import language_of_host
from config.api.text_fields import known_zones
from config.serving.middleware import Next, is_api

COOKIE_SECONDS: Final = 365 * 24 * 3600
# Support's own pages are in English, and nobody reads the others.
WITHOUT_LANGUAGE: Final = ("/admin", "/internal", "/healthz", "/readyz")


class PageLocale:
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


def remember_locale(request: HttpRequest, user: User) -> None:
    """Have the response set the cookies with this person's choices."""
    request._locale_of = user  # type: ignore[attr-defined]  # ours alone


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
def _signed_in(sender: Any, request: HttpRequest, user: User, **_: Any) -> None:
    remember_locale(request, user)


def _language_of(request: HttpRequest) -> str:
    if request.path_info.startswith(WITHOUT_LANGUAGE):
        return settings.LANGUAGE_CODE
    return chosen_language(request) or _hosts_language(request) or translation.get_language_from_request(request)


def _hosts_language(request: HttpRequest) -> str:
    return language_of_host(host_agency_id(request))


def _time_zone_of(request: HttpRequest) -> ZoneInfo:
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
