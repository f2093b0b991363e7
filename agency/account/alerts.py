"""The devices on which a person sees alerts: the list, adding this browser, removing one, and a test."""

from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agency.account.sessions import describe_browser
from agency.account.sign_in import AttemptLimit, landing_page_of, too_many_tries
from agency.models import VapidKey
from agency.pages.branding import agency_host_name, host_agency_id
from agency.pages.views import SignedInView, person_of
from agency.services.notifications.devices import (
    MOST_DEVICES,
    add_device,
    devices_of,
    queue_test,
    remove_device,
    vapid_key_of,
)
from config.api.requests import parse_uuid
from config.errors import DomainError

ALERTS: Final = "account:alerts"
TESTS: Final = AttemptLimit("test-alert", 10)
RENEWALS: Final = AttemptLimit("alert-renewal", 20)


def key_of_host(request: HttpRequest) -> VapidKey:
    """Return the key pair of the requested host: of an agency's own, or of the installation's."""
    return vapid_key_of(agency_host_name(request) or urlsplit(settings.PUBLIC_URL).hostname or "")


class Alerts(SignedInView):
    landing_page = ALERTS

    def get(self, request: HttpRequest) -> HttpResponse:
        user = person_of(request)
        devices = list(devices_of(user)[:MOST_DEVICES])
        shown = [(one, one.session_key == request.session.session_key) for one in devices]
        context = {
            "devices": shown,
            "is_shown_here": any(is_here for _, is_here in shown),
            "is_full": len(devices) >= MOST_DEVICES,
            "key": key_of_host(request).public_key,
            "back": landing_page_of(user, host_agency_id(request)),
        }
        return render(request, "account/alerts.html", context)


class AddDevice(SignedInView):
    """Takes what the browser's push service has given to the page's script."""

    landing_page = form_page = nav = ALERTS

    def post(self, request: HttpRequest) -> HttpResponse:
        save_device(request)
        return self.done(_("This device shows your alerts now."), ALERTS)


class RenewDevice(SignedInView):
    """Takes a new subscription from the service worker when the browser drops the old one, and says what it needs."""

    landing_page = nav = ALERTS

    def get(self, request: HttpRequest) -> JsonResponse:
        return JsonResponse({"key": key_of_host(request).public_key, "token": get_token(request)})

    def post(self, request: HttpRequest) -> HttpResponse:
        if RENEWALS.count(str(person_of(request).pk)):
            return HttpResponse(status=429)
        try:
            save_device(request)
        except DomainError:
            return HttpResponse(status=422)
        return HttpResponse(status=204)


def save_device(request: HttpRequest) -> None:
    """Save this browser's subscription for the person. Raises `DeviceRefused`, `TooManyDevices`."""
    given = request.POST
    add_device(
        user=person_of(request),
        key=key_of_host(request),
        agency_id=host_agency_id(request),
        session_key=request.session.session_key or "",
        endpoint=given.get("endpoint", ""),
        p256dh=given.get("p256dh", ""),
        auth=given.get("auth", ""),
        replaces=given.get("replaces", ""),
        browser=describe_browser(request.headers.get("User-Agent", "")),
    )


class RemoveDevice(SignedInView):
    landing_page = form_page = nav = ALERTS

    def post(self, request: HttpRequest) -> HttpResponse:
        device = parse_uuid(request.POST.get("device", ""))
        if device is not None:
            remove_device(user=person_of(request), device=device)
        return self.done(_("That device shows no more alerts."), ALERTS)


class SendTest(SignedInView):
    landing_page = form_page = nav = ALERTS

    def post(self, request: HttpRequest) -> HttpResponse:
        user = person_of(request)
        seconds = TESTS.count(str(user.pk))
        if seconds:
            return self.done(too_many_tries(seconds), ALERTS)
        number = queue_test(user=user)
        text = ngettext(
            "A test alert is on its way to %(number)s device.",
            "A test alert is on its way to %(number)s devices.",
            number,
        )
        return self.done(text % {"number": number}, ALERTS)
