"""The page on which people choose a file and its days, and the files."""

from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from django import forms
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.forms import add_domain_error
from agency.pages.periods import YEARS
from config.db import database_now
from config.errors import DomainError
from workspaces.catalogue.dashboard.forms import Link
from workspaces.finance.services.datev import exported_postings
from workspaces.finance.services.exports import Days, exported_invoices, exported_payments, exported_taxes
from workspaces.finance.services.reports import add_months
from workspaces.subaccounts.dashboard.base import DashboardView
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import record_workspace_activity

Lines = Callable[[Workspace, Days, datetime], Iterator[bytes]]
CSV: Final = "text/csv; charset=utf-8"
FILES: Final = (
    ("invoices", gettext_lazy("Invoices and credit notes, as CSV")),
    ("payments", gettext_lazy("Payments, as CSV")),
    ("taxes", gettext_lazy("Taxes by month and rate, as CSV")),
    ("datev", gettext_lazy("Postings for DATEV")),
)


def _encoded(read: Callable[[Workspace, Days], Iterator[str]]) -> Lines:
    def lines(workspace: Workspace, days: Days, now: datetime) -> Iterator[bytes]:
        found = read(workspace, days)
        return (line.encode() for line in found)

    return lines


WRITERS: Final[dict[str, Lines]] = {
    "invoices": _encoded(exported_invoices),
    "payments": _encoded(exported_payments),
    "taxes": _encoded(exported_taxes),
    "datev": lambda workspace, days, now: exported_postings(workspace, days, now=now),
}


class ExportForm(forms.Form):
    """The file and its days, both included."""

    file = forms.ChoiceField(label=gettext_lazy("File"), choices=FILES, widget=forms.RadioSelect)
    first = forms.DateField(label=gettext_lazy("From"), widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"))
    last = forms.DateField(label=gettext_lazy("Until"), widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"))

    def clean(self) -> dict[str, object]:
        cleaned = super().clean() or self.cleaned_data
        for name in ("first", "last"):
            day = cleaned.get(name)
            if day and day.year not in YEARS:
                self.add_error(name, _("Enter a date after 1999."))
        return cleaned

    @property
    def days(self) -> tuple[date, date]:
        return self.cleaned_data["first"], self.cleaned_data["last"]


class FinanceExports(DashboardView):
    """Shows the form. With its fields in the address it answers with the file. Members who may only read get none."""

    nav = "app:finance"
    writers_only = True

    def get(self, request: HttpRequest) -> HttpResponseBase:
        if "file" not in request.GET:
            return self._show(ExportForm(initial=self._last_month()))
        form = ExportForm(request.GET)
        if form.is_valid():
            try:
                return self._file(form)
            except DomainError as error:
                add_domain_error(form, error)
        return self._show(form, status=422)

    def _show(self, form: ExportForm, *, status: int = 200) -> HttpResponse:
        crumbs: list[Link] = [(_("Finance"), reverse("app:finance"))]
        return self.page("finance/exports.html", status=status, form=form, crumbs=crumbs)

    def _last_month(self) -> dict[str, object]:
        this = timezone.now().astimezone(self._zone).date().replace(day=1)
        return {"file": "invoices", "first": add_months(this, -1), "last": this - timedelta(days=1)}

    @property
    def _zone(self) -> ZoneInfo:
        return ZoneInfo(self.workspace.timezone)

    def _file(self, form: ExportForm) -> StreamingHttpResponse:
        kind, (first, last) = form.cleaned_data["file"], form.days
        days = Days(first, last, zone=self._zone, reader=ZoneInfo(self.user.time_zone or self.workspace.timezone))
        days.check()
        lines = WRITERS[kind](self.workspace, days, database_now())
        details = {"file": kind, "first": first.isoformat(), "last": last.isoformat()}
        record_workspace_activity(workspace=self.workspace, action="finance.exported", by=self.by, details=details)
        # A part of the name is what DATEV's programs look for.
        name = f"EXTF_{first:%Y%m%d}_{last:%Y%m%d}" if kind == "datev" else f"{kind}_{first}_{last}"
        answer = StreamingHttpResponse(lines, content_type="text/csv" if kind == "datev" else CSV)
        answer["Content-Disposition"] = f'attachment; filename="{name}.csv"'
        return answer
