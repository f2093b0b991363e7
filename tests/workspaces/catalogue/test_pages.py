"""Products, services and categories on the dashboard's pages."""

import re
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agency.models import SavedView
from tests import furnished
from tests.agency.console.browsers import flashes, hidden, text
from tests.factories import ProductFactory, ServiceCategoryFactory, ServiceFactory
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.catalogue.models import Product, Service, ServiceCategory

a = furnished.a_with_customer

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
MANY_PRODUCTS = """
INSERT INTO catalogue_product (uuid, workspace_id, name, name_key, description, price, active, track_stock,
    stock_level, created_at, updated_at)
SELECT gen_random_uuid(), %(workspace)s, 'P ' || number, 'p ' || number, '', 1, true, false, 0, now(), now()
FROM generate_series(1, 10000) AS number
"""


@pytest.fixture
def owner(a: Tenant) -> Client:
    return dashboard_client(a.workspace)


def test_a_product_is_added_edited_and_deleted(a: Tenant, owner: Client) -> None:
    category = ServiceCategoryFactory.create(workspace=a.workspace, name="Hair")
    sent = {"name": "Comb", "price": "4.50", "category": str(category.uuid), "active": "on", "track_stock": "on",
            "stock_quantity": "3"}  # fmt: skip
    answer = owner.post("/app/products/new", sent, follow=True)
    assert flashes(answer) == ["Comb was added."]
    for shown in ("Comb", "Hair", "$4.50", "Active"):
        assert shown in text(answer)
    product = Product.objects.get()
    path = f"/app/products/{product.uuid}"
    assert 'value="4.50"' in owner.get(path).content.decode()
    edited = {"name": "Brush", "price": "5", "description": "Soft\r\nand round", "track_stock": "on"}
    assert flashes(owner.post(path, edited, follow=True)) == ["Brush was saved."]
    product.refresh_from_db()
    assert (product.description, product.active, product.category) == ("Soft\nand round", False, None)
    assert product.stock_level == 3
    assert "Not active" in text(owner.get("/app/products"))
    assert flashes(owner.post(f"{path}/delete", follow=True)) == ["Brush was deleted."]
    assert "No products yet" in text(owner.get("/app/products"))


def test_prices_have_the_decimals_of_their_currency(a: Tenant, owner: Client) -> None:
    a.workspace_api.patch("/workspace", {"currency": "JPY"})
    for path, more in (("products", {}), ("services", {"kind": "class"})):
        refused = owner.post(f"/app/{path}/new", {"name": "Tea", "price": "9.5", **more})
        assert (refused.status_code, list(refused.context["form"].errors)) == (422, ["price"])
        owner.post(f"/app/{path}/new", {"name": "Tea", "price": "1500", **more})
        assert "¥1,500" in text(owner.get(f"/app/{path}"))
    for path, row in (("products", Product.objects.get()), ("services", Service.objects.get())):
        assert 'value="1500"' in owner.get(f"/app/{path}/{row.uuid}").content.decode()
        saved = owner.post(f"/app/{path}/{row.uuid}", {"name": "Green tea", "price": "1500", "kind": "class"})
        assert saved.status_code == 302


@pytest.mark.parametrize(
    ("language", "typed", "shown"),
    [
        ("en", "1,234.50", "$1,234.50"),
        ("de", "1234,5", "1.234,50 $"),
        ("es", "1.234,50", "1234,50 US$"),
        ("fr", "1 234,50", "1 234,50 $US"),
        ("pt-BR", "1234.50", "US$ 1.234,50"),
    ],
)
def test_prices_are_shown_and_typed_as_in_the_readers_language(
    a: Tenant, owner: Client, language: str, typed: str, shown: str
) -> None:
    owner.defaults["HTTP_ACCEPT_LANGUAGE"] = language
    sent = {"name": "Cut", "kind": "appointment", "price": typed, "deposit": "60.00"}
    assert owner.post("/app/services/new", sent).status_code == 302
    service = Service.objects.get()
    assert (service.price, service.deposit) == (Decimal("1234.50"), Decimal(60))
    assert shown in " ".join(text(owner.get("/app/services")).split())
    sign = "." if language == "en" else ","
    form = owner.get(f"/app/services/{service.uuid}").content.decode()
    assert f'name="price" value="1234{sign}50" autocomplete="off" inputmode="decimal"' in form
    assert f'name="deposit" value="60{sign}00"' in form
    for refused in ("1,234" if language == "en" else "1.234", "1e3", "9" * 100_000, "\N{ARABIC-INDIC DIGIT SIX}"):
        answer = owner.post(f"/app/services/{service.uuid}", {**sent, "price": refused})
        assert (answer.status_code, list(answer.context["form"].errors)) == (422, ["price"])
        assert f"1234{sign}50" in answer.context["form"].errors["price"][0]
        assert f'name="price" value="{refused}"' in answer.content.decode()
    low = owner.post(f"/app/services/{service.uuid}", {**sent, "price": "1234.5", "deposit": "10000000000,00"})
    assert list(low.context["form"].errors) == ["deposit"]
    service.refresh_from_db()
    assert (service.price, service.deposit) == (Decimal("1234.50"), Decimal(60))


def test_a_refusal_stands_beside_its_field(a: Tenant, owner: Client) -> None:
    answer = owner.post("/app/products/new", {"name": "X", "price": "1.999", "category": "x"})
    assert answer.status_code == 422
    assert "no more than 2 decimal places" in text(answer)
    untracked = owner.post("/app/products/new", {"name": "X", "price": "1", "stock_quantity": "3"})
    assert "Number in stock: The stock of this product is not tracked." in text(untracked)
    ServiceFactory.create(workspace=a.workspace, name="Cut")
    twice = owner.post("/app/services/new", {"name": "CUT", "kind": "class"})
    assert "Name: Another service has this name." in text(twice)
    assert not Product.objects.exists()


def test_the_stock_page_changes_the_stock_and_shows_how_it_came_about(a: Tenant, owner: Client) -> None:
    product = ProductFactory.create(workspace=a.workspace, name="Comb", track_stock=True, stock_quantity=10)
    path = f"/app/products/{product.uuid}/stock"
    steps = (("received", 5, 15), ("sold", 3, 12), ("lost", 2, 10), ("returned", 1, 11), ("set", 0, 0))
    for reason, quantity, level in steps:
        answer = owner.post(path, {"reason": reason, "quantity": quantity}, follow=True)
        assert flashes(answer) == [f"Comb: {level} in stock now."]
    page = text(owner.get(path))
    for shown in ("Goods received", "+5", "Sold", "-3", "Lost or damaged", "after 15", a.workspace.owner.email):
        assert shown in page
    refused = owner.post(path, {"reason": "sold", "quantity": "1"})
    assert (refused.status_code, "Only 0 of this product are left." in text(refused)) == (422, True)
    assert "Out of stock" in text(owner.get("/app/products"))
    Product.objects.update(active=False)
    assert "Out of stock" not in text(owner.get("/app/products"))


def test_a_stock_form_that_is_sent_twice_counts_once(a: Tenant, owner: Client) -> None:
    product = ProductFactory.create(workspace=a.workspace, track_stock=True, stock_quantity=10)
    path = f"/app/products/{product.uuid}/stock"
    page = owner.get(path).content.decode()
    nonce = page.partition('name="nonce" value="')[2].partition('"')[0]
    for _ in range(2):
        owner.post(path, {"reason": "sold", "quantity": "1", "nonce": nonce})
    product.refresh_from_db()
    assert product.stock_level == 9


def test_products_are_searched_and_paged(a: Tenant, owner: Client) -> None:
    category = ServiceCategoryFactory.create(workspace=a.workspace)
    ProductFactory.create(workspace=a.workspace, name="Comb", category=category)
    ProductFactory.create(workspace=a.workspace, name="Brush", active=False)
    assert "Brush" not in text(owner.get("/app/products?search=oM"))
    assert "Comb" not in text(owner.get("/app/products?active=false"))
    assert "Brush" not in text(owner.get(f"/app/products?category={category.uuid}"))
    for query in ("search=%00", "search=%ff", "category=x", "search=nothing"):
        assert "No product matches" in text(owner.get(f"/app/products?{query}"))
    for _ in range(25):
        ProductFactory.create(workspace=a.workspace, category=category)
    assert "26\u201327 of 27" in text(owner.get("/app/products?page=2"))


def test_services_and_categories_are_added_edited_and_deleted(a: Tenant, owner: Client) -> None:
    owner.post("/app/service-categories/new", {"name": "Sport"})
    category = ServiceCategory.objects.get()
    sent = {"name": "Yoga", "kind": "class", "category": str(category.uuid), "duration_minutes": "45", "price": "12.5"}
    answer = owner.post("/app/services/new", sent, follow=True)
    for shown in ("Yoga", "Group class", "45 min", "$12.50", "Sport"):
        assert shown in text(answer)
    service = Service.objects.get()
    kept = owner.post(f"/app/service-categories/{category.uuid}/delete", follow=True)
    assert "There are services or products in this category." in text(kept)
    owner.post(f"/app/services/{service.uuid}", {"name": "Yoga", "kind": "class"})
    service.refresh_from_db()
    assert (service.category, service.duration_minutes, service.price) == (None, None, None)
    owner.post(f"/app/service-categories/{category.uuid}", {"name": "Sports"})
    assert "Sports" in text(owner.get("/app/service-categories"))
    deleted = owner.post(f"/app/service-categories/{category.uuid}/delete", follow=True)
    assert flashes(deleted) == ["Sports was deleted."]
    assert flashes(owner.post(f"/app/services/{service.uuid}/delete", follow=True)) == ["Yoga was deleted."]
    assert "No services yet" in text(owner.get("/app/services"))


@pytest.mark.parametrize("page", ["/app/products", "/app/services", "/app/service-categories"])
def test_a_list_costs_the_same_however_long_it_is(a: Tenant, owner: Client, page: str) -> None:
    def one_more() -> None:
        category = ServiceCategoryFactory.create(workspace=a.workspace)
        ProductFactory.create(workspace=a.workspace, category=category)
        ServiceFactory.create(workspace=a.workspace, category=category)

    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            owner.get(page)
        return len(queries)

    one_more()
    few = cost()
    for _ in range(4):
        one_more()
    assert cost() == few <= 9


def test_products_are_sorted_by_their_names_by_an_index(a: Tenant, owner: Client) -> None:
    for name in ("b", "C", "a"):
        ProductFactory.create(workspace=a.workspace, name=name)
    for sort, found in (("", "aCb"), ("name", "abC"), ("-name", "Cba"), ("price", "aCb")):
        listed = re.findall(
            r'<a class="lead"[^>]*>(.)</a>', owner.get("/app/products", {"sort": sort}).content.decode()
        )
        assert "".join(listed) == found
    with connection.cursor() as cursor:
        cursor.execute(MANY_PRODUCTS, {"workspace": a.workspace.pk})
        cursor.execute("ANALYZE catalogue_product")
    for order in (("name_key", "id"), ("-name_key", "-id")):
        plan = Product.objects.of(a.workspace).order_by(*order)[5000:5025].explain()
        assert "product_by_name" in plan
        assert "Sort" not in plan
    assert "1\u201350 of 10,000+" in text(owner.get("/app/products", {"sort": "name", "size": "50"}))


def test_a_view_of_a_list_is_kept_for_the_person_and_the_workspace(a: Tenant, owner: Client) -> None:
    ServiceCategoryFactory.create(workspace=a.workspace, name="Hair")
    shown = owner.get("/app/service-categories", {"sort": "-name"})
    assert hidden(shown, "page") == "app:service-categories"
    sent = {"page": "app:service-categories", "query": hidden(shown, "query"), "name": "Backwards"}
    answer = owner.post("/app/views", sent, follow=True)
    assert answer.redirect_chain == [("/app/service-categories?sort=-name", 302)]
    assert "Backwards" in text(answer)
    assert SavedView.objects.get().area == a.workspace.uuid
    gone = owner.post("/app/views/remove", {"page": sent["page"], "view": hidden(answer, "view")}, follow=True)
    assert flashes(gone) == ["The view Backwards was removed."]
    assert "Hair" in text(gone)
