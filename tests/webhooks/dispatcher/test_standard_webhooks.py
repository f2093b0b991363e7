"""Real deliveries, verified by the package that receivers use."""

import base64
import json
import time
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from standardwebhooks import Webhook, WebhookVerificationError

from tests.config.http.receivers import Received
from tests.tenants import Tenant
from tests.waiting import until
from tests.webhooks.conftest import StartDispatcher, StartReceiver
from tests.webhooks.delivering import attempted, ended, in_turn, make_due, record_events, status, subscribe
from tests.webhooks.workspaces import DATA, record_for, subscribe_workspace, tenant_of
from webhooks.models import Endpoint
from webhooks.services.endpoints import new_secret
from webhooks.signing import SECRET_PREFIX, Signature, Signer

pytestmark = pytest.mark.usefixtures("_contact_events")


def refuses(secret: str, request: Received, why: str, *, body: bytes = b"", **headers: str) -> None:
    """Expect that the delivery, changed like this, does not verify."""
    changed = request.headers | {name.replace("_", "-"): value for name, value in headers.items()}
    with pytest.raises(WebhookVerificationError, match=why):
        Webhook(secret).verify(body or request.body, changed)


def test_a_delivery_verifies_as_it_came_and_says_when_it_was_signed(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    """It does not with another body, other headers or another secret, or when it is old."""
    receiver = start_receiver()
    secret = subscribe(a, receiver)["secret"]
    start_dispatcher()
    record_events(a, customer="Café / 漢字")
    [request] = until(lambda: receiver.requests)
    event = Webhook(secret).verify(request.body, request.headers)
    assert event == json.loads(request.body)
    assert request.headers["webhook-id"] == event["id"]
    recorded_at = datetime.fromisoformat(event["occurred_at"]).timestamp()
    assert int(recorded_at) <= int(request.headers["webhook-timestamp"]) <= time.time()
    assert request.headers["webhook-signature"].startswith("v1,")
    refuses(secret, request, "signature", body=request.body.replace(b"Caf", b"Kaf"))
    half_a_minute_ago = str(int(time.time()) - 30)
    refuses(secret, request, "signature", webhook_id=half_a_minute_ago)
    refuses(secret, request, "signature", webhook_timestamp=half_a_minute_ago)
    refuses(new_secret(), request, "signature")
    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=6)):
        refuses(secret, request, "old")


def test_each_attempt_is_signed_at_its_own_time_and_the_log_shows_it(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver(in_turn([status(500), status(204)]))
    endpoint = subscribe(a, receiver)
    start_dispatcher()
    record_events(a)
    waiting = attempted(a, 1)
    time.sleep(1.1)
    make_due(waiting)
    [delivery] = ended(a)
    for request in receiver.requests:
        Webhook(endpoint["secret"]).verify(request.body, request.headers)
    sent = [request.headers["webhook-timestamp"] for request in receiver.requests]
    shown = [attempt.request_headers["webhook-timestamp"] for attempt in delivery.attempt_log.order_by("number")]
    assert int(sent[0]) < int(sent[1])
    assert shown == sent


def test_a_secret_of_the_first_form_signs_both_ways(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    key = bytes.fromhex("fb") * 32  # with all that is written differently in URLs
    old = SECRET_PREFIX + base64.urlsafe_b64encode(key).decode().rstrip("=")
    receiver = start_receiver()
    subscribe(a, receiver)
    endpoint = Endpoint.objects.get()
    endpoint.secret = old
    endpoint.save(update_fields=["secret"])
    start_dispatcher()
    record_events(a)
    [request] = until(lambda: receiver.requests)
    assert len(old) == len(SECRET_PREFIX) + 43
    assert "-" in old
    Webhook(key).verify(request.body, request.headers)
    signed = Signer(old).sign(envelope_id="", timestamp=0, body=request.body)
    assert request.headers["x-svc-signature"] == f"sha256={signed.body.hex()}"


def test_a_workspaces_delivery_verifies_and_names_the_workspace(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver()
    endpoint = subscribe_workspace(a.workspace, receiver)
    start_dispatcher()
    record_for([tenant_of(a.workspace)])
    [request] = until(lambda: receiver.requests)
    event = Webhook(endpoint.secret or "").verify(request.body, request.headers)
    assert list(event) == ["id", "event", "occurred_at", "workspace_id", "data"]
    assert event["workspace_id"] == str(a.workspace.uuid)
    assert event["data"] == DATA
    assert request.headers["user-agent"] == "Svc-Workspace-Webhooks/1.0"


def test_a_signature_is_kept_whole() -> None:
    signature = Signer(new_secret()).sign(envelope_id="x", timestamp=2**31 + 1, body=b"{}")
    assert Signature.unpack(signature.pack()) == signature
    assert len(signature.pack()) == 72


@pytest.mark.parametrize("secret", ["whsec_ü", "whsec_a", "whsec_not base64!"])
def test_what_is_no_secret_signs_nothing(secret: str) -> None:
    with pytest.raises(ValueError, match=r"ASCII|data"):
        Signer(secret)
