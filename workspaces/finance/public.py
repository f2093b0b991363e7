"""The public pay page of an invoice, below `/pay/`, and the address to which Stripe sends its events.

Everybody with the secret address may look and pay. Looking changes nothing. Only the provider says what was paid:
the page to which a payer returns shows what is recorded, and trusts no parameter of its URL.
"""

import time
from datetime import datetime
from functools import cached_property
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import path
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.http import content_disposition_header
from django.views import View
from django.views.decorators.csrf import csrf_exempt

from agency.pages.branding import host_serves, prefer_language_of, theme_of_agency
from agency.pages.views import ConcurrencyLimit
from config.api.requests import client_address, rate_limit_bucket
from config.api.throttling import RateLimit, count_request
from config.db import database_now
from config.errors import DomainError
from workspaces.finance.models import Checkout, Invoice
from workspaces.finance.providers.webhooks import read_notice, verify_signature
from workspaces.finance.services.accounts import PaymentsUnavailable, payment_account_of
from workspaces.finance.services.checkouts import start_checkout, unfinished_checkouts
from workspaces.finance.services.documents import filename_of, invoice_pdf
from workspaces.finance.services.invoices import invoice_of_token
from workspaces.finance.services.provider_events import account_of_webhook, store_event
from workspaces.subaccounts.services.money import format_money

# Requests of one network address in a minute.
MOST_PAGES: Final = 120
MOST_CLICKS: Final = 20
LONGEST_TOKEN: Final = 100
LONGEST_EVENT: Final = 512 * 1024
SIGNATURE: Final = "HTTP_STRIPE_SIGNATURE"
# A click may wait for the provider for some ten seconds. The limit keeps clicks from occupying all threads.
CLICKS: Final = ConcurrencyLimit(2)
# The answer to Pay leads to the provider, which may let a business use a host of its own for it.
POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; "
    "form-action 'self' https: {provider}; base-uri 'none'; frame-ancestors 'none'"
)


def provider_source() -> str:
    """Return the policy source of a stand-in for the provider, which has no https."""
    parts = urlsplit(settings.STRIPE_API_URL)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme == "http" else ""


class PayView(View):
    """A page about one invoice. It is not cached, framed, indexed or sent as a referrer."""

    http_method_names = ["get", "head"]
    invoice: Invoice

    def dispatch(self, request: HttpRequest, *args: str, **kwargs: str) -> HttpResponseBase:
        try:
            response = self._refuse_too_many() or self._find_and_answer(request, *args, **kwargs)
        except Http404:
            response = render(request, "finance/public/unknown.html", status=404)
        response.headers["Cache-Control"] = "no-store"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["X-Robots-Tag"] = "noindex, nofollow"
        response.headers["Content-Security-Policy"] = POLICY.format(provider=provider_source())
        return response

    def _refuse_too_many(self) -> HttpResponse | None:
        bucket = rate_limit_bucket(client_address(self.request))
        limit = RateLimit(f"pay-pages:{bucket}", MOST_PAGES)
        if self.request.method == "POST":
            limit = RateLimit(f"pay-clicks:{bucket}", MOST_CLICKS)
        rate = count_request(limit)
        if not rate or not rate.retry_after:
            return None
        response = render(self.request, "finance/public/too_many.html", status=429)
        response.headers["Retry-After"] = str(rate.retry_after)
        return response

    def _find_and_answer(self, request: HttpRequest, token: str) -> HttpResponseBase:
        found = invoice_of_token(token) if token.isascii() and len(token) <= LONGEST_TOKEN else None
        if found is None or not host_serves(request, (found.workspace.agency_id,)):
            raise Http404
        if not found.workspace.is_active or not found.workspace.agency.is_active:
            raise Http404
        self.invoice = found
        prefer_language_of(request, found.workspace.agency)
        return super().dispatch(request, token)

    @cached_property
    def now(self) -> datetime:
        return database_now()

    def page(self, *, status: int = 200, **context: object) -> HttpResponse:
        """Render the invoice with its state, in the agency's look."""
        invoice = self.invoice
        account = payment_account_of(invoice.workspace)
        frame = {
            "invoice": invoice,
            "details": invoice.sold_by.payment_details,
            "seller": invoice.sold_by.name or invoice.workspace.name,
            "look": theme_of_agency(invoice.workspace.agency),
            "state": self.state,
            "account": account if account and not account.failure else None,
            "balance": self._money(max(0, invoice.balance)),
            "total": self._money(invoice.total),
            "paid": self._money(invoice.paid) if invoice.paid > 0 else "",
            "credited": self._money(invoice.credited) if invoice.credited else "",
            "lines": [(line, self._money(line.amount)) for line in invoice.lines.order_by("position")],
            "is_overdue": invoice.due_at is not None and invoice.due_at <= self.now,
        }
        with timezone.override(ZoneInfo(invoice.workspace.timezone)):
            return render(self.request, "finance/public/invoice.html", {**frame, **context}, status=status)

    def _money(self, minor: int) -> str:
        return format_money(minor, self.invoice.currency)

    @property
    def state(self) -> str:
        """What the page is about: void, paid, processing or open."""
        if self.invoice.status == Invoice.Status.VOID:
            return "void"
        if self.invoice.balance <= 0:
            return "paid"
        processing = unfinished_checkouts(self.invoice).filter(status=Checkout.Status.PROCESSING)
        return "processing" if processing.exists() else "open"


class PayPage(PayView):
    """Shows what is owed, with a button that leads to the provider."""

    def get(self, request: HttpRequest, token: str) -> HttpResponse:
        return self.page()


class PayStart(PayView):
    """Starts a checkout of what is owed, and sends the payer there."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, token: str) -> HttpResponseBase:
        try:
            with CLICKS.slot() as is_free:
                if not is_free:
                    raise PaymentsUnavailable
                checkout = start_checkout(invoice=self.invoice, now=self.now)
        except DomainError as refused:
            return self.page(status=503 if isinstance(refused, PaymentsUnavailable) else 409, refused=refused.message)
        response = redirect(checkout.address)
        response.status_code = 303
        return response


class PayDone(PayView):
    """Where payers come back to. It shows what is recorded, and asks to reload while the provider has not answered."""

    def get(self, request: HttpRequest, token: str) -> HttpResponse:
        return self.page(has_returned=True)


class PayDocument(PayView):
    """The invoice as PDF."""

    def get(self, request: HttpRequest, token: str) -> HttpResponse:
        disposition = content_disposition_header(as_attachment=True, filename=filename_of(self.invoice)) or "attachment"
        headers = {"Content-Disposition": disposition, "X-Content-Type-Options": "nosniff"}
        return HttpResponse(invoice_pdf(self.invoice), content_type="application/pdf", headers=headers)


@method_decorator(csrf_exempt, name="dispatch")
class StripeWebhook(View):
    """Accepts a signed event of an account, stores it, and answers at once."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        signature = request.META.get(SIGNATURE)
        if not signature:
            return _plain(400, "No signature")
        account = account_of_webhook(uuid)
        if account is None:
            return _plain(404, "No such account")
        body = _body(request)
        if body is None:
            return _plain(413, "Too large")
        if not verify_signature(body, signature, account.webhook_secret or "", now=time.time()):
            return _plain(400, "Wrong signature")
        notice = read_notice(body)
        if notice is not None and not store_event(account=account, notice=notice, now=database_now()):
            return _plain(429, "Too many events are waiting")
        return _plain(200, "OK")


def _plain(status: int, text: str) -> HttpResponse:
    return HttpResponse(text, status=status, content_type="text/plain; charset=utf-8")


def _body(request: HttpRequest) -> bytes | None:
    """Read the raw body; None if it is too long."""
    length = request.META.get("CONTENT_LENGTH") or ""
    if len(length) > len(str(LONGEST_EVENT)) or int(length if length.isdecimal() else 0) > LONGEST_EVENT:
        return None
    body: bytes = request.read(LONGEST_EVENT + 1)
    return body if len(body) <= LONGEST_EVENT else None


app_name = "pay"
urlpatterns = [
    path("stripe/<id:uuid>", StripeWebhook.as_view(), name="stripe"),
    path("<str:token>", PayPage.as_view(), name="page"),
    path("<str:token>/checkout", PayStart.as_view(), name="start"),
    path("<str:token>/done", PayDone.as_view(), name="done"),
    path("<str:token>/invoice.pdf", PayDocument.as_view(), name="document"),
]
