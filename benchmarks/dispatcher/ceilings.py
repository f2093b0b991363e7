"""Two upper bounds for the dispatcher: its client's bare loop, and its pipeline without sending."""

import time
from collections.abc import Sequence

from django.conf import settings

from benchmarks import ceilings
from benchmarks.ceilings import send_all
from benchmarks.dispatcher.queue import BODY
from benchmarks.processes import Broken
from config.http.client import HTTPClient
from config.http.guard import VettedTarget, check_without_lookup, parse_target
from config.http.transfer import Request
from webhooks.services.endpoints import new_secret
from webhooks.signing import Signer, headers

EVENT = "workspace.created"
ENVELOPE = "6ffab1ba-6168-4bb4-a91c-5b15385dcb04"
IN_FLIGHT = 128


class NoSending(ceilings.NoSending):
    """Answers every delivery at once with 204."""

    status, head = 204, b"HTTP/1.1 204 No Content\r\nServer: bench\r\n\r\n"


def bare_loop(urls: Sequence[str], requests: int) -> float:
    """Sign and send `requests` requests with the client alone; give the microseconds for each."""
    sender, one = HTTPClient(ca_file=settings.WEBHOOK_CA_FILE or None), Signer(new_secret())
    targets = [_vetted(url) for url in urls]

    def make(key: int) -> Request:
        signature = one.sign(envelope_id=ENVELOPE, timestamp=int(time.time()), body=BODY)
        request_headers = headers(event=EVENT, envelope_id=ENVELOPE, signature=signature)
        return Request(key, targets[key % len(targets)], request_headers, BODY)

    began = time.perf_counter()
    send_all(sender, make, requests=requests, in_flight=IN_FLIGHT)
    return (time.perf_counter() - began) / requests * 1e6


def _vetted(url: str) -> VettedTarget:
    vetted = check_without_lookup(parse_target(url), allowed=settings.WEBHOOK_ALLOWED_NETWORKS)
    if vetted is None:
        raise Broken("The receiver's address was refused.")
    return vetted
