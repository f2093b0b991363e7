"""The dashboard's pages about series of classes."""

from collections.abc import Mapping
from uuid import UUID
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.dates import WEEKDAYS
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agency.pages.pagination import paginate, with_id
from agency.pages.tables import Column, ListPage, Table
from config.formats import format_time
from workspaces.catalogue.dashboard.forms import ConfirmView, Link, ObjectFormView
from workspaces.classes.dashboard.classes import CLASS_LIST
from workspaces.classes.dashboard.forms import SeriesEditForm, SeriesForm
from workspaces.classes.models import ClassSeries
from workspaces.classes.services import ClassSeriesNotFound, change_series, create_series, end_series
from workspaces.classes.services.series import SeriesOutcome, today_of
from workspaces.subaccounts.dashboard.base import DashboardView

SERIES_LIST, SERIES_PAGE = "app:class-series-list", "app:class-series"


def series_crumbs() -> list[Link]:
    return [(_("Classes"), reverse(CLASS_LIST)), (_("Series"), reverse(SERIES_LIST))]


def rule_of(series: ClassSeries) -> str:
    """Say in words when the classes of a series take place."""
    words = {
        ClassSeries.Unit.DAYS: ngettext("every day", "every %(number)s days", series.interval),
        ClassSeries.Unit.WEEKS: ngettext("every week", "every %(number)s weeks", series.interval),
        ClassSeries.Unit.MONTHS: ngettext("every month", "every %(number)s months", series.interval),
    }
    parts = [words[ClassSeries.Unit(series.unit)] % {"number": series.interval}]
    parts += [str(WEEKDAYS[number]) for number in series.weekdays]
    return ", ".join([*parts, format_time(series.start_time)])


class SeriesList(ListPage, DashboardView):
    """Lists series of classes, newest first."""

    nav = CLASS_LIST
    table = Table(
        caption=gettext_lazy("Series"),
        columns=(
            Column(name="series", label=gettext_lazy("Class")),
            Column(name="rule", label=gettext_lazy("Takes place")),
            Column(name="created", label=gettext_lazy("Created"), order=("created_at", "id")),
            Column(name="status", label=gettext_lazy("Status")),
        ),
        sort="-created",
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        state = self.read_table().fetch(ClassSeries.objects.of(self.workspace).with_names())
        for series in state.rows:
            series.rule = rule_of(series)
        return self.list_page("classes/series_list.html", state)


class SeriesNew(ObjectFormView[SeriesForm]):
    nav = CLASS_LIST
    creates = True

    def heading(self) -> str:
        return _("New series")

    def submit(self) -> str:
        return _("Create series")

    def crumbs(self) -> list[Link]:
        return series_crumbs()

    def make_form(self, data: Mapping[str, object] | None = None) -> SeriesForm:
        return SeriesForm(data, workspace=self.workspace)

    def save(self, form: SeriesForm) -> HttpResponse:
        values = {**form.cleaned_data, "timezone": self.workspace.timezone}
        series = create_series(workspace=self.workspace, now=timezone.now(), by=self.by, **values)
        text = _("The series was created. Its classes will appear in a moment.")
        return self.done(text, SERIES_PAGE, series.uuid)


class SeriesDetail(DashboardView):
    """A page about one series of the workspace. Malformed, unknown and foreign ids get the same answer."""

    nav = CLASS_LIST
    form_page = SERIES_PAGE
    series: ClassSeries

    def find(self, **ids: UUID | None) -> None:
        found = with_id(ClassSeries.objects.of(self.workspace).with_names(), ids["uuid"])
        if found is None:
            raise ClassSeriesNotFound
        found.workspace = self.workspace
        self.series = found

    def crumbs(self) -> list[Link]:
        return [*series_crumbs(), (self.series.service.name, reverse(SERIES_PAGE, args=[self.series.uuid]))]

    def told(self, outcome: SeriesOutcome) -> str:
        """Say what a change did to the classes that were made already."""
        text = _("Classes changed: %(changed)s, cancelled: %(cancelled)s, unchanged: %(kept)s.")
        return text % {"changed": outcome.changed, "cancelled": outcome.cancelled, "kept": outcome.kept}


class SeriesPage(SeriesDetail):
    """Shows a series' rule, its coming classes, and the dates that were left out."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        coming = self.series.sessions.filter(starts_at__gt=timezone.now()).with_names()
        rows, pages = paginate(request, coming.order_by("starts_at", "id"))
        return self.page(
            "classes/series.html",
            series=self.series,
            rule=rule_of(self.series),
            rows=rows,
            pages=pages,
            left_out=list(self.series.left_out.order_by("date")),
            zone=ZoneInfo(self.series.timezone),
            crumbs=series_crumbs(),
        )


class SeriesEdit(SeriesDetail, ObjectFormView[SeriesEditForm]):
    def heading(self) -> str:
        return _("Change the series %(name)s") % {"name": self.series.service.name}

    def submit(self) -> str:
        return _("Save")

    def context(self) -> dict[str, object]:
        text = _("Classes that somebody has joined or that you changed individually stay as they are.")
        return {**super().context(), "text": text}

    def make_form(self, data: Mapping[str, object] | None = None) -> SeriesEditForm:
        today = today_of(self.series, timezone.now())
        return SeriesEditForm(data, workspace=self.workspace, series=self.series, today=today)

    def save(self, form: SeriesEditForm) -> HttpResponse:
        values = dict(form.cleaned_data)
        first = values.pop("from")
        outcome = change_series(series=self.series, first=first, now=timezone.now(), by=self.by, **values)
        return self.done(self.told(outcome), SERIES_PAGE, self.series.uuid)


class SeriesEnd(SeriesDetail, ConfirmView):
    def heading(self) -> str:
        return _("End the series %(name)s?") % {"name": self.series.service.name}

    def submit(self) -> str:
        return _("End this series")

    def text(self) -> str:
        return _("No more classes are created. Upcoming classes that nobody has joined are cancelled. The others stay.")

    def save(self, form: object) -> HttpResponse:
        outcome = end_series(series=self.series, now=timezone.now(), by=self.by)
        return self.done(self.told(outcome), SERIES_PAGE, self.series.uuid)
