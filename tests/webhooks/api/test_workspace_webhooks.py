"""A workspace's own webhooks over its API: its words, its topics, its log, and nobody else's."""

import json

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Event
from tests import furnished
from tests.factories import ProductFactory
from tests.tenants import Tenant, message
from webhooks.models import Delivery, Endpoint
from webhooks.services.endpoints import register_endpoint
from workspaces.subaccounts.services import record_workspace_event, suspend_workspace, tenant_of

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
BODY = {"url": "https://93.184.215.14/shop", "topics": ["product.updated", "product.created"]}


def test_an_endpoint_has_an_id_and_topics(a: Tenant) -> None:
    made = a.workspace_api.post("/webhooks", BODY).json()["data"]

    assert list(made)[:3] == ["id", "url", "topics"]
    assert made["topics"] == BODY["topics"]
    assert made["secret"].startswith("whsec_")
    assert "uuid" not in made
    assert "events" not in made
    endpoint = Endpoint.objects.get(uuid=made["id"])
    assert (endpoint.workspace_id, endpoint.workspace_uuid) == (a.workspace.pk, a.workspace.uuid)
    shown = a.workspace_api.get(f"/webhooks/{made['id']}").json()["data"]
    assert shown == {name: value for name, value in made.items() if name != "secret"}
    changed = a.workspace_api.patch(f"/webhooks/{made['id']}", {"topics": ["product.deleted"], "enabled": False})
    assert (changed.json()["data"]["topics"], changed.json()["data"]["enabled"]) == (["product.deleted"], False)


def test_the_topics_are_those_of_workspaces_and_no_other_is_taken(a: Tenant) -> None:
    topics = a.workspace_api.get("/webhooks/topics").json()["data"]

    assert {"topic": "product.updated", "label": "Product changed", "group": "Products"} in topics
    assert not [one for one in topics if one["topic"].startswith("workspace.")]
    for refused in ("workspace.created", "nothing.happened", ""):
        answer = a.workspace_api.post("/webhooks", BODY | {"topics": [refused]})
        assert answer.status_code == 422
        assert list(answer.json()["errors"]) == ["topics.0"]
    assert list(a.workspace_api.post("/webhooks", {"url": BODY["url"]}).json()["errors"]) == ["topics"]
    assert a.api.post("/webhooks", {"url": BODY["url"], "events": ["product.updated"]}).status_code == 422


def test_neither_an_agency_nor_a_neighbour_sees_it(a: Tenant, b: Tenant) -> None:
    made = a.workspace_api.post("/webhooks", BODY).json()["data"]
    own = a.endpoint

    assert [one["uuid"] for one in a.api.get("/webhooks").json()["data"]] == [str(own.uuid)]
    assert [one["id"] for one in a.workspace_api.get("/webhooks").json()["data"]] == [made["id"]]
    for api, uuid in ((a.api, made["id"]), (b.workspace_api, made["id"]), (a.workspace_api, own.uuid)):
        refused = api.get(f"/webhooks/{uuid}")
        assert (refused.status_code, message(refused)) == (404, "Webhook not found.")


def test_a_repeated_registration_answers_with_its_secret_again(a: Tenant) -> None:
    first, again = (a.workspace_api.post("/webhooks", BODY, idempotency_key="one") for _ in range(2))

    assert first.json() == again.json()
    assert Endpoint.objects.filter(workspace_id=a.workspace.pk).count() == 1


def test_a_test_and_its_delivery_are_in_the_workspace_s_log_alone(a: Tenant, b: Tenant) -> None:
    made = a.workspace_api.post("/webhooks", BODY).json()["data"]

    tested = a.workspace_api.post(f"/webhooks/{made['id']}/test", {"event": "product.created"}).json()["data"]

    assert tested["webhook"] == {"id": made["id"], "url": BODY["url"]}
    assert (tested["event"], tested["test"], tested["status"]) == ("product.created", True, "pending")
    for path in ("/webhooks/deliveries", f"/webhooks/{made['id']}/deliveries"):
        assert [one["id"] for one in a.workspace_api.get(path).json()["data"]] == [tested["id"]]
    shown = a.workspace_api.get(f"/webhooks/deliveries/{tested['id']}").json()["data"]
    assert shown["envelope"]["workspace_id"] == str(a.workspace.uuid)
    assert shown["envelope"]["test"] is True
    assert a.api.get("/webhooks/deliveries").json()["data"] == []
    for api in (a.api, b.workspace_api):
        assert api.get(f"/webhooks/deliveries/{tested['id']}").status_code == 404
    again = a.workspace_api.post(f"/webhooks/deliveries/{tested['id']}/redeliver")
    assert again.status_code == 202
    assert Delivery.objects.filter(workspace_id=a.workspace.pk).count() == 2


def test_a_replay_takes_topics(a: Tenant) -> None:
    made = a.workspace_api.post("/webhooks", BODY).json()["data"]
    replay = f"/webhooks/{made['id']}/replay"
    since = {"since": "2026-11-20T00:00:00Z", "status": "all"}

    assert a.workspace_api.post(replay, since | {"topics": ["product.updated"]}).json() == {"data": {"count": 0}}
    refused = a.workspace_api.post(replay, since | {"topics": ["workspace.created"]})
    assert list(refused.json()["errors"]) == ["topics.0"]
    other = a.workspace_api.post(replay, since | {"events": ["product.updated"]})
    told = {"events": ["This API calls them topics: there is no events field."]}
    assert (other.status_code, other.json()["errors"]) == (422, told)
    assert a.workspace_api.post(replay, since | {"events": None}).status_code == 202


def test_its_lists_hold_links_and_meta(a: Tenant) -> None:
    endpoints = Endpoint.objects.bulk_create(
        Endpoint(
            agency=a.agency,
            workspace_id=a.workspace.pk,
            workspace_uuid=a.workspace.uuid,
            url="https://93.184.215.14/shop",
            events=["product.created"],
            secret="whsec_x",
        )
        for _ in range(30)
    )
    made = [str(one.uuid) for one in endpoints]
    whole = a.workspace_api.get("/webhooks").json()
    assert [one["id"] for one in whole["data"]] == made
    assert (whole["meta"]["total"], whole["meta"]["last_page"], whole["links"]["next"]) == (30, 1, None)
    page = a.workspace_api.get("/webhooks?per_page=20&page=2").json()
    assert ([one["id"] for one in page["data"]], page["meta"]["per_page"]) == (made[20:], 20)
    topics = a.workspace_api.get("/webhooks/topics").json()
    assert (topics["meta"]["total"], topics["links"]["next"]) == (len(topics["data"]), None)
    page = a.workspace_api.get("/webhooks/topics?limit=10&page=2").json()
    assert page["data"] == topics["data"][10:20]
    assert set(a.api.get("/webhooks").json()) == {"data"}


def test_an_event_of_a_suspended_workspace_is_recorded_like_that_of_an_agency(a: Tenant) -> None:
    """Suspension closes the API and the pages; what happened meanwhile is told, as integrations count on it."""
    register_endpoint(tenant=tenant_of(a.workspace), url=str(BODY["url"]), events=["product.updated"], by=SYSTEM)
    product = ProductFactory.create(workspace=a.workspace)
    suspend_workspace(workspace=a.workspace, now=now(), by=SYSTEM)

    record_workspace_event(workspace=a.workspace, name="product.updated", now=now(), product=product, changes={})

    recorded = json.loads(bytes(Event.objects.get(workspace_id=a.workspace.pk, name="product.updated").body))
    assert recorded["event"] == "product.updated"


@pytest.mark.parametrize("past", [False, True])
def test_a_workspace_has_at_most_a_hundred(a: Tenant, past: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webhooks.services.endpoints.MOST_ENDPOINTS", 1)
    a.api.post("/webhooks", {"url": BODY["url"], "events": ["workspace.created"]})
    if past:
        a.workspace_api.post("/webhooks", BODY)

    answer = a.workspace_api.post("/webhooks", BODY)

    assert answer.status_code == (403 if past else 201)
    if past:
        assert message(answer) == "The webhook limit is reached."
