"""Pages about deliveries: show one with its attempts, send a test, redeliver one or all failed ones."""

import json
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from agency.tenants import Tenant
from webhooks.models import Delivery
from webhooks.pages.base import WebhookView
from webhooks.pages.forms import RedeliverForm, TestForm
from webhooks.services import (
    DeliveryNotFound,
    Replay,
    Replayed,
    count_replay,
    progress_of,
    redeliver,
    replay_deliveries,
    send_test,
)
from webhooks.services.replays import MOST_REPLAYED
from webhooks.services.samples import sampled_event

SECONDS_BETWEEN_LOOKS = 1
SECONDS_BETWEEN_COUNTS = 2
REDELIVERY = "webhooks.redelivery"


class DeliveryPage(WebhookView):
    """Shows a delivery and its attempts. The page refreshes itself until the first attempt has ended."""

    def get(self, request: HttpRequest, **ids: Any) -> HttpResponse:
        delivery = self.delivery_of(ids["uuid"])
        page = self.page(
            "webhooks/delivery.html",
            delivery=delivery,
            attempts=list(delivery.attempt_log.order_by("number")),
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

    def post(self, request: HttpRequest, **ids: Any) -> HttpResponse:
        endpoint = self.endpoint_of(ids["uuid"])
        form = TestForm(request.POST, events=endpoint.events, catalogue=self.catalogue)
        event = sampled_event(endpoint, form.cleaned_data["event"] if form.is_valid() else None, self.catalogue)
        delivery = send_test(endpoint=endpoint, event=event, now=timezone.now(), by=self.by)
        return redirect(self.named("webhook-delivery"), delivery.uuid)


class DeliveryRedeliver(WebhookView):
    creates = True

    def post(self, request: HttpRequest, **ids: Any) -> HttpResponse:
        again = redeliver(delivery=self.delivery_of(ids["uuid"]), now=timezone.now(), by=self.by)
        return self.done(_("The same envelope is on its way again."), self.named("webhook-delivery"), again.uuid)


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
            messages.info(request, _("There was nothing to send again."))
            return redirect(self.named("webhooks"))
        return redirect(self.named("webhook-redelivery"), sign_redelivery(self.tenant, replayed, now))

    def _ask(self, form: RedeliverForm, *, status: int = 200) -> HttpResponse:
        return self.page("webhooks/redeliver_failed.html", form=form, status=status)

    def _replay(self, form: RedeliverForm) -> Replay:
        fields = form.cleaned_data
        return Replay(tenant=self.tenant, since=fields["since"], endpoint=fields["webhook"])


class Redelivery(WebhookView):
    """Shows the progress of a redelivery. The page refreshes itself until all deliveries have ended."""

    def get(self, request: HttpRequest, **ids: Any) -> HttpResponse:
        replayed, at = read_redelivery(self.tenant, ids["token"])
        progress = progress_of(replayed, tenant=self.tenant, at=at)
        done = progress.succeeded + progress.failed
        page = self.page("webhooks/redelivery.html", number=replayed.number, progress=progress, done=done)
        if progress.pending:
            page["Refresh"] = str(SECONDS_BETWEEN_COUNTS)
        return page


def sign_redelivery(tenant: Tenant, replayed: Replayed, at: datetime) -> str:
    """Return a signed token for a redelivery's URL. The redelivery is stored nowhere else."""
    return signing.dumps([_name_of(tenant), *replayed, at.isoformat()], salt=REDELIVERY)


def read_redelivery(tenant: Tenant, token: str) -> tuple[Replayed, datetime]:
    """Read a token of `sign_redelivery`. Raises `DeliveryNotFound` for an invalid or another tenant's token."""
    try:
        owner, number, first, last, at = signing.loads(token, salt=REDELIVERY)
    except signing.BadSignature:
        raise DeliveryNotFound from None
    if owner != _name_of(tenant):
        raise DeliveryNotFound
    return Replayed(number, first, last), datetime.fromisoformat(at)


def _name_of(tenant: Tenant) -> str:
    return f"{tenant.agency_id}:{tenant.workspace_id or ''}"
