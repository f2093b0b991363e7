"""Endpoints over the API: register, list, read, edit, remove, rotate the secret."""

import json
import re
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils.timezone import now

from agency.models import ActivityEntry
from tests import furnished
from tests.factories.webhooks import a_failed_delivery
from tests.parallel import at_once
from tests.tenants import Tenant
from tests.webhooks.conftest import Names
from webhooks.models import Endpoint
from webhooks.services.endpoints import check_endpoint_url

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
URL = "https://93.184.215.14/hooks"
NEW = {"url": URL, "events": ["workspace.created"]}
FIELDS = [
    "uuid",
    "url",
    "events",
    "description",
    "enabled",
    "last_outcome",
    "last_delivery_at",
    "created_at",
    "retries",
]
MISSING = "/webhooks/00000000-0000-4000-8000-000000000000"
UNREACHABLE = "The URL's host must be publicly reachable."


def registered(tenant: Tenant, **fields: Any) -> dict[str, Any]:
    response = tenant.api.post("/webhooks", {**NEW, **fields})
    assert response.status_code == 201, response.content
    endpoint: dict[str, Any] = response.json()["data"]
    return endpoint


def refused(response: Any) -> dict[str, list[str]]:
    assert response.status_code == 422, response.content
    errors: dict[str, list[str]] = response.json()["errors"]
    return errors


def test_the_catalogue_lists_the_six_lifecycle_events(a: Tenant) -> None:
    catalogue = a.api.get("/webhooks/events").json()["data"]
    assert [entry["event"] for entry in catalogue] == [
        "workspace.created",
        "workspace.suspended",
        "workspace.restored",
        "subscription.changed",
        "addon.granted",
        "addon.revoked",
    ]
    assert all(sorted(entry) == ["event", "label"] and entry["label"] for entry in catalogue)


def test_a_new_endpoint_shows_its_secret_once(a: Tenant) -> None:
    endpoint = registered(a, description="CRM", events=["addon.granted", "workspace.created"])
    assert list(endpoint) == [*FIELDS, "secret"]
    assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", endpoint["secret"])
    assert endpoint["url"] == URL
    assert endpoint["events"] == ["addon.granted", "workspace.created"]
    assert endpoint["description"] == "CRM"
    assert endpoint["enabled"] is True
    assert endpoint["last_outcome"] is None
    assert endpoint["last_delivery_at"] is None
    assert endpoint["created_at"].endswith("Z")
    read = a.api.get(f"/webhooks/{endpoint['uuid']}").json()["data"]
    [listed] = a.api.get("/webhooks").json()["data"]
    assert read == listed == {name: endpoint[name] for name in FIELDS}


def test_secrets_differ_and_are_kept_encrypted(a: Tenant) -> None:
    secrets = {registered(a)["secret"] for _ in range(3)}
    assert len(secrets) == 3
    with connection.cursor() as cursor:
        cursor.execute("SELECT secret FROM webhooks_endpoint")
        stored = b"".join(bytes(row[0]) for row in cursor.fetchall())
    assert not [secret for secret in secrets if secret.encode() in stored]
    dumped = json.dumps(list(ActivityEntry.objects.values()), default=str)
    assert not [secret for secret in secrets if secret in dumped]


def test_optional_fields_may_be_left_out(a: Tenant) -> None:
    endpoint = registered(a, enabled=False)
    assert (endpoint["description"], endpoint["enabled"]) == (None, False)
    assert registered(a, description=None)["description"] is None


def test_events_named_twice_count_once(a: Tenant) -> None:
    events = ["addon.granted", "workspace.created", "addon.granted"]
    assert registered(a, events=events)["events"] == ["addon.granted", "workspace.created"]


UNFITTING: list[tuple[dict[str, Any], str]] = [
    ({"url": None}, "url"),
    ({"url": ""}, "url"),
    ({"url": 5}, "url"),
    ({"url": "hooks"}, "url"),
    ({"url": "ftp://93.184.215.14/"}, "url"),
    ({"url": "https://93.184.215.14/" + "x" * 2048}, "url"),
    ({"url": "https://user:pass@93.184.215.14/"}, "url"),
    ({"url": "https://93.184.215.14:22/"}, "url"),
    ({"events": None}, "events"),
    ({"events": []}, "events"),
    ({"events": "workspace.created"}, "events"),
    ({"events": ["workspace.deleted"]}, "events.0"),
    ({"events": ["workspace.created", "channel.connection.failed"]}, "events.1"),
    ({"events": [7]}, "events.0"),
    ({"description": "x" * 201}, "description"),
    ({"description": 1}, "description"),
    ({"enabled": "yes"}, "enabled"),
]


def test_values_that_do_not_fit_are_refused_by_field_and_everything_missing_is_named_at_once(a: Tenant) -> None:
    for fields, field in UNFITTING:
        assert list(refused(a.api.post("/webhooks", {**NEW, **fields}))) == [field], fields
    response = a.api.post("/webhooks", {})
    assert list(refused(response)) == ["url", "events"]
    assert response.json()["message"] == "The url field is required. (and 1 more error)"
    assert not Endpoint.objects.exists()


INTERNAL = (
    "http://127.0.0.1/",
    "http://10.0.0.1/",
    "https://[::1]/",
    "http://169.254.169.254/latest",
    "https://[fe80::1]/",
    "http://192.168.1.1:8080/",
    "https://100.64.0.1/",
    "http://[::ffff:127.0.0.1]/",
    "http://0.0.0.0/",
)


def test_an_internal_address_is_refused_wherever_it_is_sent(a: Tenant, settings: Any) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = []
    path = f"/webhooks/{registered(a)['uuid']}"
    for url in INTERNAL:
        for response in (a.api.post("/webhooks", {**NEW, "url": url}), a.api.patch(path, {**NEW, "url": url})):
            assert refused(response) == {"url": [UNREACHABLE]}, url
    assert Endpoint.objects.get().url == URL


def test_a_test_checks_the_url_like_a_registration(a: Tenant, names: Names, settings: Any) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = []
    names["hooks.acme.io"] = ["93.184.215.14"]
    endpoint = registered(a, url="https://hooks.acme.io/")
    names["hooks.acme.io"] = ["93.184.215.14", "10.0.0.1"]
    assert refused(a.api.post(f"/webhooks/{endpoint['uuid']}/test")) == {"url": [UNREACHABLE]}


def test_a_name_without_addresses_or_that_cannot_be_looked_up_is_refused(a: Tenant, names: Names) -> None:
    names["hooks.acme.io"] = []
    told = {"url": ["The URL's host has no address right now."]}
    assert refused(a.api.post("/webhooks", {**NEW, "url": "https://hooks.acme.io/"})) == told
    names["hooks.acme.io"] = ["93.184.215.14"]
    endpoint = registered(a, url="https://hooks.acme.io/")
    names["hooks.acme.io"] = []
    assert refused(a.api.post(f"/webhooks/{endpoint['uuid']}/test")) == told
    names["hooks.acme.io"] = OSError("down")
    [sentence] = refused(a.api.post("/webhooks", {**NEW, "url": "https://hooks.acme.io/"}))["url"]
    assert sentence == "The URL's host could not be looked up. Try again in a moment."


def test_the_check_gives_the_address_to_connect_to(names: Names) -> None:
    names["hooks.acme.io"] = ["93.184.215.14"]
    vetted = check_endpoint_url("https://hooks.acme.io/x")
    assert (vetted.target.host, vetted.addresses) == ("hooks.acme.io", ("93.184.215.14",))


def test_only_what_is_sent_is_changed(a: Tenant) -> None:
    endpoint = registered(a, description="CRM")
    path = f"/webhooks/{endpoint['uuid']}"
    before = {name: endpoint[name] for name in FIELDS}
    for changes in (
        {"description": "New CRM"},
        {"events": ["addon.revoked"]},
        {"enabled": False},
        {"retries": "extended"},
        {"url": "https://93.184.215.14/other"},
        {"description": None},
        {},
    ):
        before |= changes
        response = a.api.patch(path, changes)
        assert (response.status_code, response.json()["data"]) == (200, before)
    assert a.api.get(path).json()["data"] == before


def test_an_edit_is_refused_like_a_registration(a: Tenant) -> None:
    path = f"/webhooks/{registered(a)['uuid']}"
    assert list(refused(a.api.patch(path, {"events": []}))) == ["events"]
    assert list(refused(a.api.patch(path, {"events": ["x"], "enabled": 3}))) == ["events.0", "enabled"]
    assert list(refused(a.api.patch(path, {"url": "x"}))) == ["url"]


def test_a_removed_endpoint_is_gone_and_its_secret_with_it(a: Tenant) -> None:
    endpoint = registered(a)
    path = f"/webhooks/{endpoint['uuid']}"
    response = a.api.delete(path)
    assert (response.status_code, response.json()) == (200, {"data": {"deleted": True}})
    assert a.api.get("/webhooks").json() == {"data": []}
    for again in (a.api.get(path), a.api.delete(path), a.api.patch(path, {}), a.api.post(f"{path}/rotate-secret")):
        assert (again.status_code, again.json()) == (404, {"message": "Webhook not found."})
    assert Endpoint.objects.get(uuid=endpoint["uuid"]).secret is None


def test_rotating_shows_a_new_secret_once(a: Tenant) -> None:
    endpoint = registered(a)
    path = f"/webhooks/{endpoint['uuid']}"
    rotated = a.api.post(f"{path}/rotate-secret")
    assert rotated.status_code == 200
    assert rotated.json()["data"] == {**endpoint, "secret": rotated.json()["data"]["secret"]}
    assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", rotated.json()["data"]["secret"])
    assert rotated.json()["data"]["secret"] != endpoint["secret"]
    assert "secret" not in a.api.get(path).json()["data"]


OPERATIONS = [
    ("GET", ""),
    ("PATCH", ""),
    ("DELETE", ""),
    ("POST", "/rotate-secret"),
    ("POST", "/test"),
    ("GET", "/deliveries"),
]


def test_an_endpoint_of_another_agency_reads_like_none(a: Tenant, b: Tenant) -> None:
    foreign = f"/webhooks/{registered(b)['uuid']}"
    for method, suffix in OPERATIONS:
        for path in (foreign, MISSING, "/webhooks/nonsense"):
            response = a.api.call(method, path + suffix, {} if method in {"PATCH", "POST"} else b"")
            assert response.status_code == 404, (method, path + suffix)
            if path != "/webhooks/nonsense":
                assert response.json() == {"message": "Webhook not found."}, (method, path + suffix)


def test_endpoints_are_listed_oldest_first_and_only_ones_own(a: Tenant, b: Tenant) -> None:
    ours = [registered(a, description=str(number))["uuid"] for number in range(5)]
    registered(b)
    assert [endpoint["uuid"] for endpoint in a.api.get("/webhooks").json()["data"]] == ours


def test_the_list_costs_the_same_for_one_and_for_many(a: Tenant, django_assert_num_queries: Any) -> None:
    hold(a, 10)
    with django_assert_num_queries(2):
        assert len(a.api.get("/webhooks").json()["data"]) == 10


def test_every_change_is_in_the_activity(a: Tenant) -> None:
    path = f"/webhooks/{registered(a)['uuid']}"
    a.api.patch(path, {"description": "New"})
    a.api.patch(path, {"description": "New"})
    a.api.post(f"{path}/rotate-secret")
    a.api.delete(path)
    actions = (
        ActivityEntry.objects.filter(action__startswith="webhook.").order_by("id").values_list("action", flat=True)
    )
    assert list(actions) == ["webhook.created", "webhook.changed", "webhook.secret_rotated", "webhook.removed"]


def test_the_activity_keeps_no_query_of_a_url(a: Tenant) -> None:
    secret = "v3ry-s3cret"
    before, after = (f"{URL}/{name}?token={secret}" for name in ("first", "second"))
    endpoint = Endpoint.objects.get(uuid=registered(a, url=before)["uuid"])
    path = f"/webhooks/{endpoint.uuid}"
    a.api.patch(path, {"url": after})
    a.api.post(f"{path}/rotate-secret")
    delivery = a_failed_delivery(a, endpoint)
    assert a.api.post(f"/webhooks/deliveries/{delivery.uuid}/redeliver").status_code == 202
    a_failed_delivery(a, endpoint)
    assert a.api.post(f"{path}/replay", {"since": f"{now() - timedelta(hours=1):%FT%TZ}"}).status_code == 202
    a.api.delete(path)
    entries = ActivityEntry.objects.filter(target_kind="webhook").order_by("id")
    assert len(entries) == 6
    assert secret not in json.dumps(list(entries.values()), default=str)
    created, changed, *_ = entries
    assert (created.target_name, created.details["url"]) == (f"{URL}/first", f"{URL}/first")
    assert changed.target_name == f"{URL}/second"
    assert changed.changes["url"] == [f"{URL}/first", f"{URL}/second"]


REACHED = {"message": "The webhook limit is reached."}


def hold(tenant: Tenant, count: int) -> None:
    """Have so many endpoints registered already."""
    Endpoint.objects.bulk_create(
        Endpoint(agency=tenant.agency, url=URL, events=["workspace.created"], secret="whsec_x") for _ in range(count)
    )


def test_an_agency_has_a_hundred_at_most(a: Tenant, b: Tenant) -> None:
    hold(a, 99)
    last = registered(a)
    refusals = [a.api.post("/webhooks", NEW, **more) for more in ({}, {"idempotency_key": "one-more"})]
    assert [(refused.status_code, refused.json()) for refused in refusals] == [(403, REACHED)] * 2
    assert refused(a.api.post("/webhooks", {"url": URL}))  # what is wrong with the body is said first
    assert registered(b)
    assert len(a.api.get("/webhooks").json()["data"]) == 100
    assert a.api.delete(f"/webhooks/{last['uuid']}").status_code == 200
    assert registered(a)


@pytest.mark.django_db(transaction=True)
def test_thirty_at_once_never_pass_the_limit(a: Tenant) -> None:
    hold(a, 93)
    answers = at_once(lambda _: a.api.post("/webhooks", NEW).status_code, times=30)
    assert Counter(answers) == {201: 7, 403: 23}
    assert Endpoint.objects.of(a.agency).count() == 100
    assert ActivityEntry.objects.filter(action="webhook.created").count() == 7


def test_only_what_the_catalogue_holds_now_can_be_tested(a: Tenant) -> None:
    channel, lifecycle = "channel.connection.failed", "workspace.created"
    mixed = Endpoint.objects.get(uuid=registered(a)["uuid"])
    Endpoint.objects.filter(pk=mixed.pk).update(events=[channel, lifecycle])
    tested = a.api.post(f"/webhooks/{mixed.uuid}/test")
    assert (tested.status_code, tested.json()["data"]["event"]) == (202, lifecycle)
    assert list(refused(a.api.post(f"/webhooks/{mixed.uuid}/test", {"event": channel}))) == ["event"]
    Endpoint.objects.filter(pk=mixed.pk).update(events=[channel])
    told = {"event": ["None of this webhook's events is in the catalogue now."]}
    assert refused(a.api.post(f"/webhooks/{mixed.uuid}/test")) == told
