"""What a receiver gets: the envelope, its headers, its signature."""

import hashlib
import hmac
import json
import re
from datetime import datetime
from uuid import UUID

import pytest
from django.db import transaction

from agency.models import Event
from tests.config.http.receivers import Received
from tests.rounds import wait_for_a_round
from tests.tenants import Tenant, a_new_customer
from tests.waiting import until
from tests.webhooks.conftest import StartDispatcher, StartReceiver
from tests.webhooks.delivering import (
    attempted,
    ended,
    in_turn,
    make_due,
    read_delivery,
    record_events,
    status,
    subscribe,
)
from tests.webhooks.dispatcher.test_isolation import Crowd
from webhooks.dispatcher.queues import PER_ENDPOINT
from webhooks.models import DispatcherRun, Endpoint

TRANSPORT_HEADERS = {"host", "accept", "accept-encoding", "content-length"}


def signature_of(secret: str, body: bytes) -> str:
    """HMAC-SHA256 by the book (RFC 2104), not by anybody's HMAC."""
    key = secret.encode().ljust(64, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in key) + body).digest()
    return "sha256=" + hashlib.sha256(bytes(byte ^ 0x5C for byte in key) + inner).hexdigest()


def test_a_new_sub_account_is_announced_in_a_signed_envelope(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver()
    endpoint = subscribe(a, receiver)
    start_dispatcher()
    customer = a.api.post("/workspaces", a_new_customer(name="Café / 漢字")).json()["data"]

    [request] = until(lambda: receiver.requests)

    envelope = json.loads(request.body)
    assert list(envelope) == ["id", "event", "occurred_at", "agency_id", "data"]
    assert str(UUID(envelope["id"])) == envelope["id"]
    assert envelope["event"] == "workspace.created"
    assert envelope["agency_id"] == a.agency.pk
    assert envelope["occurred_at"].endswith("Z")
    assert datetime.fromisoformat(envelope["occurred_at"]).tzinfo is not None
    workspace = {"uuid": customer["uuid"], "name": "Café / 漢字", "status": "active", "plan": None}
    assert envelope["data"] == {"workspace": workspace}
    assert request.line == "POST /hooks HTTP/1.1"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["user-agent"] == "Svc-Agency-Webhooks/1.0"
    assert request.headers["x-svc-event"] == "workspace.created"
    assert request.headers["x-svc-delivery"] == envelope["id"]
    assert request.headers["x-svc-signature"] == signature_of(endpoint["secret"], request.body)
    assert re.fullmatch(r"sha256=[0-9a-f]{64}", request.headers["x-svc-signature"])
    assert_fits_alone(request, endpoint["secret"])


def assert_fits_alone(request: Received, secret: str) -> None:
    """The signature fits by Python's module, too. It fits neither a body with a changed bit nor another secret."""
    sent = request.headers["x-svc-signature"]
    expected = hmac.new(secret.encode(), request.body, hashlib.sha256).hexdigest()
    assert hmac.compare_digest(f"sha256={expected}", sent)
    for position in range(0, len(request.body), 7):
        changed = bytearray(request.body)
        changed[position] ^= 1
        assert signature_of(secret, bytes(changed)) != sent
    assert signature_of(secret[:-1] + "_", request.body) != sent


def test_every_attempt_and_redelivery_carries_the_same_bytes(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver(in_turn([status(500), status(502), status(204), status(204)]))
    subscribe(a, receiver)
    start_dispatcher()
    record_events(a, customer='a "quoted" \\ line\n and 💈')
    for attempts in (1, 2):
        make_due(attempted(a, attempts))
    [delivery] = ended(a)
    again = a.api.post(f"/webhooks/deliveries/{delivery.uuid}/redeliver")
    assert again.status_code == 202
    ended(a, 2)

    requests: list[Received] = receiver.requests
    assert len(requests) == 4
    assert len({request.body for request in requests}) == 1
    assert len({request.headers["x-svc-delivery"] for request in requests}) == 1
    assert len({request.headers["x-svc-signature"] for request in requests}) == 1


def test_only_the_newest_secret_signs_after_rotations_whatever_was_attempted_before(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    """The log shows the headers and the envelope that the receiver got."""
    receiver = start_receiver(in_turn([status(500), status(204)]))
    endpoint = subscribe(a, receiver)
    start_dispatcher()
    secrets = [endpoint["secret"]]
    for _ in range(2):
        rotated = a.api.post(f"/webhooks/{endpoint['uuid']}/rotate-secret").json()["data"]
        secrets.append(rotated["secret"])
    assert len(set(secrets)) == 3
    record_events(a)
    waiting = attempted(a, 1)
    secrets.append(a.api.post(f"/webhooks/{endpoint['uuid']}/rotate-secret").json()["data"]["secret"])
    make_due(waiting)
    [delivery] = ended(a)
    detail = read_delivery(a, delivery)
    first, second = receiver.requests
    for newest, request, attempt in zip(secrets[2:], (first, second), detail["attempts"], strict=True):
        sent = request.headers["x-svc-signature"]
        assert [secret for secret in secrets if signature_of(secret, request.body) == sent] == [newest]
        logged = {name.lower(): value for name, value in attempt["request_headers"].items()}
        assert logged == {name: value for name, value in request.headers.items() if name not in TRANSPORT_HEADERS}
        assert detail["envelope"] == json.loads(request.body)


@pytest.mark.usefixtures("_patient_attempts")
def test_what_is_leased_when_the_secret_rotates_is_signed_with_the_new_one(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    """The first ones are not answered until the dispatcher has seen the rotation."""
    crowd = Crowd()
    receiver = start_receiver(crowd)
    endpoint = subscribe(a, receiver)
    Endpoint.objects.update(last_outcome="success")  # so it gets eight at once
    start_dispatcher()
    record_events(a, 40)
    until(lambda: crowd.now == PER_ENDPOINT, what="the first ones")
    rotated = a.api.post(f"/webhooks/{endpoint['uuid']}/rotate-secret").json()["data"]
    wait_for_a_round(DispatcherRun)
    crowd.let_go.set()
    ended(a, 40)
    signed = [
        [signature_of(one["secret"], request.body) == request.headers["x-svc-signature"] for one in (endpoint, rotated)]
        for request in receiver.requests
    ]
    assert signed == [[True, False]] * PER_ENDPOINT + [[False, True]] * (40 - PER_ENDPOINT)


def test_nothing_is_sent_for_what_was_rolled_back(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver()
    subscribe(a, receiver)
    start_dispatcher()
    with transaction.atomic():
        record_events(a, 30)
        transaction.set_rollback(True)
    record_events(a, customer="After")
    ended(a)
    assert Event.objects.count() == 1
    assert [json.loads(request.body)["data"]["workspace"]["name"] for request in receiver.requests] == ["After"]
