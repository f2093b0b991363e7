"""Pages about payouts: their list, one payout with what it consists of, and that as a CSV file."""

from collections.abc import Mapping
from typing import Any, Final
from zoneinfo import ZoneInfo

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.pagination import with_id
from agency.pages.tables import Column, Filter, ListPage, Table
from workspaces.catalogue.dashboard.form_views import Link
from workspaces.finance.dashboard.exports import CSV
from workspaces.finance.dashboard.invoices import read_day
from workspaces.finance.models import Payout, PayoutTransaction
from workspaces.finance.services.accounts import payment_account_of
from workspaces.finance.services.exports import exported_payout
from workspaces.finance.services.payouts import PayoutNotFound
from workspaces.subaccounts.dashboard.base import DashboardView
from workspaces.subaccounts.services import record_workspace_activity

LIST: Final = "app:payouts"
Status = Payout.Status


class Payouts(ListPage, DashboardView):
    """All payouts, the last arrival first, or those that match the filters."""

    nav = LIST
    table = Table(
        caption=gettext_lazy("Payouts"),
        columns=(
            Column(name="arrival", label=gettext_lazy("Arrival"), order=("arrives_on", "id"), descends_first=True),
            Column(name="status", label=gettext_lazy("State")),
            Column(name="fees", label=gettext_lazy("Fees"), is_number=True),
            Column(name="amount", label=gettext_lazy("Amount"), is_number=True),
        ),
        filters=(
            Filter(name="status", label=gettext_lazy("State"), is_choice=True, choices=Status.choices),
            Filter(name="from", label=gettext_lazy("From"), is_date=True),
            Filter(name="to", label=gettext_lazy("Until"), is_date=True),
        ),
        sort="-arrival",
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        state = self.read_table()
        state.fetch(self._found(state.values))
        return self.list_page("finance/payouts/list.html", state, account=payment_account_of(self.workspace))

    def _found(self, asked: Mapping[str, str]) -> "QuerySet[Payout]":
        rows = Payout.objects.of(self.workspace)
        rows = rows.filter(status=asked["status"]) if asked["status"] in Status.values else rows
        first, last = read_day(asked["from"]), read_day(asked["to"])
        rows = rows.filter(arrives_on__gte=first) if first else rows
        return rows.filter(arrives_on__lte=last) if last else rows


class PayoutView(DashboardView):
    """Something about one payout of the workspace. Malformed, unknown and foreign ids get the same answer."""

    nav = LIST
    payout: Payout

    def find(self, **ids: Any) -> None:
        found = with_id(Payout.objects.of(self.workspace), ids["uuid"])
        if found is None:
            raise PayoutNotFound
        self.payout = found


class PayoutPage(ListPage, PayoutView):
    """One payout: its facts, and the payments, refunds and fees that it consists of."""

    table = Table(
        caption=gettext_lazy("What the payout consists of"),
        columns=(
            Column(name="kind", label=gettext_lazy("Kind")),
            Column(name="created", label=gettext_lazy("Date")),
            Column(name="invoice", label=gettext_lazy("Invoice")),
            Column(name="amount", label=gettext_lazy("Amount"), is_number=True),
            Column(name="fee", label=gettext_lazy("Fee"), is_number=True),
            Column(name="net", label=gettext_lazy("Net"), is_number=True),
        ),
    )

    def get(self, request: HttpRequest, **ids: Any) -> HttpResponse:
        self.find(**ids)
        state = self.read_table()
        rows = PayoutTransaction.objects.filter(payout=self.payout).select_related("payment__invoice")
        state.fetch(rows.order_by("id"))
        crumbs: list[Link] = [(_("Payouts"), reverse(LIST))]
        zone = ZoneInfo(self.workspace.timezone)
        return self.list_page("finance/payouts/one.html", state, payout=self.payout, crumbs=crumbs, zone=zone)


class PayoutExport(PayoutView):
    """Answers with what a payout consists of as a CSV file. Members who may only read get none."""

    writers_only = True

    def get(self, request: HttpRequest, **ids: Any) -> StreamingHttpResponse:
        self.find(**ids)
        reader = ZoneInfo(self.user.time_zone or self.workspace.timezone)
        lines = exported_payout(self.payout, reader=reader)
        day = self.payout.arrives_on.isoformat()
        details = {"file": "payout", "first": day, "last": day}
        record_workspace_activity(workspace=self.workspace, action="finance.exported", by=self.by, details=details)
        answer = StreamingHttpResponse((line.encode() for line in lines), content_type=CSV)
        answer["Content-Disposition"] = f'attachment; filename="payout_{day}.csv"'
        return answer
