"""The console's home page, search, notifications, help, saved views, and the page that shows the design."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Final

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.db.models import BooleanField, ExpressionWrapper
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import resolve, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache

from agency.console.base import CHOSEN, ConsoleView, breadcrumb, memberships_of
from agency.models import ActivityEntry, Agency, Member
from agency.notification_kinds import ALL_ROLES, NotificationKind
from agency.pages import tables
from agency.pages.activity import group_entries
from agency.pages.branding import host_agency_id
from agency.pages.charts import PERIODS, Chart, Period, charts_of
from agency.pages.forms import MultilineField, NameField
from agency.pages.help import CONSOLE, GuideListPage, GuidePage, guides_of
from agency.pages.help import TITLE as TITLE_OF_HELP
from agency.pages.notifications import (
    TITLE,
    NotificationListPage,
    NotificationSettingsPage,
    NotificationsReadPage,
    UnreadPage,
)
from agency.pages.pagination import NumberedPages, read_size
from agency.pages.registry import (
    Alert,
    Figure,
    FirstStep,
    alert_sources,
    console_menu,
    figure_sources,
    first_steps,
    in_order,
    in_sections,
)
from agency.pages.search import (
    MOST_SHOWN,
    MOST_SUGGESTED,
    SearchGroup,
    SearchResult,
    console_actions,
    find,
    group_of,
    matches_query,
    read_query,
)
from agency.pages.tables import Column, Filter, ListPage, Table
from agency.services.members import remember_landing

LATEST = 6
# Entries that belong together share a line, so the page reads more entries than it shows lines.
LOOKED_AT = 60


class Home(ConsoleView):
    """What needs attention, figures and charts, the first steps, and the latest changes."""

    nav = "console:home"

    def get(self, request: HttpRequest) -> HttpResponse:
        latest = ActivityEntry.objects.filter(agency=self.agency).order_by("-id")[:LOOKED_AT]
        period = Period.named(request.GET.get("period", ""), timezone.now())
        steps = steps_of(self.agency)
        charts, has_counts = counted_charts(self.agency, period)
        return self.page(
            "agency/home.html",
            concerns=concerns_of(self.agency),
            # Before the first sub-account all that matters are the first steps.
            figures=figures_of(self.agency) if self.agency.sub_account_count else [],
            steps=steps,
            steps_done=sum(done for _, done in steps),
            feed=group_entries(latest)[:LATEST],
            charts=charts,
            has_counts=has_counts,
            period=period,
            periods=PERIODS,
        )


@never_cache
def switch_agency(request: HttpRequest) -> HttpResponse:
    """Switch to another of the person's agencies, which the session remembers; a GET only redirects home."""
    if not request.user.is_authenticated:
        return redirect_to_login(reverse("console:home"))
    if request.method != "POST":
        return redirect("console:home")
    choice = request.POST.get("agency", "")
    memberships = memberships_of(request.user, host_agency_id(request))
    chosen = next((one for one in memberships if str(one.agency.uuid) == choice), None)
    if chosen is None:
        messages.error(request, _("You are not in this agency's team."))
    else:
        request.session[CHOSEN] = choice
        remember_landing(user=request.user, landing="console", agency_uuid=chosen.agency.uuid)
    return redirect("console:home")


def concerns_of(agency: Agency) -> list[Alert]:
    sources = sorted(alert_sources, key=lambda source: source.order)
    return [concern for source in sources for concern in source.concerns(agency)]


def figures_of(agency: Agency) -> list[Figure]:
    sources = sorted(figure_sources, key=lambda source: source.order)
    return [figure for source in sources for figure in source.figures(agency)]


def counted_charts(agency: Agency, period: Period) -> tuple[list[Chart], bool]:
    """Return the charts with counts in the period, and whether there are any counts, also in the longest period."""
    charts = [chart for chart in charts_of(agency, period) if not chart.is_empty]
    if charts or period.kind == PERIODS[-1]:
        return charts, bool(charts)
    longest = charts_of(agency, Period.named(PERIODS[-1].name, timezone.now()))
    return [], any(not chart.is_empty for chart in longest)


def steps_of(agency: Agency) -> list[tuple[FirstStep, bool]]:
    """Return the first steps, each with whether it is done; an empty list once all are done.

    Steps may answer with an expression; one query evaluates all of these.
    """
    declared = in_order(first_steps)
    answers = [step.is_done(agency) for step in declared]
    asked = [ExpressionWrapper(one, BooleanField()) for one in answers if not isinstance(one, bool)]
    told = iter(Agency.objects.values_list(*asked).get(pk=agency.pk) if asked else ())
    steps = [(step, one if isinstance(one, bool) else next(told)) for step, one in zip(declared, answers, strict=True)]
    return [] if all(done for _, done in steps) else steps


def role_may_open(url_name: str, role: str, args: tuple[object, ...] = ()) -> bool:
    """Return whether people with this role may open a page; `args` are the arguments of its address."""
    return role in _roles_that_open(url_name) if not args else role in _roles_of(reverse(url_name, args=args))


@lru_cache(maxsize=256)
def _roles_that_open(url_name: str) -> frozenset[str]:
    return _roles_of(reverse(url_name))


def _roles_of(address: str) -> frozenset[str]:
    view = getattr(resolve(address).func, "view_class", None)
    if not (isinstance(view, type) and issubclass(view, ConsoleView)):
        return frozenset()
    return view.writers if view.writers_only else frozenset(Member.Role.values)


class FindPage(ConsoleView):
    """All results on a page; its form needs no script."""

    nav = "console:find"
    most = MOST_SHOWN

    def get(self, request: HttpRequest) -> HttpResponse:
        query, groups = self.found()
        return self.page("agency/find/page.html", query=query, groups=groups)

    def found(self) -> tuple[str, list[SearchGroup]]:
        """Return the query and the results: the agency's objects, then actions, pages and guides."""
        query = read_query(self.request.GET.get("q", ""))
        groups = find(self.agency, query, most=self.most)
        own = [
            group_of(_("Actions"), chain(self._with_found(groups), self._actions(query)), most=MOST_SHOWN),
            group_of(_("Pages"), self._pages(query), most=MOST_SHOWN),
            group_of(TITLE_OF_HELP, self._guides(query), most=MOST_SHOWN),
        ]
        return query, [*groups, *(one for one in own if one.items)]

    def _with_found(self, groups: Sequence[SearchGroup]) -> Iterator[SearchResult]:
        """Yield the actions on an object that is the only result of its kind, as far as the person may do them."""
        role = self.membership.member.role
        for item in (group.items[0] for group in groups if len(group.items) == 1):
            for action in item.actions:
                if role_may_open(action.url_name, role, action.args):
                    yield SearchResult(
                        title=action.label, detail=item.title, url=reverse(action.url_name, args=action.args)
                    )

    def _actions(self, query: str) -> Iterator[SearchResult]:
        for action in in_order(console_actions):
            if self._may_open(action.url_name) and matches_query(str(action.label), query):
                yield SearchResult(title=action.label, url=reverse(action.url_name))

    def _pages(self, query: str) -> Iterator[SearchResult]:
        for section in in_sections(console_menu):
            for entry in section.entries:
                if self._may_open(entry.url_name) and matches_query(f"{entry.label} {section.label}", query):
                    yield SearchResult(title=entry.label, detail=section.label, url=reverse(entry.url_name))

    def _guides(self, query: str) -> Iterator[SearchResult]:
        if query and matches_query(str(TITLE_OF_HELP), query):
            yield SearchResult(title=TITLE_OF_HELP, url=reverse("console:help"))
        for guide in guides_of(CONSOLE) if query else ():
            if matches_query(str(guide.title), query):
                yield SearchResult(title=guide.title, detail=guide.summary, url=guide.url)

    def _may_open(self, url_name: str) -> bool:
        return role_may_open(url_name, self.membership.member.role)


class FindSuggestions(FindPage):
    """The first results of each kind as options of a list, for the palette that searches as a person types."""

    most = MOST_SUGGESTED

    def get(self, request: HttpRequest) -> HttpResponse:
        query, groups = self.found()
        shown = {"query": query, "groups": groups, "number": sum(len(one.items) for one in groups)}
        return render(request, "agency/find/_options.html", shown)


LIST = "console:notifications"


class ConsoleNotificationPage(ConsoleView):
    """A page about a person's own notifications."""

    nav = LIST

    @property
    def notification_kinds(self) -> list[NotificationKind]:
        return self.area_notification_kinds

    @property
    def notification_role(self) -> str:
        return self.membership.member.role


class Notifications(ConsoleNotificationPage, NotificationListPage):
    """The list."""


class Unread(ConsoleNotificationPage, UnreadPage):
    """The number of unread notifications."""


class NotificationsRead(ConsoleNotificationPage, NotificationsReadPage):
    form_page = LIST
    writers = ALL_ROLES


class NotificationSettings(ConsoleNotificationPage, NotificationSettingsPage):
    writers = ALL_ROLES

    def context(self) -> dict[str, object]:
        return {**super().context(), "crumbs": [breadcrumb(TITLE, LIST)]}


class ConsoleHelpPage(ConsoleView):
    """A page of the help for agency staff."""

    nav = "console:help"
    help_area = CONSOLE

    @property
    def helping_agency(self) -> str:
        return self.agency.name


class Help(ConsoleHelpPage, GuideListPage):
    """The list of guides."""


class HelpGuide(ConsoleHelpPage, GuidePage):
    """One guide."""


class SavedViewNew(tables.SavedViewNew, ConsoleView):
    writers = ALL_ROLES
    form_page = "console:home"


class SavedViewRemove(tables.SavedViewRemove, ConsoleView):
    writers = ALL_ROLES
    form_page = "console:home"


STYLES: Final = settings.BASE_DIR / "templates/static/console"
TOKEN: Final = re.compile(r"^  --([\w-]+): (.+);$", re.MULTILINE)
COLOUR: Final = re.compile(r"#|light-dark\(#|var\(")
SYMBOL: Final = re.compile(r'<symbol id="([\w-]+)"')
THEMES: Final = ("in-light", "in-dark")
CHOICES: Final = (("one", gettext_lazy("The first")), ("other", gettext_lazy("The other")))


class SampleForm(forms.Form):
    """A sample of each kind of field."""

    name = NameField(help_text=gettext_lazy("What a field is for stands above it."))
    text = MultilineField(label=gettext_lazy("Text"), required=False, widget=forms.Textarea(attrs={"rows": 2}))
    plan = forms.ChoiceField(label=gettext_lazy("Plan"), choices=CHOICES)
    way = forms.ChoiceField(label=gettext_lazy("Way"), choices=CHOICES, widget=forms.RadioSelect)
    agreed = forms.BooleanField(label=gettext_lazy("Agreed"), help_text=gettext_lazy("A single yes or no."))


def tokens() -> dict[str, dict[str, str]]:
    """Return the design's tokens by kind, each with the first value that the stylesheet declares."""
    css = (Path(STYLES) / "tokens.css").read_text()
    found: dict[str, str] = {}
    for name, value in TOKEN.findall(css):
        found.setdefault(name, value)
    kinds = {"space": "space-", "radius": "round", "text": "text-"}
    others = {
        kind: {name: value for name, value in found.items() if name.startswith(beginning)}
        for kind, beginning in kinds.items()
    }
    colours = {name: value for name, value in found.items() if COLOUR.match(value)}
    return {"colours": colours, **others}


class DesignPage(ListPage, ConsoleView):
    """Shows the tokens and components that exist, so that new pages are made from them."""

    nav = "console:design"
    table = Table(
        caption=gettext_lazy("Sample"),
        columns=(
            Column(name="name", label=gettext_lazy("Name"), order=("name", "id")),
            Column(name="state", label=gettext_lazy("State")),
            Column(name="number", label=gettext_lazy("Number"), order=("number", "id"), is_number=True),
            Column(name="created", label=gettext_lazy("Created"), order=("created", "id"), descends_first=True),
        ),
        filters=(
            Filter(name="search", label=gettext_lazy("Search"), placeholder=gettext_lazy("Name")),
            Filter(name="state", label=gettext_lazy("State"), is_choice=True, choices=CHOICES),
        ),
        sort="-created",
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        if settings.PRODUCTION:
            raise Http404
        names = [("Corner Salon", "good", 1_204), ("Belle & Co.", "bad", 7), ("Nord Café", "", 58_000)]
        rows = [{"name": name, "state": state, "number": number, "at": timezone.now()} for name, state, number in names]
        state = self.read_table().show(rows, NumberedPages(1, 10_000, read_size(request), is_capped=True))
        return self.list_page("agency/design/page.html", state, **self.parts())

    def parts(self) -> dict[str, object]:
        wrong = SampleForm({"name": "", "plan": "one"}, auto_id="wrong_%s")
        return {
            "tokens": tokens(),
            "themes": THEMES,
            "form": SampleForm(initial={"way": "one"}),
            "wrong": wrong,
            "icons_there_are": SYMBOL.findall((Path(STYLES) / "icons.svg").read_text()),
            "shares": [("good", 0, 620), ("series-1", 620, 260), ("danger", 880, 120)],
        }
