"""The HTTP client that Stripe's library calls through: bounded in time, in size and in tries."""

import time
from collections.abc import Mapping
from io import BytesIO
from typing import Any, Final

import certifi
import pycurl
from django.conf import settings

from workspaces.finance.providers.faults import ProviderFault

CONNECT_SECONDS: Final = 4.0
MOST_BYTES: Final = 1024 * 1024
MOST_CALLS: Final = 3
PAUSE_SECONDS: Final = 0.2
# Stripe had a fault, or the same key is in use at this moment. The same call may succeed.
PASSING: Final = frozenset({409, 500, 502, 503, 504})
# The reason of the fault if an answer has more bytes than are read.
TOO_LONG: Final = "too long"
Answer = tuple[bytes, int, dict[str, str]]


class BoundedClient:
    """Calls until an answer comes or the seconds are over, whatever the other side does.

    Stripe's library needs only `name` and `request_with_retries`. It sends the same idempotency key with each try.
    """

    name = "bounded"

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds

    def request_with_retries(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        post_data: str | None = None,
        max_network_retries: int | None = None,
        *,
        _usage: list[str] | None = None,
    ) -> Answer:
        """Call, and again after a fault that may pass. Raises `ProviderFault`."""
        for number in range(1, MOST_CALLS):
            try:
                answer = self._call(method, url, headers, post_data)
            except ProviderFault as fault:
                if fault.reason == TOO_LONG or not self._may_repeat(number):
                    raise
                continue
            if answer[1] not in PASSING or not self._may_repeat(number):
                return answer
        return self._call(method, url, headers, post_data)

    def _may_repeat(self, number: int) -> bool:
        pause = PAUSE_SECONDS * 2 ** (number - 1)
        if time.monotonic() + pause + PAUSE_SECONDS > self._until:
            return False
        time.sleep(pause)
        return True

    def _call(self, method: str, url: str, headers: Mapping[str, str], post_data: str | None) -> Answer:
        left = self._until - time.monotonic()
        if left <= 0:
            raise ProviderFault("unavailable")
        body, head = _Bounded(), _Bounded()
        curl: Any = pycurl.Curl()
        try:
            for option, value in {**_options(left), **_request(method, url, headers, post_data)}.items():
                curl.setopt(option, value)
            curl.setopt(pycurl.WRITEFUNCTION, body.take)
            curl.setopt(pycurl.HEADERFUNCTION, head.take)
            curl.perform()
            return body.getvalue(), int(curl.getinfo(pycurl.RESPONSE_CODE)), _headers(head.getvalue())
        except pycurl.error as error:
            raise ProviderFault("unavailable", TOO_LONG if body.is_full else "") from error
        finally:
            curl.close()


class _Bounded(BytesIO):
    """Takes data up to a limit; more of it ends the transfer."""

    is_full = False

    def take(self, data: bytes) -> int:
        self.is_full = self.tell() + len(data) > MOST_BYTES
        return 0 if self.is_full else self.write(data)


def _options(seconds: float) -> dict[int, object]:
    """No redirects, proxies, password files or signals; the whole transfer ends in time."""
    return {
        pycurl.FOLLOWLOCATION: 0,
        pycurl.PROTOCOLS: pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS,
        pycurl.PROXY: "",
        pycurl.NETRC: pycurl.NETRC_IGNORED,
        pycurl.NOSIGNAL: 1,
        pycurl.CAINFO: certifi.where(),
        pycurl.SSLVERSION: pycurl.SSLVERSION_TLSv1_2,
        pycurl.TIMEOUT_MS: max(1, int(seconds * 1000)),
        pycurl.CONNECTTIMEOUT_MS: max(1, int(min(seconds, CONNECT_SECONDS) * 1000)),
    }


def _request(method: str, url: str, headers: Mapping[str, str], post_data: str | None) -> dict[int, object]:
    lines = [f"{name}: {value}" for name, value in headers.items()]
    options: dict[int, object] = {pycurl.URL: url, pycurl.HTTPHEADER: [*lines, "Accept-Encoding: identity", "Expect:"]}
    if method == "post":
        return options | {pycurl.POST: 1, pycurl.POSTFIELDS: post_data or ""}
    return options if method == "get" else options | {pycurl.CUSTOMREQUEST: method.upper()}


def _headers(raw: bytes) -> dict[str, str]:
    pairs = (line.partition(":") for line in raw.decode("latin-1").splitlines()[1:])
    return {name.strip().lower(): value.strip() for name, colon, value in pairs if colon}


def api_address() -> str:
    return str(settings.STRIPE_API_URL).rstrip("/")
