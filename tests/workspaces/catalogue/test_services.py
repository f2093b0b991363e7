"""Services and their categories on the workspace surface."""

import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agency.models import ActivityEntry
from tests import furnished
from tests.factories import ClassSessionFactory, ProductFactory, ServiceCategoryFactory, ServiceFactory, StaffFactory
from tests.parallel import at_once
from tests.tenants import Tenant, message
from tests.workspaces.topics import recorded_events, subscribe_to
from workspaces.catalogue.models import Service, ServiceCategory
from workspaces.catalogue.services import has_services, products_to_choose, services_to_choose

a, b = furnished.a_with_customer, furnished.b_with_customer


USUAL: dict[str, Any] = {
    "buffer_before": 0,
    "buffer_after": 0,
    "notice_minutes": 0,
    "horizon_days": 60,
    "step_minutes": 15,
    "deposit": None,
    "bookable": True,
    "staff": [],
}


@pytest.mark.django_db
def test_a_service_is_written_and_read(a: Tenant) -> None:
    category = a.workspace_api.post("/service-categories", {"name": " Yoga "}).json()["data"]
    assert category == {"id": category["id"], "name": "Yoga"}
    body = {"name": "Beginners", "kind": "class", "category_id": category["id"], "duration_minutes": 45, "price": 12.5}
    made = a.workspace_api.post("/services", body)
    service = made.json()["data"]
    assert (made.status_code, service) == (201, {"id": service["id"], **body, **USUAL})
    assert list(service) == ["id", "name", "kind", "category_id", "duration_minutes", "price", *USUAL]
    least = a.workspace_api.post("/services", {"name": "Cut", "kind": "appointment"}).json()["data"]
    none = {"category_id": None, "duration_minutes": None, "price": None, **USUAL}
    assert least == {"id": least["id"], "name": "Cut", "kind": "appointment", **none}
    assert a.workspace_api.get("/services").json()["data"] == [service, least]
    changes = {"category_id": None, "price": None, "name": "All"}
    changed = a.workspace_api.patch(f"/services/{service['id']}", changes).json()["data"]
    assert changed == {**service, **changes}
    assert a.workspace_api.get(f"/services/{service['id']}").json()["data"] == changed
    assert a.workspace_api.patch(f"/services/{service['id']}", {}).json()["data"] == changed


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"name", "kind"}),
        ({"name": " ", "kind": "party"}, {"name", "kind"}),
        ({"name": "X" * 121, "kind": None}, {"name", "kind"}),
        ({"name": "X", "kind": "class", "duration_minutes": 0, "price": "1"}, {"duration_minutes", "price"}),
        (
            {"name": "X", "kind": "class", "duration_minutes": 1441, "category_id": "x"},
            {"duration_minutes", "category_id"},
        ),
    ],
)
def test_a_service_that_cannot_be_is_refused(a: Tenant, body: Any, fields: set[str]) -> None:
    answer = a.workspace_api.post("/services", body)
    assert (answer.status_code, set(answer.json()["errors"])) == (422, fields)


SETTINGS = {
    "buffer_before": 5,
    "buffer_after": 720,
    "notice_minutes": 129_600,
    "horizon_days": 366,
    "step_minutes": 5,
    "deposit": 12.5,
    "bookable": False,
}


@pytest.mark.django_db
def test_an_appointment_says_how_it_is_booked_and_by_whom(a: Tenant) -> None:
    staff = [str(one.uuid) for one in StaffFactory.create_batch(2, workspace=a.workspace)]
    settings = {**SETTINGS, "staff": staff}
    body = {"name": "Cut", "kind": "appointment", "price": 12.5, **settings}
    service = a.workspace_api.post("/services", body).json()["data"]
    assert service == {"id": service["id"], "category_id": None, "duration_minutes": None, **body}
    path = f"/services/{service['id']}"
    subscribe_to(a.workspace, "service.updated")
    changed = a.workspace_api.patch(path, {"staff": staff[:1], "step_minutes": 30, "bookable": False}).json()["data"]
    assert changed == {**service, "staff": staff[:1], "step_minutes": 30}
    changes = {"staff": {"from": staff, "to": staff[:1]}, "step_minutes": {"from": 5, "to": 30}}
    assert recorded_events(a.workspace) == [("service.updated", {"service": changed, "changes": changes})]
    assert "step_minutes" in ActivityEntry.objects.get(action="service.changed").changes
    a.workspace_api.delete(f"/staff/{staff[0]}")
    assert a.workspace_api.get(path).json()["data"]["staff"] == []
    as_class = a.workspace_api.patch(path, {"kind": "class"}).json()["data"]
    assert as_class == {**service, "kind": "class", **USUAL}


@pytest.mark.django_db
def test_settings_of_appointments_are_refused_where_they_do_not_fit(a: Tenant, b: Tenant) -> None:
    own, foreign = (str(StaffFactory.create(workspace=one.workspace).uuid) for one in (a, b))
    for name, value in {**SETTINGS, "staff": [own]}.items():
        answer = a.workspace_api.post("/services", {"name": "X", "kind": "class", name: value})
        assert (answer.status_code, list(answer.json()["errors"])) == (422, [name])
    for name, values in {
        "buffer_before": (-1, 721, "1"),
        "notice_minutes": (-1, 129_601),
        "horizon_days": (0, 367),
        "step_minutes": (4, 1_441),
        "deposit": (0, 20.01, 1.001),
        "staff": ([own, own], ["x"], [str(uuid.uuid4()) for _ in range(51)], own),
        "bookable": ("yes",),
    }.items():
        for value in values:
            answer = a.workspace_api.post("/services", {"name": "X", "kind": "appointment", "price": 20, name: value})
            assert (answer.status_code, name in str(answer.json()["errors"])) == (422, True), (name, value)
    for unknown in (foreign, str(uuid.uuid4())):
        answer = a.workspace_api.post("/services", {"name": "X", "kind": "appointment", "staff": [own, unknown]})
        assert (answer.status_code, message(answer)) == (404, "Staff member not found.")
    assert not Service.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/services", "/service-categories", "/staff"])
def test_names_stand_once_in_a_workspace_and_are_free_again_after_a_deletion(a: Tenant, b: Tenant, path: str) -> None:
    def body(name: str) -> dict[str, str]:
        return {"name": name, "kind": "class"}

    first = a.workspace_api.post(path, body("Strasse")).json()["data"]
    other = a.workspace_api.post(path, body("Other")).json()["data"]
    for answer in (
        a.workspace_api.post(path, body(" STRAßE ")),
        a.workspace_api.patch(f"{path}/{other['id']}", {"name": "straße"}),
    ):
        assert (answer.status_code, list(answer.json()["errors"])) == (422, ["name"])
    assert a.workspace_api.patch(f"{path}/{first['id']}", {"name": "STRASSE"}).status_code == 200
    assert b.workspace_api.post(path, body("Strasse")).status_code == 201
    assert a.workspace_api.delete(f"{path}/{first['id']}").json() == {"data": {"deleted": True}}
    assert a.workspace_api.post(path, body("Strasse")).status_code == 201


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "bound", "sentence"),
    [
        ("/services", "catalogue.services.services.MOST_SERVICES", "A workspace may have at most 1,000 services."),
        (
            "/service-categories",
            "catalogue.services.services.MOST_CATEGORIES",
            "A workspace may have at most 500 service categories.",
        ),
        ("/staff", "catalogue.services.staff.MOST_STAFF", "A workspace may have at most 500 staff members."),
    ],
)
def test_there_are_only_so_many(
    a: Tenant, monkeypatch: pytest.MonkeyPatch, path: str, bound: str, sentence: str
) -> None:
    monkeypatch.setattr(f"workspaces.{bound}", 1)
    assert a.workspace_api.post(path, {"name": "One", "kind": "class"}).status_code == 201
    answer = a.workspace_api.post(path, {"name": "Two", "kind": "class"})
    assert (answer.status_code, message(answer)) == (403, sentence)


@pytest.mark.django_db
def test_a_category_in_use_is_not_deleted(a: Tenant) -> None:
    category = ServiceCategoryFactory.create(workspace=a.workspace)
    path = f"/service-categories/{category.uuid}"
    service = ServiceFactory.create(workspace=a.workspace, category=category)
    product = ProductFactory.create(workspace=a.workspace, category=category)
    for used in (f"/services/{service.uuid}", f"/products/{product.uuid}"):
        answer = a.workspace_api.delete(path)
        assert (answer.status_code, message(answer)) == (
            409,
            "There are services or products in this category. Move them to another category first.",
        )
        assert a.workspace_api.patch(used, {"category_id": None}).status_code == 200
    assert a.workspace_api.delete(path).status_code == 200
    assert message(a.workspace_api.get(path)) == "Service category not found."


@pytest.mark.django_db
def test_a_service_with_scheduled_classes_keeps_its_kind_and_stays(a: Tenant) -> None:
    session = ClassSessionFactory.create(workspace=a.workspace)
    path = f"/services/{session.service.uuid}"
    for answer in (a.workspace_api.delete(path), a.workspace_api.patch(path, {"kind": "appointment"})):
        assert (answer.status_code, message(answer)) == (
            409,
            "Classes are scheduled with this service. Cancel them first.",
        )
    assert a.workspace_api.patch(path, {"name": "Renamed", "kind": "class"}).status_code == 200
    a.workspace_api.post(f"/classes/{session.uuid}/cancel")
    assert a.workspace_api.delete(path).status_code == 200
    assert message(a.workspace_api.get(path)) == "Service not found."
    shown = a.workspace_api.get(f"/classes/{session.uuid}").json()["data"]["service"]
    assert shown == {"id": str(session.service.uuid), "name": "Renamed"}
    body = {"service": str(session.service.uuid), "starts_at": "2027-01-01T00:00:00Z", "capacity": 1}
    assert message(a.workspace_api.post("/classes", body)) == "Service not found."


def _answer(calls: Sequence[Callable[[], Any]], number: int) -> Any:
    return calls[number]()


@pytest.mark.django_db(transaction=True)
def test_what_is_put_into_a_category_while_it_is_deleted_stands_in_one_that_is_there(a: Tenant) -> None:
    """Of deleting a category and filling it at the same moment, one comes first and the other is refused."""
    api = a.workspace_api
    for _ in range(5):
        category = ServiceCategoryFactory.create(workspace=a.workspace)
        body = {"name": f"X {category.pk}", "price": 1, "kind": "class", "category_id": str(category.uuid)}
        calls = (
            partial(api.delete, f"/service-categories/{category.uuid}"),
            partial(api.post, "/products", body),
            partial(api.post, "/services", body),
        )
        answers = [answer.status_code for answer in at_once(partial(_answer, calls), times=3)]
        is_there = ServiceCategory.objects.filter(pk=category.pk).exists()
        assert answers == [409 if is_there else 200, *answers[1:]]
        assert set(answers[1:]) <= {201, 404}
        if not is_there:
            assert answers[1:] == [404, 404]


@pytest.mark.django_db
def test_services_are_filtered(a: Tenant, b: Tenant) -> None:
    ServiceFactory.create(workspace=b.workspace, name="Yoga")
    category = ServiceCategoryFactory.create(workspace=a.workspace, name="Sport")
    ServiceFactory.create(workspace=a.workspace, name="Yoga", category=category)
    ServiceFactory.create(workspace=a.workspace, name="Cut", kind="appointment")

    def names(path: str) -> list[str]:
        return [row["name"] for row in a.workspace_api.get(path).json()["data"]]

    assert names("/services") == ["Cut", "Yoga"]
    assert names("/services?search=yO") == names("/services?kind=class") == ["Yoga"]
    assert names(f"/services?category={category.uuid}") == ["Yoga"]
    assert names("/services?kind=party") == names(f"/services?category={uuid.uuid4()}") == []
    assert names("/service-categories?search=spo") == ["Sport"]
    assert names("/service-categories?search=x") == []


@pytest.mark.django_db
def test_a_page_costs_the_same_however_many_there_are(a: Tenant) -> None:
    def cost(path: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert a.workspace_api.get(path).status_code == 200
        return len(queries)

    def one_more() -> None:
        category = ServiceCategoryFactory.create(workspace=a.workspace)
        ServiceFactory.create(workspace=a.workspace, category=category)

    assert a.workspace_plaintext
    one_more()
    few = cost("/services"), cost("/service-categories")
    for _ in range(5):
        one_more()
    assert (cost("/services"), cost("/service-categories")) == few == (5, 4)


@pytest.mark.django_db
def test_a_workspace_has_something_to_sell_with_a_service_or_an_active_product(a: Tenant, b: Tenant) -> None:
    def has_any() -> bool:
        with CaptureQueriesContext(connection) as queries:
            found = has_services(a.workspace)
        assert len(queries) == 1
        return found

    ServiceFactory.create(workspace=b.workspace)
    product = ProductFactory.create(workspace=a.workspace, active=False)
    assert not has_any()
    a.workspace_api.patch(f"/products/{product.uuid}", {"active": True})
    assert has_any()
    a.workspace_api.delete(f"/products/{product.uuid}")
    assert not has_any()
    service = ServiceFactory.create(workspace=a.workspace)
    assert has_any()
    a.workspace_api.delete(f"/services/{service.uuid}")
    assert not has_any()


@pytest.mark.django_db
def test_there_are_bounded_lists_to_choose_from(a: Tenant, b: Tenant) -> None:
    ProductFactory.create(workspace=b.workspace, name="Comb")
    ProductFactory.create(workspace=a.workspace, name="Old comb", active=False)
    for name in ("Comb", "brush", "Soap"):
        ProductFactory.create(workspace=a.workspace, name=name)
        ServiceFactory.create(workspace=a.workspace, name=name, kind="class" if name == "Comb" else "appointment")
    assert [str(row) for row in products_to_choose(workspace=a.workspace)] == ["brush", "Comb", "Soap"]
    assert [str(row) for row in products_to_choose(workspace=a.workspace, search="O", most=1)] == ["Comb"]
    assert [str(row) for row in services_to_choose(workspace=a.workspace, kind="appointment")] == ["brush", "Soap"]
    assert [str(row) for row in services_to_choose(workspace=a.workspace, search="ru")] == ["brush"]
    assert Service.objects.count() == 3
