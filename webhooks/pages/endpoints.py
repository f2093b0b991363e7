"""The pages about endpoints, with sample programs that verify a delivery."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.forms import ConfirmationForm
from agency.pages.views import FormView
from webhooks.models import Endpoint
from webhooks.pages.deliveries import LogPage, undelivered_notice
from webhooks.pages.forms import WEBHOOKS, DismissForm, EndpointForm, RotationForm, TestForm, WebhookView
from webhooks.services.endpoint_health import EndpointHealth, endpoint_activity, health_of, with_health
from webhooks.services.endpoints import (
    MOST_ENDPOINTS,
    dismiss_failures,
    register_endpoint,
    remove_endpoint,
    rotate_secret,
    update_endpoint,
)

# The console and the documentation show the sample programs, and a test runs them.

HERE = Path(__file__).parent.parent / "verification"
FILES = {
    "Python, with a library": "verify_standard.py.txt",
    "Python": "verify.py.txt",
    "Node": "verify.mjs",
    "PHP": "verify.php",
    "curl and openssl": "verify.sh",
}


@dataclass(frozen=True, slots=True)
class Sample:
    """The source text of a program that checks a signature."""

    language: str
    text: str


@cache
def samples() -> tuple[Sample, ...]:
    """Return all samples in the order in which they are shown."""
    return tuple(Sample(language, (HERE / name).read_text()) for language, name in FILES.items())


EDITED = ("url", "events", "description", "retries", "enabled")
USED = gettext_lazy(
    "You have already sent this form. Its secret was shown only once. If you did not save it, rotate the secret."
)


class Webhooks(LogPage):
    """Lists all endpoints with their states, and the log of all their deliveries."""

    def get(self, request: HttpRequest) -> HttpResponse:
        found = with_health(self.endpoints().defer("secret")[:MOST_ENDPOINTS])
        endpoints = [endpoint for endpoint, _condition in found]
        states = endpoint_activity(endpoints=endpoints, now=timezone.now())
        listed = [(endpoint, states[endpoint.pk], condition) for endpoint, condition in found]
        return self.log_page("webhooks/endpoints.html", endpoints=endpoints, listed=listed)


class WebhookPage(LogPage):
    """Shows one endpoint, its deliveries and how to verify them."""

    def get(self, request: HttpRequest, **ids: UUID | None) -> HttpResponse:
        endpoint = self.endpoint_of(ids["uuid"])
        return self.log_page(
            "webhooks/endpoint.html",
            endpoint=endpoint,
            state=endpoint_activity(endpoints=[endpoint], now=timezone.now())[endpoint.pk],
            condition=health_of([endpoint])[endpoint.pk],
            events=[(event, self.catalogue.get(event, event)) for event in endpoint.events],
            test_form=TestForm(events=endpoint.events, catalogue=self.catalogue),
            samples=samples(),
        )


class WebhookNew(WebhookView, FormView[EndpointForm]):
    """Registers an endpoint and shows its secret in the response, once."""

    creates = True
    sent_already = USED

    def make_form(self, data: Mapping[str, object] | None = None) -> EndpointForm:
        usual = {"enabled": True, "retries": Endpoint.Retries.STANDARD.value}
        return EndpointForm(data, initial=usual, catalogue=self.catalogue)

    def save(self, form: EndpointForm) -> HttpResponse:
        endpoint = register_endpoint(tenant=self.tenant, by=self.by, **form.cleaned_data)
        return self.page("webhooks/secret.html", endpoint=endpoint, rotated=False, samples=samples())

    def context(self) -> dict[str, object]:
        return {"crumbs": [self.crumb(WEBHOOKS, "webhooks")], "heading": _("Add webhook"), "submit": _("Add webhook")}


class WebhookEdit(WebhookView, FormView[EndpointForm]):
    endpoint: Endpoint

    def find(self, **ids: UUID | None) -> None:
        self.endpoint = self.endpoint_of(ids["uuid"])

    def make_form(self, data: Mapping[str, object] | None = None) -> EndpointForm:
        now = {name: getattr(self.endpoint, name) for name in EDITED}
        return EndpointForm(data, initial=now, catalogue=self.catalogue)

    def save(self, form: EndpointForm) -> HttpResponse:
        update_endpoint(endpoint=self.endpoint, by=self.by, **form.cleaned_data)
        return self.done(_("The webhook was saved."), self.named("webhook"), self.endpoint.uuid)

    def context(self) -> dict[str, object]:
        crumbs = [self.crumb(WEBHOOKS, "webhooks"), self.crumb(self.endpoint.url, "webhook", self.endpoint.uuid)]
        return {"crumbs": crumbs, "heading": _("Edit webhook"), "submit": _("Save")}


class WebhookRotate(WebhookView, FormView[RotationForm]):
    """Replaces the secret and shows the new one in the response, once."""

    creates = True
    sent_already = USED
    endpoint: Endpoint

    def find(self, **ids: UUID | None) -> None:
        self.endpoint = self.endpoint_of(ids["uuid"])

    def make_form(self, data: Mapping[str, object] | None = None) -> RotationForm:
        return RotationForm(data)

    def save(self, form: RotationForm) -> HttpResponse:
        hours = form.cleaned_data["overlap_hours"] or 0
        endpoint = rotate_secret(endpoint=self.endpoint, by=self.by, overlap_hours=hours)
        return self.page("webhooks/secret.html", endpoint=endpoint, rotated=True, samples=samples())

    def context(self) -> dict[str, object]:
        return {
            "crumbs": [self.crumb(WEBHOOKS, "webhooks"), self.crumb(self.endpoint.url, "webhook", self.endpoint.uuid)],
            "heading": _("Rotate the secret?"),
            "text": _("From then on, a new secret signs every delivery, including pending ones."),
            "submit": _("Rotate secret"),
            "danger": True,
        }


class WebhookRemove(WebhookView, FormView[ConfirmationForm]):
    endpoint: Endpoint

    def find(self, **ids: UUID | None) -> None:
        self.endpoint = self.endpoint_of(ids["uuid"])

    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        remove_endpoint(endpoint=self.endpoint, now=timezone.now(), by=self.by)
        return self.done(_("The webhook to %(url)s was removed.") % {"url": self.endpoint.url}, self.named("webhooks"))

    def context(self) -> dict[str, object]:
        return {
            "crumbs": [self.crumb(WEBHOOKS, "webhooks"), self.crumb(self.endpoint.url, "webhook", self.endpoint.uuid)],
            "heading": _("Remove this webhook?"),
            "text": _(
                "%(url)s will receive nothing more. Pending deliveries will be marked as failed. "
                "Past deliveries stay in the log."
            )
            % {"url": self.endpoint.url},
            "submit": _("Remove webhook"),
            "danger": True,
        }


class WebhookDismiss(WebhookView, FormView[DismissForm]):
    """Dismisses the undelivered events that the page has shown."""

    endpoint: Endpoint

    def find(self, **ids: UUID | None) -> None:
        self.endpoint = self.endpoint_of(ids["uuid"])

    def get(self, request: HttpRequest, **ids: UUID | None) -> HttpResponse:
        self.find(**ids)
        if not self.condition.undelivered:
            return redirect(self.named("webhook"), self.endpoint.uuid)
        return super().get(request, **ids)

    @cached_property
    def condition(self) -> EndpointHealth:
        return health_of([self.endpoint])[self.endpoint.pk]

    def make_form(self, data: Mapping[str, object] | None = None) -> DismissForm:
        last = self.condition.last_at
        read = {"until": last.isoformat() if last else "", "number": self.condition.undelivered}
        return DismissForm(data, initial=read)

    def save(self, form: DismissForm) -> HttpResponse:
        dismiss_failures(endpoint=self.endpoint, by=self.by, **form.cleaned_data)
        return self.done(_("The webhook's failures were dismissed."), self.named("webhook"), self.endpoint.uuid)

    def context(self) -> dict[str, object]:
        return {
            "crumbs": [self.crumb(WEBHOOKS, "webhooks"), self.crumb(self.endpoint.url, "webhook", self.endpoint.uuid)],
            "heading": _("Dismiss the failures?"),
            "text": undelivered_notice(self.condition),
            "warning": _(
                "You will see no more alerts about them. They stay in the log, and you can redeliver them from there."
            ),
            "submit": _("Dismiss"),
        }
