"""Deliveries in the console: one with its attempts, a test, once more, and all that failed."""

import json
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agency.console.views.base import FormPage, crumb
from agency.event_types import event_catalogue
from webhooks.console.forms import RedeliverForm, TestForm
from webhooks.console.views.base import LIST, WEBHOOKS, WebhookView
from webhooks.models import Delivery
from webhooks.services import redeliver, redeliver_failed, send_test

ONE = "console:webhook-delivery"
SECONDS_BETWEEN_LOOKS = 1


class DeliveryPage(WebhookView):
    """What was sent and what came back; looks again by itself while an attempt is to come soon."""

    def get(self, request: HttpRequest, **ids: Any) -> HttpResponse:
        delivery = self.delivery_of(ids["uuid"])
        page = self.page(
            "webhooks/delivery.html",
            delivery=delivery,
            attempts=list(delivery.attempt_log.order_by("number")),
            envelope=json.dumps(json.loads(delivery.envelope), indent=2, ensure_ascii=False),
            label=event_catalogue(self.agency).get(delivery.event_name, delivery.event_name),
            may_redeliver=delivery.endpoint.enabled and not delivery.endpoint.removed_at,
        )
        if delivery.status == Delivery.Status.PENDING and delivery.attempts == 0:
            page["Refresh"] = str(SECONDS_BETWEEN_LOOKS)
        return page


class WebhookTest(WebhookView):
    """Sends a sample and shows its delivery, where the answer appears by itself."""

    creates = True
    form_page = "console:webhook"

    def post(self, request: HttpRequest, **ids: Any) -> HttpResponse:
        endpoint = self.endpoint_of(ids["uuid"])
        form = TestForm(request.POST, events=endpoint.events, catalogue=event_catalogue(self.agency))
        event = form.cleaned_data["event"] if form.is_valid() else endpoint.events[0]
        delivery = send_test(endpoint=endpoint, event=event, now=timezone.now(), by=self.by)
        return redirect(ONE, delivery.uuid)


class DeliveryRedeliver(WebhookView):
    creates = True
    form_page = ONE

    def post(self, request: HttpRequest, **ids: Any) -> HttpResponse:
        again = redeliver(delivery=self.delivery_of(ids["uuid"]), now=timezone.now(), by=self.by)
        return self.done(_("The same envelope is on its way again."), ONE, again.uuid)


class RedeliverFailed(FormPage[RedeliverForm], WebhookView):
    """Sends everything again that ended as an error since a moment."""

    creates = True

    def make_form(self, data: Any = None) -> RedeliverForm:
        return RedeliverForm(data, endpoints=self.endpoints())

    def save(self, form: RedeliverForm) -> HttpResponse:
        fields = form.cleaned_data
        number = redeliver_failed(
            agency=self.agency, since=fields["since"], endpoint=fields["webhook"], now=timezone.now(), by=self.by
        )
        one, many = "%(number)s delivery is on its way again.", "%(number)s deliveries are on their way again."
        message = ngettext(one, many, number)
        return self.done(message % {"number": f"{number:,}"}, LIST)

    def context(self) -> dict[str, Any]:
        return {
            "crumbs": [crumb(WEBHOOKS, LIST)],
            "heading": _("Redeliver what failed"),
            "text": _("Each envelope that ended as an error is sent once more, with the same id, to the same webhook."),
            "submit": _("Redeliver"),
        }
