"""The stock ledger: the level is its sum, whoever writes and however many at once."""

import random
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.db.models import Sum
from django.utils.timezone import now

from agency.actors import SYSTEM, Actor
from tests import furnished
from tests.factories import ProductFactory
from tests.parallel import at_once
from tests.sizes import size
from tests.tenants import Tenant
from workspaces.catalogue.models import Product, StockMovement
from workspaces.catalogue.services import NotEnoughStock, StockNotTracked, change_product, change_stock
from workspaces.catalogue.services.products import StockOutOfRange, ZeroStockChange

pytestmark = pytest.mark.slow

a = furnished.a_with_customer

WRITERS = size("counts", "writers of stock")
MOVEMENT = """
INSERT INTO catalogue_stockmovement
    (uuid, product_id, before, change, after, reason, actor_kind, actor_label, created_at)
SELECT gen_random_uuid(), id, {}, {}, {}, 'set', '', '', now() FROM catalogue_product
"""
PRODUCT = """
INSERT INTO catalogue_product (uuid, workspace_id, name, name_key, description, price, track_stock, stock_level, active,
    created_at, updated_at)
SELECT gen_random_uuid(), workspace_id, 'Y', 'y', '', 1, true, 3, true, now(), now() FROM catalogue_product
"""


def ledger_of(product: Product) -> int:
    return product.stock_movements.aggregate(sum=Sum("change"))["sum"] or 0


def assert_the_ledger_adds_up(product: Product) -> None:
    """Each movement begins where the one before ended, and the level is where the last one ended."""
    product.refresh_from_db()
    at = 0
    for movement in product.stock_movements.order_by("id"):
        assert (movement.before, movement.after) == (at, at + movement.change)
        at = movement.after
    assert product.stock_level == at == ledger_of(product) >= 0


@pytest.mark.django_db
def test_every_change_of_stock_is_a_row_of_the_ledger(a: Tenant) -> None:
    api = a.workspace_api
    product = api.post("/products", {"name": "X", "price": 1, "track_stock": True, "stock_quantity": 20}).json()["data"]
    path = f"/products/{product['id']}"
    for body in ({"stock_quantity": 12}, {"stock_quantity": 12}, {"track_stock": False}, {"track_stock": True}):
        assert api.patch(path, body).status_code == 200
    page = api.get(f"{path}/stock-movements").json()
    assert list(page) == ["data", "links", "meta"]
    assert list(page["data"][0]) == ["id", "before", "change", "after", "reason", "actor", "created_at"]
    assert [(row["before"], row["change"], row["after"], row["reason"]) for row in page["data"]] == [
        (12, -12, 0, "tracking_ended"),
        (20, -8, 12, "set"),
        (0, 20, 20, "set"),
    ]
    assert page["data"][0]["actor"] == {"kind": "workspace_key", "label": "Shop"}
    assert api.get(path).json()["data"]["stock_quantity"] == 0


@pytest.mark.django_db
def test_goods_are_sold_and_received_by_amounts(a: Tenant) -> None:
    product = ProductFactory.create(workspace=a.workspace, track_stock=True, stock_quantity=3)
    by = Actor(kind="user", id="1", label="e" * 300)
    product, movement = change_stock(product=product, by_quantity=-2, reason="sold", now=now(), by=by)
    assert (movement.before, movement.change, movement.after, movement.reason) == (3, -2, 1, "sold")
    with pytest.raises(NotEnoughStock, match="Only 1 of this product are left"):
        change_stock(product=product, by_quantity=-2, reason="sold", now=now(), by=SYSTEM)
    with pytest.raises(StockOutOfRange):
        change_stock(product=product, by_quantity=1_000_000_000, reason="received", now=now(), by=SYSTEM)
    with pytest.raises(ZeroStockChange):
        change_stock(product=product, by_quantity=0, reason="corrected", now=now(), by=SYSTEM)
    untracked = ProductFactory.create(workspace=a.workspace)
    with pytest.raises(StockNotTracked):
        change_stock(product=untracked, by_quantity=1, reason="received", now=now(), by=SYSTEM)
    assert_the_ledger_adds_up(product)


@pytest.mark.django_db(transaction=True)
def test_many_parallel_writers_leave_a_ledger_that_adds_up(a: Tenant) -> None:
    """Half of them set the level, half sell; each answer is a change or a refusal, and none is lost."""
    product = ProductFactory.create(workspace=a.workspace, track_stock=True, stock_quantity=WRITERS)
    path, api = f"/products/{product.uuid}", a.workspace_api

    def write(number: int) -> tuple[str, int]:
        if number % 2:
            return "set", int(api.patch(path, {"stock_quantity": number}).status_code)
        try:
            change_stock(product=product, by_quantity=-number - 1, reason="sold", now=now(), by=SYSTEM)
        except NotEnoughStock:
            return "sold", 409
        return "sold", 200

    answers = at_once(write, times=WRITERS)
    assert set(answers) <= {("set", 200), ("sold", 200), ("sold", 409)}
    assert_the_ledger_adds_up(product)
    assert product.stock_movements.filter(reason="sold").count() == answers.count(("sold", 200))


@pytest.mark.django_db(transaction=True)
def test_of_parallel_buyers_as_many_get_one_as_there_are(a: Tenant) -> None:
    product = ProductFactory.create(workspace=a.workspace, track_stock=True, stock_quantity=WRITERS // 2)

    def buy(_: int) -> bool:
        try:
            change_stock(product=product, by_quantity=-1, reason="sold", now=now(), by=SYSTEM)
        except NotEnoughStock:
            return False
        return True

    assert sum(at_once(buy, times=WRITERS)) == WRITERS // 2
    assert_the_ledger_adds_up(product)
    assert product.stock_level == 0


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(size("counts", "seeds of stock")))
def test_whatever_is_done_the_level_is_the_sum(a: Tenant, seed: int) -> None:
    """A model of the rules beside the product, through forty random changes."""
    dice = random.Random(seed)  # a test
    product = ProductFactory.create(workspace=a.workspace)
    tracked, level = False, 0
    for _ in range(40):
        amount: int = dice.randint(-6, 12)
        kind = dice.choice(["set", "move", "move", "track", "untrack", "both"])
        changes: Any = {}
        if kind == "move":
            try:
                change_stock(product=product, by_quantity=amount, reason="corrected", now=now(), by=SYSTEM)
                assert tracked
                assert amount
                level += amount
                assert level >= 0
            except (StockNotTracked, NotEnoughStock, ZeroStockChange):
                assert not tracked or level + amount < 0 or amount == 0
        else:
            if kind in ("track", "untrack", "both"):
                changes["track_stock"] = kind != "untrack"
            if kind in ("set", "both"):
                changes["stock_quantity"] = abs(amount)
            try:
                change_product(product=product, now=now(), by=SYSTEM, **changes)
                tracked = changes.get("track_stock", tracked)
                level = changes.get("stock_quantity", level) if tracked else 0
            except StockNotTracked:
                assert not tracked
                assert kind == "set"
        assert_the_ledger_adds_up(product)
        assert (product.track_stock, product.stock_level) == (tracked, level)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE catalogue_product SET stock_level = 4",
        "UPDATE catalogue_product SET stock_level = 0, track_stock = false",
        "UPDATE catalogue_product SET track_stock = false",
        "UPDATE catalogue_stockmovement SET change = 4, after = 4",
        "UPDATE catalogue_stockmovement SET actor_label = 'somebody else'",
        "DELETE FROM catalogue_stockmovement",
        MOVEMENT.format(4, 1, 5),
        MOVEMENT.format(5, 1, 7),
        MOVEMENT.format(5, -6, -1),
        PRODUCT,
    ],
)
def test_the_database_refuses_every_other_way(a: Tenant, statement: str) -> None:
    product = ProductFactory.create(workspace=a.workspace, track_stock=True, stock_quantity=5)
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert_the_ledger_adds_up(product)
    assert StockMovement.objects.count() == 1


@pytest.mark.django_db
def test_an_erased_person_is_erased_from_the_ledger_too(a: Tenant) -> None:
    product = ProductFactory.create(workspace=a.workspace, track_stock=True, stock_quantity=5)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL agency.activity = 'erasure'")
        cursor.execute("UPDATE catalogue_stockmovement SET actor_label = 'erased'")
        with pytest.raises(DatabaseError), transaction.atomic():
            cursor.execute("UPDATE catalogue_stockmovement SET actor_label = 'x', change = 4, after = 4")
    assert product.stock_movements.get().actor_label == "erased"
