"""Products on the workspace surface."""

import uuid
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agency.models import ActivityEntry
from tests import furnished
from tests.factories import ProductFactory, ServiceCategoryFactory
from tests.tenants import Tenant, message
from workspaces.catalogue.models import Product

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
# The word in letters of another width.
WIDE = "".join(chr(ord(letter) + 0xFEE0) for letter in "SHAMPOO")
FIELDS = [
    "id", "name", "description", "price", "currency", "track_stock", "stock_quantity", "active", "category_id",
    "created_at", "updated_at",
]  # fmt: skip


def made(a: Tenant, **fields: Any) -> dict[str, Any]:
    answer = a.workspace_api.post("/products", {"name": "Shampoo", "price": 9.5, **fields})
    assert answer.status_code == 201, answer.content
    return dict(answer.json()["data"])


def test_a_new_product_has_every_field_and_the_workspaces_currency(a: Tenant) -> None:
    a.workspace_api.patch("/workspace", {"currency": "EUR"})
    category = ServiceCategoryFactory.create(workspace=a.workspace)
    product = made(a, description="250 ml\nfor dry hair", price=19.9, track_stock=True, stock_quantity=4,
                   active=False, category_id=str(category.uuid))  # fmt: skip
    assert list(product) == FIELDS
    shown = {name: product[name] for name in FIELDS[1:9]}
    assert shown == {
        "name": "Shampoo",
        "description": "250 ml\nfor dry hair",
        "price": 19.9,
        "currency": "EUR",
        "track_stock": True,
        "stock_quantity": 4,
        "active": False,
        "category_id": str(category.uuid),
    }
    assert a.workspace_api.get(f"/products/{product['id']}").json()["data"] == product
    assert a.workspace_api.get("/products").json()["data"] == [product]


def test_what_is_left_out_has_its_default(a: Tenant) -> None:
    product = made(a, description=None, track_stock=None, stock_quantity=None, active=None, category_id=None)
    assert [product[name] for name in FIELDS[2:9]] == [None, 9.5, "USD", False, None, True, None]


@pytest.mark.parametrize(
    ("price", "sentence"),
    [
        ("9.90", "The price field must be a number."),
        (True, "The price field must be a number."),
        (None, "The price field is required."),
        ([], "The price field must be a number."),
        (9.999, "The price field may have at most 2 decimals."),
        (0.1 + 0.2, "The price field may have at most 2 decimals."),
        (-0.01, "The price field must be at least 0."),
        (1e10, "The price field may be at most 9999999999.99."),
        (10**30, "The price field is out of range."),
    ],
)
def test_a_price_is_a_json_number_with_two_decimals_at_most(a: Tenant, price: Any, sentence: str) -> None:
    answer = a.workspace_api.post("/products", {"name": "Shampoo", "price": price})
    assert (answer.status_code, answer.json()["errors"]) == (422, {"price": [sentence]})


@pytest.mark.parametrize(
    ("price", "shown"), [(0, 0), (-0.0, 0), (7, 7), (0.1, 0.1), (1e1, 10), (1e-2, 0.01), (9999999999.99, 9999999999.99)]
)
def test_prices_are_kept_to_the_cent(a: Tenant, price: float, shown: float) -> None:
    product = made(a, price=price)
    assert product["price"] == shown
    assert Product.objects.get().price == Decimal(str(shown))


def test_nan_is_no_json(a: Tenant) -> None:
    assert a.workspace_api.post("/products", b'{"name": "X", "price": NaN}').status_code == 400


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_name_and_price_are_required_where_the_whole_is_sent(a: Tenant, method: str) -> None:
    path = "/products" if method == "POST" else f"/products/{made(a)['id']}"
    answer = a.workspace_api.call(method, path, {"active": True})
    assert (answer.status_code, set(answer.json()["errors"])) == (422, {"name", "price"})


@pytest.mark.parametrize("quantity", [-1, 1.5, "3", True, 2_000_000_000, 10**30])
def test_a_quantity_is_a_whole_number_of_0_or_more(a: Tenant, quantity: Any) -> None:
    answer = a.workspace_api.post(
        "/products", {"name": "X", "price": 1, "track_stock": True, "stock_quantity": quantity}
    )
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["stock_quantity"])


def test_a_quantity_is_refused_while_stock_is_not_tracked(a: Tenant) -> None:
    product = made(a)
    for method, path, body in (
        ("POST", "/products", {"name": "X", "price": 1, "stock_quantity": 0}),
        ("PUT", f"/products/{product['id']}", {"name": "X", "price": 1, "stock_quantity": 3}),
        ("PATCH", f"/products/{product['id']}", {"stock_quantity": 3}),
        ("PATCH", f"/products/{product['id']}", {"track_stock": False, "stock_quantity": 3}),
    ):
        answer = a.workspace_api.call(method, path, body)
        assert (answer.status_code, answer.json()["errors"]) == (
            422,
            {"stock_quantity": ["The stock of this product is not tracked."]},
        )
    assert a.workspace_api.get(f"/products/{product['id']}").json()["data"] == product


def test_put_resets_what_is_left_out_but_never_the_stock(a: Tenant) -> None:
    category = ServiceCategoryFactory.create(workspace=a.workspace)
    product = made(a, description="Old", track_stock=True, stock_quantity=5, active=False,
                   category_id=str(category.uuid))  # fmt: skip
    path = f"/products/{product['id']}"
    put = a.workspace_api.put(path, {"name": "New", "price": 3}).json()["data"]
    assert [put[name] for name in FIELDS[1:9]] == ["New", None, 3.0, "USD", True, 5, True, None]
    counted = a.workspace_api.put(path, {"name": "New", "price": 3, "stock_quantity": 7}).json()["data"]
    assert (counted["track_stock"], counted["stock_quantity"]) == (True, 7)
    assert a.workspace_api.put(path, {**counted}).json()["data"] == counted  # what was read can be sent back


def test_patch_changes_what_is_sent(a: Tenant) -> None:
    product = made(a, description="Kept")
    changed = a.workspace_api.patch(f"/products/{product['id']}", {"price": 1.25, "track_stock": True}).json()["data"]
    assert changed == {
        **product, "price": 1.25, "track_stock": True, "stock_quantity": 0, "updated_at": changed["updated_at"],
    }  # fmt: skip
    assert changed["updated_at"] > product["updated_at"]
    same = a.workspace_api.patch(f"/products/{product['id']}", {"price": 1.25, "stock_quantity": 0}).json()["data"]
    assert same == changed
    actions = ActivityEntry.objects.filter(action__startswith="product.").order_by("id")
    assert list(actions.values_list("action", "changes")) == [
        ("product.created", {}),
        ("product.changed", {"price": [9.5, 1.25], "track_stock": [False, True], "stock_quantity": [None, 0]}),
    ]


def test_a_deleted_product_is_gone_and_its_ledger_stays(a: Tenant) -> None:
    category = ServiceCategoryFactory.create(workspace=a.workspace)
    path = f"/products/{made(a, track_stock=True, stock_quantity=2, category_id=str(category.uuid))['id']}"
    assert a.workspace_api.delete(path).json() == {"data": {"deleted": True}}
    for method in ("GET", "DELETE", "PATCH"):
        answer = a.workspace_api.call(method, path, {} if method == "PATCH" else b"")
        assert (answer.status_code, message(answer)) == (404, "Product not found.")
    assert a.workspace_api.get(f"{path}/stock-movements").status_code == 404
    assert a.workspace_api.get("/products").json()["data"] == []
    assert Product.objects.get().stock_movements.count() == 1
    assert a.workspace_api.delete(f"/service-categories/{category.uuid}").status_code == 200


def test_products_are_filtered(a: Tenant, b: Tenant) -> None:
    ProductFactory.create(workspace=b.workspace, name="Shampoo of others")
    category = ServiceCategoryFactory.create(workspace=a.workspace)
    ProductFactory.create(workspace=a.workspace, name="Shampoo 100%", category=category)
    ProductFactory.create(workspace=a.workspace, name=f"{WIDE} two", active=False)
    ProductFactory.create(workspace=a.workspace, name="Comb")

    def names(query: str) -> list[str]:
        return [row["name"] for row in a.workspace_api.get(f"/products?{query}").json()["data"]]

    assert names("") == ["Comb", f"{WIDE} two", "Shampoo 100%"]
    assert names("search=sHaMpOo") == [f"{WIDE} two", "Shampoo 100%"]
    assert names("search=0%25") == ["Shampoo 100%"]
    assert names("active=false") == [f"{WIDE} two"]
    assert names(f"category={category.uuid}&active=true") == ["Shampoo 100%"]
    assert names("active=perhaps") == names("category=x") == names(f"category={uuid.uuid4()}") == []


def test_another_workspaces_category_is_not_found(a: Tenant, b: Tenant) -> None:
    foreign = ServiceCategoryFactory.create(workspace=b.workspace)
    for category in (foreign.uuid, uuid.uuid4()):
        answer = a.workspace_api.post("/products", {"name": "X", "price": 1, "category_id": str(category)})
        assert (answer.status_code, message(answer)) == (404, "Service category not found.")
    assert not Product.objects.exists()


def test_a_repeated_key_makes_one_product(a: Tenant) -> None:
    body = {"name": "Shampoo", "price": 1}
    first, again = (a.workspace_api.post("/products", body, idempotency_key="k") for _ in range(2))
    assert first.json() == again.json()
    assert Product.objects.count() == 1


def test_a_page_costs_the_same_however_many_there_are(a: Tenant) -> None:
    def cost(path: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert a.workspace_api.get(path).status_code == 200
        return len(queries)

    category = ServiceCategoryFactory.create(workspace=a.workspace)
    product = ProductFactory.create(workspace=a.workspace, category=category, track_stock=True, stock_quantity=0)
    assert a.workspace_plaintext
    ledger = f"/products/{product.uuid}/stock-movements"
    few = cost("/products"), cost(ledger)
    for number in range(8):
        ProductFactory.create(workspace=a.workspace, category=category)
        a.workspace_api.patch(f"/products/{product.uuid}", {"stock_quantity": number + 1})
    assert (cost("/products"), cost(ledger)) == few == (4, 5)


@pytest.mark.parametrize("currency", ["JPY", "KRW", "CLP"])
def test_a_price_has_no_more_decimals_than_its_currency(a: Tenant, currency: str) -> None:
    a.workspace_api.patch("/workspace", {"currency": currency})
    told = {"price": [f"The price field takes no decimals in {currency}."]}
    for path, body in (
        ("/products", {"name": "Tea", "price": 9.5}),
        ("/services", {"name": "Cut", "kind": "appointment", "price": 9.5}),
    ):
        answer = a.workspace_api.post(path, body)
        assert (answer.status_code, answer.json()["errors"]) == (422, told)
        shown = a.workspace_api.post(path, body | {"price": 1_500}).json()["data"]
        for change in (a.workspace_api.patch(f"{path}/{shown['id']}", {"price": 1_500.5}),):
            assert (change.status_code, change.json()["errors"]) == (422, told)
    product = made(a, name="Cup", price=900)
    put = a.workspace_api.put(f"/products/{product['id']}", {"name": "Cup", "price": 0.5})
    assert (put.status_code, put.json()["errors"]) == (422, told)


def test_what_was_priced_in_another_currency_keeps_its_price_until_it_is_changed(a: Tenant) -> None:
    product = made(a, price=9.5)
    a.workspace_api.patch("/workspace", {"currency": "JPY"})
    answer = a.workspace_api.put(f"/products/{product['id']}", {"name": "Balm", "price": 9.5})
    assert (answer.status_code, answer.json()["data"]["price"]) == (200, 9.5)
