"""What subscribers are told of products and services: each real change once, and nothing of any other."""

from typing import Any

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Event
from tests import furnished
from tests.factories import ProductFactory
from tests.tenants import Tenant
from tests.workspaces.topics import envelopes, recorded_events, subscribe_to
from workspaces.catalogue.services import change_stock

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
PRODUCT = ("product.created", "product.updated", "product.deleted", "product.out_of_stock")
SERVICE = ("service.created", "service.updated", "service.deleted")


def test_a_products_life_is_told_change_by_change(a: Tenant) -> None:
    a.workspace_api.patch("/workspace", {"currency": "EUR"})
    subscribe_to(a.workspace, *PRODUCT)
    api = a.workspace_api
    created = api.post("/products", {"name": "X", "price": 1, "track_stock": True, "stock_quantity": 2}).json()["data"]
    path = f"/products/{created['id']}"
    renamed = api.patch(path, {"name": "Y", "price": 2.5}).json()["data"]
    api.patch(path, {"name": "Y", "stock_quantity": 2, "track_stock": True})  # changes nothing
    sold_out = api.patch(path, {"stock_quantity": 0}).json()["data"]
    untracked = api.put(path, {"name": "Y", "price": 2.5, "track_stock": False}).json()["data"]
    api.delete(path)
    assert recorded_events(a.workspace) == [
        ("product.created", {"product": created}),
        (
            "product.updated",
            {"product": renamed, "changes": {"name": {"from": "X", "to": "Y"}, "price": {"from": 1.0, "to": 2.5}}},
        ),
        ("product.updated", {"product": sold_out, "changes": {"stock_quantity": {"from": 2, "to": 0}}}),
        ("product.out_of_stock", {"product": sold_out}),
        (
            "product.updated",
            {
                "product": untracked,
                "changes": {"track_stock": {"from": True, "to": False}, "stock_quantity": {"from": 0, "to": None}},
            },
        ),
        ("product.deleted", {"product": untracked}),
    ]
    assert created["currency"] == "EUR"
    assert set(envelopes(a.workspace)[0]) == {"id", "event", "occurred_at", "workspace_id", "data"}
    assert envelopes(a.workspace)[0]["workspace_id"] == str(a.workspace.uuid)


def test_a_sale_is_told_once_and_the_last_one_says_that_none_are_left(a: Tenant) -> None:
    product = ProductFactory.create(workspace=a.workspace, track_stock=True, stock_quantity=2)
    subscribe_to(a.workspace, *PRODUCT)
    for _ in range(2):
        change_stock(product=product, by_quantity=-1, reason="sold", now=now(), by=SYSTEM)
    assert [(topic, data.get("changes")) for topic, data in recorded_events(a.workspace)] == [
        ("product.updated", {"stock_quantity": {"from": 2, "to": 1}}),
        ("product.updated", {"stock_quantity": {"from": 1, "to": 0}}),
        ("product.out_of_stock", None),
    ]


def test_a_product_that_loses_its_stock_because_it_is_not_tracked_is_not_out_of_stock(a: Tenant) -> None:
    product = ProductFactory.create(workspace=a.workspace, track_stock=True, stock_quantity=2)
    subscribe_to(a.workspace, *PRODUCT)
    a.workspace_api.patch(f"/products/{product.uuid}", {"track_stock": False})
    assert [topic for topic, _ in recorded_events(a.workspace)] == ["product.updated"]


def test_a_services_life_is_told_change_by_change(a: Tenant) -> None:
    subscribe_to(a.workspace, *SERVICE)
    category = a.workspace_api.post("/service-categories", {"name": "Yoga"}).json()["data"]["id"]
    created = a.workspace_api.post("/services", {"name": "X", "kind": "class"}).json()["data"]
    path = f"/services/{created['id']}"
    changes: dict[str, Any] = {"category_id": category, "price": 3.5}
    changed = a.workspace_api.patch(path, changes).json()["data"]
    a.workspace_api.patch(path, changes)
    a.workspace_api.delete(path)
    assert recorded_events(a.workspace) == [
        ("service.created", {"service": created}),
        (
            "service.updated",
            {
                "service": changed,
                "changes": {"category_id": {"from": None, "to": category}, "price": {"from": None, "to": 3.5}},
            },
        ),
        ("service.deleted", {"service": changed}),
    ]


def test_what_nobody_wants_costs_no_row(a: Tenant) -> None:
    subscribe_to(a.workspace, "product.deleted")
    product = a.workspace_api.post("/products", {"name": "X", "price": 1}).json()["data"]
    a.workspace_api.patch(f"/products/{product['id']}", {"price": 2})
    assert not Event.objects.filter(workspace_id=a.workspace.pk).exists()
