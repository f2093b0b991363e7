"""The base of the public booking pages: whose page it is, its look, limits, and headers."""

from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Final, TypedDict, Unpack
from uuid import UUID
from zoneinfo import ZoneInfo

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone, translation
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views import View

from agency.actors import Actor
from agency.pages.branding import host_serves, prefer_language_of, theme_of_agency
from agency.request_actor import request_actor
from agency.services import brand_of
from config.api.requests import client_address, rate_limit_bucket
from config.api.text_fields import known_zones
from config.api.throttling import RateLimit, count_request
from config.db import database_now
from workspaces.appointments.models import BookingPage
from workspaces.appointments.services.visitors import open_page
from workspaces.finance.public import POLICY, provider_source
from workspaces.subaccounts.models import Workspace

# Pages that a network address may open in a minute, and forms that it may send.
MOST_PAGES: Final = 120
MOST_FORMS: Final = 20
# The page that only says something.
MESSAGE: Final = "appointments/public/message.html"
UNKNOWN: Final = gettext_lazy("It may be incomplete, or nothing can be booked here any more. Please ask the business.")
TOO_MANY: Final = gettext_lazy("Your network has opened these pages very often. Wait a minute, then try again.")
LONGEST_INSTANT: Final = 32
HEADERS: Final = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex, nofollow"}


class PageIds(TypedDict, total=False):
    """What the address of a public page names."""

    slug: str
    token: str
    service: UUID | None
    session: UUID | None
    booking: UUID | None


class BookingView(View):
    """A public page of one workspace. Viewing it changes nothing. It is not cached, indexed or sent as a referrer."""

    http_method_names = ["get", "head", "post"]
    workspace: Workspace

    def dispatch(self, request: HttpRequest, *args: object, **kwargs: Unpack[PageIds]) -> HttpResponseBase:
        try:
            response = self._refuse_too_many(request) or self._find_and_answer(request, *args, **kwargs)
        except Http404:
            response = render(
                request, MESSAGE, {"heading": _("This link does not work"), "message": UNKNOWN}, status=404
            )
        for name, value in HEADERS.items():
            response.headers[name] = value
        response.headers["Content-Security-Policy"] = POLICY.format(provider=provider_source())
        return response

    def _find_and_answer(self, request: HttpRequest, *args: object, **kwargs: Unpack[PageIds]) -> HttpResponseBase:
        self.find(**kwargs)
        self.require_served()
        prefer_language_of(request, self.workspace.agency)
        return super().dispatch(request, *args, **kwargs)

    def _refuse_too_many(self, request: HttpRequest) -> HttpResponse | None:
        bucket = rate_limit_bucket(client_address(request))
        limits = [RateLimit(f"booking-pages:{bucket}", MOST_PAGES)]
        if request.method == "POST":
            limits.append(RateLimit(f"booking-forms:{bucket}", MOST_FORMS))
        for limit in limits:
            rate = count_request(limit)
            if rate and rate.retry_after:
                context = {"heading": _("Too many requests"), "message": TOO_MANY}
                response = render(request, MESSAGE, context, status=429)
                response.headers["Retry-After"] = str(rate.retry_after)
                return response
        return None

    def find(self, **ids: Unpack[PageIds]) -> None:
        """Find what the address names, and set `workspace`. Raises `Http404`."""
        raise NotImplementedError

    def require_served(self) -> None:
        """Refuse another agency's host, and a workspace or an agency that is suspended. Raises `Http404`."""
        agency = self.workspace.agency
        is_open = self.workspace.is_active and agency.is_active
        if not is_open or not host_serves(self.request, (agency.pk,)):
            raise Http404

    @cached_property
    def now(self) -> datetime:
        return database_now()

    @property
    def by(self) -> Actor:
        return request_actor(self.request, kind="customer", id="", label="customer", of_workspace=True)

    @cached_property
    def zone(self) -> str:
        """The time zone that the visitor has chosen, else the business's."""
        chosen = self.request.GET.get("zone", "")
        return chosen if chosen in known_zones() else self.workspace.timezone

    @property
    def language(self) -> str:
        return translation.get_language() or ""

    def local(self, moment: datetime) -> datetime:
        return moment.astimezone(ZoneInfo(self.zone))

    def page(self, template: str, *, status: int = 200, **context: object) -> HttpResponse:
        """Render a page in the agency's look, with times by the chosen clock."""
        agency = self.workspace.agency
        frame = {"workspace": self.workspace, "zone": self.zone, "look": theme_of_agency(agency, brand_of(agency))}
        with timezone.override(ZoneInfo(self.zone)):
            return render(self.request, template, {**frame, **context}, status=status)


class WorkspacePage(BookingView):
    """A page below a workspace's booking page. A page that is off and an unknown address get the same answer."""

    booking_page: BookingPage

    def find(self, **ids: Unpack[PageIds]) -> None:
        found = open_page(ids["slug"])
        if found is None:
            raise Http404
        self.booking_page, self.workspace = found, found.workspace

    def page(self, template: str, *, status: int = 200, **context: object) -> HttpResponse:
        return super().page(template, status=status, booking_page=self.booking_page, **context)


def instant_in(text: str) -> datetime | None:
    """Read the instant that an address names, such as `2026-12-03T13:00:00Z`; None for anything else."""
    if not text or len(text) > LONGEST_INSTANT or not text.isascii():
        return None
    try:
        found = datetime.fromisoformat(text)
        return found.astimezone(UTC) if found.tzinfo else None
    except (ValueError, OverflowError):
        return None


def instant_as_text(moment: datetime) -> str:
    """Write an instant as it stands in addresses."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def date_in(text: str) -> date | None:
    """Read the date that an address names, such as `2026-12-03`; None for anything else."""
    if len(text) != len("2026-12-03"):
        return None
    try:
        found = date.fromisoformat(text)
    except ValueError:
        return None
    return found if date.min + timedelta(days=400) < found < date.max - timedelta(days=400) else None


def query(**values: object) -> str:
    """Write a query of the values that are there."""
    return urlencode({name: str(value) for name, value in values.items() if value})
