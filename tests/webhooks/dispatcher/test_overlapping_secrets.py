"""A secret that is replaced may sign for up to three more days beside the new one."""

import base64
import hmac
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils.timezone import now
from standardwebhooks import Webhook, WebhookVerificationError

from agency.models import ActivityEntry
from tests import furnished
from tests.agency.console.browsers import at_the_console, hidden, text
from tests.config.http.receivers import Received, Receiver
from tests.tenants import Api, Tenant
from tests.waiting import until
from tests.webhooks.conftest import StartDispatcher, StartReceiver
from tests.webhooks.delivering import read_delivery, record_events, subscribe
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from webhooks.models import Delivery, Endpoint
from webhooks.services.endpoints import new_secret
from webhooks.services.partitions import erase_previous_secrets
from webhooks.signing import Signature, Signer

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db


def rotate(api: Api, uuid: str, **body: Any) -> Any:
    return api.post(f"/webhooks/{uuid}/rotate-secret", body)


def next_request(a: Tenant, receiver: Receiver) -> Received:
    seen = len(receiver.requests)
    record_events(a)
    until(lambda: len(receiver.requests) > seen)
    return receiver.requests[-1]


def verifies(secret: str, request: Received) -> bool:
    try:
        Webhook(secret).verify(request.body, request.headers)
    except WebhookVerificationError:
        return False
    return True


def signs_the_body(secret: str, request: Received) -> bool:
    expected = hmac.new(secret.encode(), request.body, "sha256").hexdigest()
    return request.headers["x-svc-signature"] == f"sha256={expected}"


@pytest.mark.django_db(transaction=True)
def test_while_both_count_a_delivery_holds_two_signatures_and_the_header_of_ours_is_the_new_secret_s(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver()
    endpoint = subscribe(a, receiver)
    start_dispatcher()
    first = next_request(a, receiver)
    assert " " not in first.headers["webhook-signature"]
    old = endpoint["secret"]
    new = rotate(a.api, endpoint["uuid"], overlap_hours=24).json()["data"]["secret"]

    both = next_request(a, receiver)
    assert [part[:3] for part in both.headers["webhook-signature"].split(" ")] == ["v1,", "v1,"]
    assert (verifies(old, both), verifies(new, both)) == (True, True)
    assert (signs_the_body(old, both), signs_the_body(new, both)) == (False, True)
    delivery = until(Delivery.objects.filter(envelope_id=both.headers["webhook-id"], status="success").first)
    [attempt] = read_delivery(a, delivery)["attempts"]
    assert attempt["request_headers"]["webhook-signature"] == both.headers["webhook-signature"]

    newest = rotate(a.api, endpoint["uuid"], overlap_hours=1).json()["data"]["secret"]
    two = next_request(a, receiver)
    assert [verifies(secret, two) for secret in (old, new, newest)] == [False, True, True]

    alone = rotate(a.api, endpoint["uuid"]).json()["data"]["secret"]
    one = next_request(a, receiver)
    assert [verifies(secret, one) for secret in (old, new, newest, alone)] == [False, False, False, True]
    assert " " not in one.headers["webhook-signature"]


@pytest.mark.django_db(transaction=True)
def test_the_old_secret_ends_by_the_database_s_clock_though_nobody_edits_anything(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver()
    endpoint = subscribe(a, receiver)
    old, new = endpoint["secret"], rotate(a.api, endpoint["uuid"], overlap_hours=1).json()["data"]["secret"]
    Endpoint.objects.filter(uuid=endpoint["uuid"]).update(previous_secret_until=now() + timedelta(seconds=2))
    start_dispatcher()
    until(lambda: not verifies(old, last := next_request(a, receiver)) and verifies(new, last))
    assert Endpoint.objects.get(uuid=endpoint["uuid"]).previous_secret == old


@pytest.mark.parametrize("surface", ["agency", "workspace"])
def test_other_hours_are_refused_and_change_nothing(a: Tenant, surface: str) -> None:
    api: Api = a.api if surface == "agency" else a.workspace_api
    body: dict[str, Any] = {"url": "https://93.184.215.14/hooks"}
    body |= {"events": ["workspace.created"]} if surface == "agency" else {"topics": ["product.updated"]}
    made = api.post("/webhooks", body).json()["data"]
    uuid = made["uuid" if surface == "agency" else "id"]
    for hours in (-1, 73, "24", 1.5, True, [1]):
        answer = rotate(api, uuid, overlap_hours=hours)
        assert (answer.status_code, list(answer.json()["errors"])) == (422, ["overlap_hours"]), hours
    assert Endpoint.objects.get(uuid=uuid).secret == made["secret"]
    for taken in (0, 72, None):
        assert rotate(api, uuid, overlap_hours=taken).status_code == 200
    assert api.post(f"/webhooks/{uuid}/rotate-secret").status_code == 200


def test_the_old_secret_is_encrypted_while_it_counts_and_erased_after(a: Tenant) -> None:
    old = a.endpoint.secret
    assert old
    assert rotate(a.api, str(a.endpoint.uuid), overlap_hours=72).status_code == 200
    kept = Endpoint.objects.get(pk=a.endpoint.pk)
    assert kept.previous_secret == old
    assert kept.previous_secret_until is not None
    assert abs(kept.previous_secret_until - now() - timedelta(hours=72)) < timedelta(minutes=1)
    with connection.cursor() as cursor:
        cursor.execute("SELECT encode(previous_secret, 'escape') FROM webhooks_endpoint WHERE id = %s", [kept.pk])
        assert old.removeprefix("whsec_") not in cursor.fetchone()[0]
    assert erase_previous_secrets() == 0
    Endpoint.objects.filter(pk=kept.pk).update(previous_secret_until=now() - timedelta(seconds=1))
    assert erase_previous_secrets() == 1
    erased = Endpoint.objects.get(pk=kept.pk)
    assert (erased.previous_secret, erased.previous_secret_until) == (None, None)
    assert erased.secret == kept.secret
    entry = ActivityEntry.objects.filter(action="webhook.secret_rotated").latest("id")
    assert entry.details == {"overlap_hours": 72}


def test_removing_forgets_both_and_rotating_at_once_the_old_one(a: Tenant) -> None:
    rotate(a.api, str(a.endpoint.uuid), overlap_hours=5)
    rotate(a.api, str(a.endpoint.uuid))
    assert Endpoint.objects.get(pk=a.endpoint.pk).previous_secret is None
    rotate(a.api, str(a.endpoint.uuid), overlap_hours=5)
    a.api.delete(f"/webhooks/{a.endpoint.uuid}")
    gone = Endpoint.objects.get(pk=a.endpoint.pk)
    assert (gone.secret, gone.previous_secret, gone.previous_secret_until) == (None, None, None)


@pytest.mark.django_db(transaction=True)
def test_another_overlap_is_another_request_under_the_same_key(a: Tenant) -> None:
    path = f"/webhooks/{a.endpoint.uuid}/rotate-secret"
    first = a.api.post(path, {"overlap_hours": 5}, idempotency_key="rotate")
    again = a.api.post(path, {"overlap_hours": 5}, idempotency_key="rotate")
    assert first.json() == again.json()
    assert a.api.post(path, {"overlap_hours": 6}, idempotency_key="rotate").status_code == 409


@pytest.mark.parametrize("area", ["console", "app"])
def test_people_choose_it_on_the_page(a: Tenant, area: str) -> None:
    browser: Client
    if area == "console":
        browser, uuid = at_the_console(a.agency), str(a.endpoint.uuid)
    else:
        made = a.workspace_api.post("/webhooks", {"url": "https://93.184.215.14/x", "topics": ["product.updated"]})
        browser, uuid = dashboard_client(a.workspace), made.json()["data"]["id"]
    path = f"/{area}/webhooks/{uuid}/rotate"
    old = Endpoint.objects.get(uuid=uuid).secret
    answer = browser.post(path, {"overlap_hours": "24", "nonce": hidden(browser.get(path), "nonce")})
    assert "The old secret also stays valid until" in text(answer)
    assert Endpoint.objects.get(uuid=uuid).previous_secret == old
    assert "The old secret also stays valid until" in text(browser.get(f"/{area}/webhooks/{uuid}"))
    answer = browser.post(path, {"overlap_hours": "0", "nonce": hidden(browser.get(path), "nonce")})
    assert "The old secret no longer works" in text(answer)
    assert Endpoint.objects.get(uuid=uuid).previous_secret is None


def test_both_signatures_are_kept_with_an_attempt() -> None:
    signature = Signer(new_secret()).sign(envelope_id="x", timestamp=2**31 + 1, body=b"{}")
    both = signature._replace(previous_message=bytes(32))
    for one in (signature, both):
        assert Signature.unpack(one.pack()) == one
    assert base64.b64encode(bytes(32)).decode() in str(both.message_signatures)
