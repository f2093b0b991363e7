"""The pages of the delivery log and of one delivery, and labels for states of endpoints."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from http.client import responses
from typing import Any, Final
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core import signing
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext, gettext_lazy, ngettext
from django.utils.translation import gettext as _

from agency.pages.pagination import NumberedPages, read_pages
from agency.pages.periods import CHOICES, PERIOD, beginning_of
from agency.pages.registry import StrOrPromise
from agency.pages.tables import Column, Filter, ListPage, Table, TableState
from agency.tenants import Tenant
from webhooks.models import Attempt, Delivery, Endpoint
from webhooks.pages.forms import RedeliverForm, TestForm, WebhookView, moment_field
from webhooks.services.deliveries import (
    MOST_REPLAYED,
    DeliveryNotFound,
    Replay,
    ReplayResult,
    choose_sample_event,
    count_replay,
    redeliver,
    replay_deliveries,
    replay_progress,
    send_test,
)
from webhooks.services.endpoint_health import MOST_UNDELIVERED_COUNTED, EndpointHealth, HealthStatus
from webhooks.services.log import MOST_COUNTED, LogFilters, read_log
from workspaces.subaccounts.models import Workspace

SECONDS_BETWEEN_LOOKS = 1
SECONDS_BETWEEN_COUNTS = 2
REDELIVERY = "webhooks.redelivery"


class DeliveryPage(WebhookView):
    """Shows a delivery and its attempts. The page refreshes itself until the first attempt has ended."""

    def get(self, request: HttpRequest, **ids: UUID | None) -> HttpResponse:
        delivery = self.delivery_of(ids["uuid"])
        attempts = list(delivery.attempt_log.order_by("-number"))
        if len(attempts) > delivery.attempts:  # one has ended since
            delivery = self.delivery_of(ids["uuid"])
        page = self.page(
            "webhooks/delivery.html",
            delivery=delivery,
            attempts=attempts,
            envelope=json.dumps(json.loads(delivery.envelope), indent=2, ensure_ascii=False),
            label=self.catalogue.get(delivery.event_name, delivery.event_name),
            may_redeliver=delivery.endpoint.enabled and not delivery.endpoint.removed_at,
        )
        if delivery.status == Delivery.Status.PENDING and delivery.attempts == 0:
            page["Refresh"] = str(SECONDS_BETWEEN_LOOKS)
        return page


class WebhookTest(WebhookView):
    """Sends a sample event and redirects to its delivery's page, which refreshes itself until the response is there."""

    keeps_form_data = True

    creates = True

    def post(self, request: HttpRequest, **ids: UUID | None) -> HttpResponse:
        endpoint = self.endpoint_of(ids["uuid"])
        form = TestForm(request.POST, events=endpoint.events, catalogue=self.catalogue)
        event = choose_sample_event(endpoint, form.cleaned_data["event"] if form.is_valid() else None, self.catalogue)
        delivery = send_test(endpoint=endpoint, event=event, now=timezone.now(), by=self.by)
        return redirect(self.named("webhook-delivery"), delivery.uuid)


class DeliveryRedeliver(WebhookView):
    creates = True

    def post(self, request: HttpRequest, **ids: UUID | None) -> HttpResponse:
        again = redeliver(delivery=self.delivery_of(ids["uuid"]), now=timezone.now(), by=self.by)
        return self.done(_("The event is being sent again."), self.named("webhook-delivery"), again.uuid)


class RedeliverFailed(WebhookView):
    """Redelivers everything that has failed since a moment. Asks for the moment, shows the number, asks to confirm."""

    creates = True

    @classmethod
    def address_of_form(cls, request: HttpRequest) -> str:
        """Return the URL of the confirmation page, with the form's choices in its query."""
        asked = {name: request.POST[name] for name in ("since", "webhook") if name in request.POST}
        return f"{request.path}?{urlencode(asked)}" if asked else super().address_of_form(request)

    def get(self, request: HttpRequest) -> HttpResponse:
        if "since" not in request.GET:
            initial = {"webhook": request.GET.get("webhook")}
            return self._ask(RedeliverForm(endpoints=self.endpoints(), initial=initial))
        form = RedeliverForm(request.GET, endpoints=self.endpoints())
        if not form.is_valid():
            return self._ask(form, status=422)
        number = count_replay(self._replay(form))
        return self.page("webhooks/redeliver_confirm.html", form=form, number=number, most=MOST_REPLAYED)

    def post(self, request: HttpRequest) -> HttpResponse:
        form = RedeliverForm(request.POST, endpoints=self.endpoints())
        if not form.is_valid():
            return self._ask(form, status=422)
        now = timezone.now()
        replayed = replay_deliveries(self._replay(form), now=now, by=self.by)
        if not replayed.number:
            messages.info(request, _("There was nothing to redeliver."))
            return redirect(self.named("webhooks"))
        return redirect(self.named("webhook-redelivery"), sign_redelivery(self.tenant, replayed, now))

    def _ask(self, form: RedeliverForm, *, status: int = 200) -> HttpResponse:
        return self.page("webhooks/redeliver_failed.html", form=form, status=status)

    def _replay(self, form: RedeliverForm) -> Replay:
        fields = form.cleaned_data
        return Replay(tenant=self.tenant, since=fields["since"], endpoint=fields["webhook"])


class Redelivery(WebhookView):
    """Shows the progress of a redelivery. The page refreshes itself until all deliveries have ended."""

    def get(self, request: HttpRequest, **ids: str) -> HttpResponse:
        replayed, at = read_redelivery(self.tenant, ids["token"])
        progress = replay_progress(replayed, tenant=self.tenant, at=at)
        done = progress.succeeded + progress.failed
        page = self.page("webhooks/redelivery.html", number=replayed.number, progress=progress, done=done)
        if progress.pending:
            page["Refresh"] = str(SECONDS_BETWEEN_COUNTS)
        return page


def sign_redelivery(tenant: Tenant, replayed: ReplayResult, at: datetime) -> str:
    """Return a signed token for a redelivery's URL. The redelivery is stored nowhere else."""
    return signing.dumps([_name_of(tenant), *replayed, at.isoformat()], salt=REDELIVERY)


def read_redelivery(tenant: Tenant, token: str) -> tuple[ReplayResult, datetime]:
    """Read a token of `sign_redelivery`. Raises `DeliveryNotFound` for an invalid or another tenant's token."""
    try:
        owner, number, first, last, at = signing.loads(token, salt=REDELIVERY)
    except signing.BadSignature:
        raise DeliveryNotFound from None
    if owner != _name_of(tenant):
        raise DeliveryNotFound
    return ReplayResult(number, first, last), datetime.fromisoformat(at)


def _name_of(tenant: Tenant) -> str:
    return f"{tenant.agency_id}:{tenant.workspace_id or ''}"


ERROR_LABELS = {
    "dns": gettext_lazy("DNS found no address for the host name."),
    "blocked_address": gettext_lazy("The host is not publicly reachable, so nothing was sent."),
    "refused": gettext_lazy("Your endpoint refused the connection."),
    "connect_timeout": gettext_lazy("No connection within 5 seconds."),
    "tls": gettext_lazy("The secure connection failed: check the certificate."),
    "timeout": gettext_lazy("No complete response within 10 seconds."),
    "closed": gettext_lazy("Your endpoint closed the connection before its response was complete."),
    "invalid_answer": gettext_lazy("Your endpoint's response was not valid HTTP."),
    "too_large": gettext_lazy("The headers of your endpoint's response were too large."),
    "failed": gettext_lazy("The request could not be made."),
    "endpoint_disabled": gettext_lazy("The webhook was disabled before the event was sent."),
    "endpoint_removed": gettext_lazy("The webhook was removed before the event was sent."),
    "agency_suspended": gettext_lazy("The agency was suspended for more than 24 hours."),
    "worker_lost": gettext_lazy("Sending started several times but never finished."),
}
ANSWERED = gettext_lazy("Your endpoint answered %(status)s.")
REDIRECTED = gettext_lazy("Your endpoint answered %(status)s. Redirects are not followed.")


def error_text(outcome: Delivery | Attempt) -> str:
    """Return a failure's text. If the endpoint answered, it names the status of the answer."""
    code = outcome.error or ""
    if outcome.response_status and code.startswith("http_"):
        text = REDIRECTED if code == "http_3xx" else ANSWERED
        return str(text) % {"status": status_text(outcome.response_status)}
    return str(ERROR_LABELS.get(code, code))


def status_text(status: int) -> str:
    """Return a status with its standard phrase, if it has one."""
    return f"{status} {responses[status]}" if status in responses else str(status)


def _undelivered_number(condition: EndpointHealth) -> str:
    return f"{MOST_UNDELIVERED_COUNTED}+" if condition.undelivered_is_more else str(condition.undelivered)


def undelivered_label(condition: EndpointHealth) -> str:
    """Return a short text on how many events never arrived."""
    shown = _undelivered_number(condition)
    return ngettext("%(shown)s not delivered", "%(shown)s not delivered", condition.undelivered) % {"shown": shown}


def undelivered_notice(condition: EndpointHealth) -> str:
    """Return a sentence on how many events never arrived."""
    shown = _undelivered_number(condition)
    said = ngettext("%(shown)s event did not arrive.", "%(shown)s events did not arrive.", condition.undelivered)
    return said % {"shown": shown}


def state_label(condition: EndpointHealth) -> str:
    """Return a state's label, with the number of events that never arrived."""
    label = str(condition.state.label)
    return f"{label} ({undelivered_label(condition)})" if condition.undelivered else label


def concern_text(condition: EndpointHealth, url: str) -> str:
    """Return a sentence on what is wrong with an endpoint."""
    if condition.state == HealthStatus.RECOVERED:
        said = ngettext(
            "The webhook to %(url)s works again, but %(shown)s event was not delivered.",
            "The webhook to %(url)s works again, but %(shown)s events were not delivered.",
            condition.undelivered,
        )
        return said % {"url": url, "shown": _undelivered_number(condition)}
    if condition.state == HealthStatus.RETRYING:
        return gettext("Deliveries to %(url)s are failing. We are trying again.") % {"url": url}
    return gettext("The webhook to %(url)s is failing.") % {"url": url}


ENDPOINT: Final = "endpoint"
WORKSPACE: Final = "workspace"
# The newest deliveries come first, in the order of the log's indexes. There is no other order.
LOG: Final = Table(
    caption=gettext_lazy("Deliveries, newest first"),
    columns=(
        Column(name="endpoint", label=gettext_lazy("Webhook")),
        Column(name="event", label=gettext_lazy("Event")),
        Column(name=WORKSPACE, label=gettext_lazy("Sub-account")),
        Column(name="result", label=gettext_lazy("Result")),
        Column(name="when", label=gettext_lazy("When")),
    ),
    filters=(
        Filter(name=ENDPOINT, label=gettext_lazy("Webhook"), is_choice=True),
        Filter(name="status", label=gettext_lazy("Result"), is_choice=True, choices=Delivery.Status.choices),
        Filter(name="event", label=gettext_lazy("Event"), is_choice=True),
        Filter(name="envelope_id", label=gettext_lazy("Envelope ID")),
        Filter(name=WORKSPACE, label=gettext_lazy("Sub-account ID")),
        PERIOD,
        Filter(name="created_after", label=gettext_lazy("From (UTC)"), is_moment=True),
        Filter(name="created_before", label=gettext_lazy("Before (UTC)"), is_moment=True),
    ),
)


class LogForm(forms.Form):
    """Parses the log's filters. `endpoints` may be filtered by, and a period ends now.

    The list shows the errors of invalid filters.
    """

    endpoint = forms.ModelChoiceField(queryset=Endpoint.objects.none(), required=False, to_field_name="uuid")
    status = forms.ChoiceField(choices=Delivery.Status, required=False)
    event = forms.ChoiceField(required=False)
    envelope_id = forms.UUIDField(required=False)
    workspace = forms.UUIDField(required=False)
    period = forms.ChoiceField(choices=CHOICES, required=False)
    created_after = moment_field("", required=False)
    created_before = moment_field("", required=False)

    def __init__(
        self,
        data: Mapping[str, object],
        *,
        catalogue: Mapping[str, StrOrPromise],
        endpoints: "QuerySet[Endpoint]",
        hides: Iterable[str],
        now: datetime,
    ) -> None:
        super().__init__(data)
        self.now = now
        event, endpoint = self.fields["event"], self.fields[ENDPOINT]
        assert isinstance(event, forms.ChoiceField)  # noqa: S101  # tells the type checker what is declared above
        assert isinstance(endpoint, forms.ModelChoiceField)  # noqa: S101  # tells the type checker what is declared above
        event.choices, endpoint.queryset = [*catalogue.items()], endpoints
        for name in hides:
            del self.fields[name]

    @property
    def filters(self) -> dict[str, Any]:
        """The valid, non-empty filters; a period is a time after which deliveries were created."""
        self.is_valid()
        found = {name: value for name, value in self.cleaned_data.items() if value}
        if period := found.pop("period", None):
            begins = beginning_of(period, self.now)
            found["created_after"] = max(begins, found.get("created_after", begins))
        return found


class LogPage(ListPage, WebhookView):
    """A page with the log of one endpoint, or of all the tenant's endpoints."""

    table = LOG

    def log_page(
        self, template: str, *, endpoint: Endpoint | None = None, endpoints: Sequence[Endpoint] = (), **context: object
    ) -> HttpResponse:
        """Render a page of the deliveries that match the URL's filters, with more context for the template."""
        hides = (*self.hides, *([ENDPOINT] if endpoint else []))
        form = LogForm(
            self.request.GET, catalogue=self.catalogue, endpoints=self.endpoints(), hides=hides, now=timezone.now()
        )
        filters = LogFilters(tenant=self.tenant, **{**form.filters, **({ENDPOINT: endpoint} if endpoint else {})})
        choices = {"event": [*self.catalogue.items()], ENDPOINT: [(str(one.uuid), one.url) for one in endpoints]}
        state = TableState(_without(hides), self.request, choices)
        state.errors = {name: " ".join(map(str, found)) for name, found in form.errors.items()}
        pages = self._fetch(state, filters)
        context |= {"endpoint": endpoint, "endpoints": endpoints, "is_cut": pages.is_capped}
        if WORKSPACE not in self.hides:
            context["sub_accounts"] = self._names_of_sub_accounts(state.rows)
        return self.list_page(template, state, **context)

    def _names_of_sub_accounts(self, rows: Sequence[Delivery]) -> dict[UUID, str]:
        """Return the names of the agency's sub-accounts that the rows' events are about."""
        about = {row.workspace_uuid for row in rows if row.workspace_uuid}
        own = Workspace.objects.filter(agency_id=self.tenant.agency_id, uuid__in=about)
        return dict(own.values_list("uuid", "name")) if about else {}

    def _fetch(self, state: TableState, filters: LogFilters) -> NumberedPages:
        """Read the requested page, or the last one if there are fewer pages."""
        asked = read_pages(self.request, MOST_COUNTED)
        found = read_log(filters, offset=asked.offset, size=asked.size)
        pages = read_pages(self.request, found.total, is_capped=found.total == MOST_COUNTED)
        if pages.number != asked.number:
            found = read_log(filters, offset=pages.offset, size=pages.size)
        state.show(found.rows, pages)
        return pages


def _without(hides: Iterable[str]) -> Table:
    """Return the table without the hidden filters and the columns of these names."""
    return replace(
        LOG,
        columns=tuple(column for column in LOG.columns if column.name not in hides),
        filters=tuple(one for one in LOG.filters if one.name not in hides),
    )
