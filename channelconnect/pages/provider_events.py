"""The endpoint for providers' callbacks: it checks their signature, stores them, and answers at once."""

from typing import Final

from django.http import HttpRequest, HttpResponse
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.csrf import csrf_exempt

from channelconnect.inbox.claims import store_notice
from channelconnect.providers.notices.parsing import json_of
from channelconnect.providers.settings import answer_challenge, provider_settings, verify_signature

# A batch of a thousand updates stays far below this.
LONGEST_BODY: Final = 4 * 1024 * 1024
SIGNATURE: Final = "HTTP_X_HUB_SIGNATURE_256"


@method_decorator(csrf_exempt, name="dispatch")
class ProviderEvents(View):
    """GET proves to the provider that this address is ours; POST accepts a signed callback."""

    http_method_names = ["get", "head", "post"]

    def get(self, request: HttpRequest) -> HttpResponse:
        challenge = answer_challenge(request.GET.dict(), provider_settings().webhook_verify_token)
        return _plain(200, challenge) if challenge is not None else _plain(403, "Forbidden")

    def post(self, request: HttpRequest) -> HttpResponse:
        if SIGNATURE not in request.META:
            return _plain(403, "Forbidden")
        body = _body(request)
        if body is None:
            return _plain(413, "Too large")
        if not verify_signature(body, request.META.get(SIGNATURE), provider_settings().app_secret):
            return _plain(403, "Forbidden")
        if not _is_object(body):
            return _plain(400, "No JSON object")
        store_notice(body=body)
        return _plain(200, "OK")


def _plain(status: int, text: str) -> HttpResponse:
    return HttpResponse(text, status=status, content_type="text/plain; charset=utf-8")


def _body(request: HttpRequest) -> bytes | None:
    """Read the raw body; None if it is too long."""
    length = request.META.get("CONTENT_LENGTH") or ""
    if len(length) > len(str(LONGEST_BODY)) or int(length if length.isdecimal() else 0) > LONGEST_BODY:
        return None
    body: bytes = request.read(LONGEST_BODY + 1)
    return body if len(body) <= LONGEST_BODY else None


def _is_object(body: bytes) -> bool:
    try:
        return isinstance(json_of(body), dict)
    except ValueError:
        return False
