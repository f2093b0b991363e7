"""Help: short guides for the readers of one area, each to the pages that it names; apps declare them in their hooks."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from django.conf import settings
from django.contrib.staticfiles import finders
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _
from PIL import Image

from agency.pages.registry import MenuEntry, StrOrPromise, console_menu, dashboard_menu, in_order
from agency.pages.views import SignedInView
from config.hooks import Registry

CONSOLE: Final = "console"
DASHBOARD: Final = "app"
SUPPORT: Final = "admin"
TITLE: Final = _("Help")


@dataclass(frozen=True, slots=True, kw_only=True)
class Guide:
    """One guide. `area` is the namespace of its readers' pages, and `order` its place among the area's guides.

    `picture` says what its picture shows, to people who do not see it.
    `pages` are the names of routes in the area, without the namespace; the pages below a menu entry follow the entry.
    `related` are slugs of the same area.
    """

    area: str
    slug: str
    title: StrOrPromise
    summary: StrOrPromise
    picture: StrOrPromise
    order: int
    pages: tuple[str, ...] = ()
    related: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.area}/{self.slug}"

    @property
    def template(self) -> str:
        return f"help/{self.area}/{self.slug.replace('-', '_')}.html"

    def picture_file(self, language: str) -> str:
        """Name the static file of its picture; support's guides are in English alone."""
        return f"help/{'en' if self.area == SUPPORT else language}/{self.name}.webp"

    @property
    def url(self) -> str:
        return reverse(GUIDE_PAGES[self.area], args=[self.slug])


class Picture(NamedTuple):
    """A picture of a guide: its static file, and the size at which it is shown."""

    file: str
    width: int
    height: int


# A picture has so many dots for each pixel of a page, which keeps its words sharp.
PICTURE_DOTS: Final = 2

LIST_PAGES: Final = {CONSOLE: "console:help", DASHBOARD: "app:help", SUPPORT: "admin:agency_agency_help"}
GUIDE_PAGES: Final = {
    CONSOLE: "console:help-guide",
    DASHBOARD: "app:help-guide",
    SUPPORT: "admin:agency_agency_help_guide",
}
MENUS: Final = {CONSOLE: console_menu, DASHBOARD: dashboard_menu}

guides = Registry[Guide](
    "guides of the help",
    called="the pages of the help, the links to them and the console's search read them, by their `order`",
    transaction="none",
    failure="cannot happen: the items are data",
)


def guides_of(area: str) -> list[Guide]:
    return in_order(guide for guide in guides if guide.area == area)


def guide_named(area: str, slug: str) -> Guide:
    """Return the guide. Raises `Http404` if there is none."""
    guide = guides.get(f"{area}/{slug}")
    if guide is None:
        raise Http404
    return guide


def help_url(area: str, request: HttpRequest, nav: str) -> str:
    """Return the address of the guide to a page, else to its menu entry, else of the list of guides."""
    match = request.resolver_match
    return _help_url(area, match.url_name or "" if match else "", nav.removeprefix(f"{area}:"))


@lru_cache(maxsize=1024)
def _help_url(area: str, page: str, nav: str) -> str:
    by_page = {name: guide for guide in guides if guide.area == area for name in guide.pages}
    guide = by_page.get(page) or by_page.get(nav)
    return guide.url if guide else reverse(LIST_PAGES[area])


def menu_entries_of(guide: Guide) -> Iterator[MenuEntry]:
    """Yield the menu's entries that the guide explains, in the guide's order."""
    for page in guide.pages:
        entry = MENUS[guide.area].get(f"{guide.area}:{page}")
        if entry:
            yield entry


def picture_of(guide: Guide) -> Picture | None:
    """Return the guide's picture in the reader's language. A new guide has none until one is taken."""
    return _read_picture(guide.picture_file(get_language() or settings.LANGUAGE_CODE))


@lru_cache(maxsize=1024)
def _read_picture(file: str) -> Picture | None:
    path = finders.find(file)
    if not path:
        return None
    with Image.open(path, formats=["WEBP"]) as opened:
        return Picture(file, opened.width // PICTURE_DOTS, opened.height // PICTURE_DOTS)


def related_guides(guide: Guide) -> list[Guide]:
    return [guide_named(guide.area, slug) for slug in guide.related]


class HelpPage(SignedInView):
    """A page of the help. Each area names itself, and the agency that answers its readers' questions."""

    help_area: str

    @property
    def helping_agency(self) -> str:
        """The name of the agency. Each area overrides this."""
        raise NotImplementedError


class GuideListPage(HelpPage):
    """All guides of the area."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.page("help/list.html", guides=guides_of(self.help_area), help_url="")


class GuidePage(HelpPage):
    """One guide with its picture, and with links to the pages that it explains and to related guides."""

    def get(self, request: HttpRequest, slug: str) -> HttpResponse:
        guide = guide_named(self.help_area, slug)
        return self.page(
            "help/guide.html",
            guide=guide,
            picture=picture_of(guide),
            agency_name=self.helping_agency,
            entries=list(menu_entries_of(guide)),
            related=related_guides(guide),
            crumbs=[(TITLE, reverse(LIST_PAGES[self.help_area]))],
            help_url="",
        )
