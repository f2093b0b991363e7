"""What apps add to the pages: each declares it in its `hooks.py`, so that no lower app knows a higher one."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, Self, TypeVar

from django.db.models import Exists, Q, TextChoices
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import mark_safe
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from agency.models import Agency, User
from config.hooks import Registry

# `gettext_lazy` returns promises, which are translated when a page is rendered.
StrOrPromise = str | Promise


class Section(TextChoices):
    """The sections of the menus of console and dashboard, from top to bottom."""

    MAIN = "main", _("")
    SALES = "sales", _("Sales")
    AUTOMATION = "automation", _("Automation")
    CATALOGUE = "catalogue", _("Catalogue")
    CONFIGURATION = "configuration", _("Configuration")
    SETTINGS = "settings", _("Settings")
    AGENCY = "agency", _("Agency")


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuEntry:
    """One entry of a menu: `url_name` takes no arguments, `icon` is a symbol of `console/icons.svg`.

    `limit` names the limit of a plan that the page needs: the entry is left out where the plan allows none. Beside an
    entry that `is_counted` stands how many things wait on its page.
    """

    url_name: str
    label: StrOrPromise
    icon: str
    order: int
    section: Section = Section.MAIN
    limit: str = ""
    is_counted: bool = False

    @property
    def name(self) -> str:
        return self.url_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number of an agency; `query` (`?status=…`) filters the page that it links to."""

    label: StrOrPromise
    value: int
    url_name: str
    query: str = ""
    note: StrOrPromise = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureSource:
    """Figures of one app on the console's home page."""

    name: str
    order: int
    figures: Callable[[Agency], Iterable[Figure]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstStep:
    """One of the first things to do in a console; `is_done` says whether it is done.

    If that needs the database, `is_done` returns a condition; one statement evaluates the conditions of all steps.
    """

    title: StrOrPromise
    text: StrOrPromise
    url_name: str
    action: StrOrPromise
    is_done: Callable[[Agency], bool | Q | Exists]
    order: int
    for_owners: bool = False

    @property
    def name(self) -> str:
        return self.url_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """Something that needs attention: a sentence, and the address of the page where it is solved."""

    text: StrOrPromise
    url: str
    action: StrOrPromise


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertSource:
    """The concerns that one app finds at an agency, in a bounded number of statements."""

    name: str
    order: int
    concerns: Callable[[Agency], Iterable[Alert]]


@dataclass(frozen=True, slots=True)
class ActivityAction:
    """An action of the activity log (`workspace.suspended`) and its label; the log can be filtered by it.

    The filter shows the actions of a `subject` together.
    """

    name: str
    label: StrOrPromise
    subject: StrOrPromise = ""

    @classmethod
    def from_labels(
        cls, labels: Mapping[str, StrOrPromise], subject: StrOrPromise | Mapping[str, StrOrPromise] = ""
    ) -> Iterator[Self]:
        """Yield an action for each name with its label; several subjects stand by the names' first parts."""
        for name, label in labels.items():
            known = subject.get(name.partition(".")[0], "") if isinstance(subject, Mapping) else subject
            yield cls(name, label, known)


@dataclass(frozen=True, slots=True)
class ActivityDetail:
    """How the log shows a detail of its entries; one without a label is not shown, such as an id beside a name.

    A name counts for all actions; after the first part of actions (`broadcast.reason`), for these alone. `choices`
    label the values. Values that `are_messages` are shown in the reader's language.
    """

    name: str
    label: StrOrPromise = ""
    choices: Iterable[tuple[str, StrOrPromise]] = ()
    are_messages: bool = False

    @classmethod
    def from_labels(cls, labels: Mapping[str, StrOrPromise]) -> Iterator[Self]:
        """Yield a detail for each name with its label."""
        return (cls(name, label) for name, label in labels.items())


@dataclass(frozen=True, slots=True)
class ActivityTarget:
    """A kind of object that activity entries are about; `url_name` is its page, whose address takes the public id."""

    name: str
    url_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """A membership of a person: posting `value` as `field` to `open_url` switches to it.

    `leave_url` is the page on which the person leaves it.
    """

    label: str
    note: StrOrPromise
    open_url: str
    field: str
    value: str
    leave_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LandingPage:
    """A part of the product in which people can arrive after signing in, if it is open to them.

    Both functions take a person and the id of the agency whose host it is: None on the installation's host, which shows
    everything.
    """

    name: str
    url_name: str
    order: int
    is_open: Callable[[User, int | None], bool]
    belongings: Callable[[User, int | None], Iterable[Membership]] = lambda *_: ()


console_menu = Registry[MenuEntry](
    "entries of the console's menu",
    called=(
        "`render_menu` reads them once in a process for each page of the menu and language; the console's search "
        "reads them too"
    ),
    transaction="none",
    failure="cannot happen: the items are data",
)
dashboard_menu = Registry[MenuEntry](
    "entries of the dashboard's menu",
    called=(
        "`render_menu` reads them once in a process for each page of the menu and language; a new workspace "
        "opens the first page"
    ),
    transaction="none",
    failure="cannot happen: the items are data",
)
alert_sources = Registry[AlertSource](
    "sources of concerns",
    called=(
        "`concerns_of` calls each for the console's home page, and `health` for support's overview of an agency, "
        "by their `order`"
    ),
    transaction="none",
    failure="the page answers 500",
)
figure_sources = Registry[FigureSource](
    "sources of figures",
    called="`figures_of` calls each for the console's home page, by their `order`",
    transaction="none",
    failure="the page answers 500",
)
first_steps = Registry[FirstStep](
    "first steps",
    called="`steps_of` calls `is_done` of each for the console's home page; one query evaluates all expressions",
    transaction="none",
    failure="the page answers 500",
)
landing_pages = Registry[LandingPage](
    "landing places",
    called=(
        "`landing_page_of` and `pin_landing_page` call `is_open` of each, by their `order`; the page of invitations "
        "calls `belongings`"
    ),
    transaction="none",
    failure="the page answers 500",
)
activity_actions = Registry[ActivityAction](
    "actions of the activity log",
    called="the pages and filters of the activity log read the labels (`action_label`)",
    transaction="none",
    failure="cannot happen: the items are data",
)
activity_details = Registry[ActivityDetail](
    "details of the activity log",
    called="`details_of` reads labels and choices, when the activity log is shown",
    transaction="none",
    failure="cannot happen: the items are data",
)
activity_targets = Registry[ActivityTarget](
    "targets of the activity log",
    called="`target_url` reads the page of an entry's object, when the activity log is shown",
    transaction="none",
    failure="cannot happen: the items are data",
)


@dataclass(frozen=True, slots=True)
class MenuSection:
    label: StrOrPromise
    entries: list[MenuEntry]


class Ordered(Protocol):
    @property
    def order(self) -> int: ...


Entry = TypeVar("Entry", bound=Ordered)


def in_order(entries: Iterable[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda entry: entry.order)


def in_sections(entries: Iterable[MenuEntry]) -> list[MenuSection]:
    """Return the sections that have entries, in order."""
    ordered = in_order(entries)
    sections = [MenuSection(part.label, [entry for entry in ordered if entry.section == part]) for part in Section]
    return [section for section in sections if section.entries]


def render_menu(template: str, entries: Registry[MenuEntry], nav: str, *, lacking: frozenset[str] = frozenset()) -> str:
    """Render a menu with the entry `nav` as the current one, without those whose `limit` is `lacking`."""
    return render_menu_once(template, entries, nav, get_language(), lacking)


@lru_cache(maxsize=1024)
def render_menu_once(
    template: str, entries: Registry[MenuEntry], nav: str, language: str | None, lacking: frozenset[str]
) -> str:
    """Render a menu once for each language and process, as all its entries are there once the apps are loaded."""
    shown = [entry for entry in entries if entry.url_name == nav or entry.limit not in lacking]
    return render_to_string(template, {"menu": in_sections(shown), "nav": nav})


def fill_counts(menu: str, counts: Mapping[str, int]) -> str:
    """Put the number of each entry, by its `url_name`, into a rendered menu, where a comment with that name stands."""
    for url_name, number in counts.items():
        shown = render_to_string("pages/dashboard/_menu_count.html", {"number": number})
        menu = menu.replace(f"<!-- {url_name} -->", shown)
    return mark_safe(menu)  # noqa: S308  # both parts are rendered templates
