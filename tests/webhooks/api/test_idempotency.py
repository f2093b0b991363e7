"""`Idempotency-Key` on whatever registers, sends and replaces: done once, and no secret kept."""

from typing import Any

import pytest
from django.db import connection

from agency.models import ActivityEntry
from config.api.models import IdempotencyRecord
from tests import furnished
from tests.factories.webhooks import a_failed_delivery, an_endpoint
from tests.tenants import Tenant
from tests.webhooks.conftest import Names
from webhooks.models import Delivery, Endpoint

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
NEW = {"url": "https://93.184.215.14/hooks", "events": ["workspace.created"]}
KEY = {"idempotency_key": "k-1"}


def stored() -> bytes:
    with connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(string_agg(body, ''), '') FROM api_idempotencyrecord")
        return bytes(cursor.fetchone()[0])


def test_a_repeated_registration_gives_the_first_answer_with_its_secret_which_is_not_kept(a: Tenant) -> None:
    first, again = (a.api.post("/webhooks", NEW, **KEY) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert again["Idempotent-Replayed"] == "true"
    assert Endpoint.objects.of(a.agency).count() == 1
    secret = first.json()["data"]["secret"]
    assert secret.startswith("whsec_")
    assert secret.encode() not in stored()


def test_a_used_key_with_another_body_is_409_whatever_is_wrong_with_it(a: Tenant) -> None:
    assert a.api.post("/webhooks", NEW, **KEY).status_code == 201
    for body in ({}, {"url": "ftp://x", "events": []}, {**NEW, "unknown": 1}, {**NEW, "enabled": "yes"}):
        assert a.api.post("/webhooks", body, **KEY).status_code == 409, body
    assert Endpoint.objects.of(a.agency).count() == 1


def test_a_refused_registration_is_not_remembered(a: Tenant) -> None:
    for refused in ({"url": "http://10.0.0.1/"}, {**NEW, "url": "http://10.0.0.1/"}):
        assert a.api.post("/webhooks", refused, **KEY).status_code == 422
    assert IdempotencyRecord.objects.count() == 0
    assert a.api.post("/webhooks", NEW, **KEY).status_code == 201


def test_a_repeated_registration_looks_no_name_up(a: Tenant, names: Names) -> None:
    names["hooks.acme.io"] = ["93.184.215.14"]
    body = {**NEW, "url": "https://hooks.acme.io/in"}
    first = a.api.post("/webhooks", body, **KEY)
    names["hooks.acme.io"] = OSError("nobody answers")
    assert a.api.post("/webhooks", body, **KEY).json() == first.json()


def test_a_registration_whose_endpoint_is_gone_is_404(a: Tenant) -> None:
    made = a.api.post("/webhooks", NEW, **KEY).json()["data"]
    a.api.delete(f"/webhooks/{made['uuid']}")
    assert a.api.post("/webhooks", NEW, **KEY).status_code == 404


def test_a_repeated_rotation_replaces_the_secret_once(a: Tenant) -> None:
    endpoint = an_endpoint(a)
    path = f"/webhooks/{endpoint.uuid}/rotate-secret"
    first, again = (a.api.post(path, **KEY) for _ in range(2))
    assert first.json() == again.json()
    assert first.json()["data"]["secret"] != endpoint.secret
    assert ActivityEntry.objects.filter(action="webhook.secret_rotated").count() == 1
    assert first.json()["data"]["secret"].encode() not in stored()
    assert a.api.post(path, idempotency_key="k-2").json() != first.json()


def test_a_test_and_a_redelivery_are_sent_once(a: Tenant) -> None:
    failed = a_failed_delivery(a)
    for path in (f"/webhooks/{failed.endpoint.uuid}/test", f"/webhooks/deliveries/{failed.uuid}/redeliver"):
        key = {"idempotency_key": path}
        first, again = (a.api.post(path, **key) for _ in range(2))
        assert first.status_code == again.status_code == 202
        assert first.content == again.content
        assert a.api.post(path, {"unknown": 1}, **key).status_code == 409
    assert Delivery.objects.count() == 3


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/packs", lambda a: {"name": "Starter"}),
        ("/packs/{pack}/entries", lambda a: {"template_id": "salons-birthday-offer"}),
        ("/workspaces/{workspace}/addons", lambda a: {"addon": str(a.addon.uuid)}),
    ],
)
def test_whatever_else_creates_does_so_once(a: Tenant, path: str, body: Any) -> None:
    address = path.format(pack=a.pack.uuid, workspace=a.workspace.uuid)
    first, again = (a.api.post(address, body(a), **KEY) for _ in range(2))
    assert first.status_code == again.status_code == 201
    assert first.content == again.content
    assert a.api.post(address, {}, **KEY).status_code == 409
