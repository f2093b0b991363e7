"""Plans and add-ons in the console."""

from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.limits import LABELS, nothing, unlimited
from agency.models import ActivityEntry, Addon, Plan
from agency.services import PlanNotFound, archive_item, update_item
from tests.agency.console.browsers import flashes, text
from tests.factories import AddonFactory, PlanFactory, addon_limits, plan_limits
from tests.tenants import Tenant

pytestmark = pytest.mark.django_db
CATALOGUES: list[Any] = [("plans", Plan, PlanFactory), ("add-ons", Addon, AddonFactory)]
both = pytest.mark.parametrize(("catalogue", "model", "factory"), CATALOGUES)


@both
def test_the_first_one_is_asked_for_and_then_listed(
    catalogue: str, model: Any, factory: Any, a: Tenant, admin: Client
) -> None:
    empty = admin.get(f"/console/{catalogue}")
    assert "None yet" in text(empty)
    made = factory.create(agency=a.agency, name="Growth", description="For the busy")
    page = admin.get(f"/console/{catalogue}")
    assert "Growth" in text(page)
    assert "For the busy" in text(page)
    assert f"/console/{catalogue}/{made.uuid}" in page.content.decode()


def test_a_plan_is_created_with_its_limits_and_empty_is_no_limit(a: Tenant, admin: Client) -> None:
    fields = {"name": " Starter ", "description": "", "limit_contacts": "1000", "limit_channels_whatsapp": "0"}
    answer = admin.post("/console/plans/new", fields, follow=True)
    plan = Plan.objects.get()
    assert (plan.agency, plan.name) == (a.agency, "Starter")
    assert plan.limits == plan_limits(contacts=1000, channels__whatsapp=0)
    assert flashes(answer) == ["Starter was created."]
    assert "Contacts 1,000 Team members No limit" in text(answer)
    assert ActivityEntry.objects.filter(action="plan.created").get().actor_kind == "user"


def test_a_new_add_on_adds_nothing_until_a_number_says_so(admin: Client) -> None:
    form = admin.get("/console/add-ons/new").context["form"]
    assert {form[name].value() for name in form.fields if name.startswith("limit_")} == {0}
    fields = {f"limit_{name.replace('.', '_')}": "0" for name in LABELS} | {"name": "More", "limit_contacts": "500"}
    admin.post("/console/add-ons/new", fields)
    assert Addon.objects.get().limits == addon_limits(contacts=500)
    assert nothing() != addon_limits(contacts=500)


@pytest.mark.parametrize("wrong", ["-1", "1.5", "many", str(2**31), "9" * 5000, "٣x"])
def test_a_limit_that_is_no_whole_number_is_refused_beside_its_field(wrong: str, admin: Client) -> None:
    page = admin.post("/console/plans/new", {"name": "Starter", "limit_contacts": wrong})
    assert page.status_code == 422
    assert 'id="id_limit_contacts_error"' in page.content.decode()
    assert 'aria-invalid="true"' in page.content.decode()
    assert "Check the field below Contacts:" in text(page)
    assert not Plan.objects.exists()


@pytest.mark.parametrize(
    "name", ["", "   ", "\u200b\u200b", "a\x00b", "a\x07b", "line\nbreak", "x" * 121, "\u202egnitsud"]
)
def test_a_name_that_cannot_be_read_is_refused(name: str, admin: Client) -> None:
    page = admin.post("/console/plans/new", {"name": name})
    assert page.status_code == 422
    assert 'id="id_name_error"' in page.content.decode()
    assert not Plan.objects.exists()


@both
def test_a_taken_name_is_said_at_the_name(catalogue: str, model: Any, factory: Any, a: Tenant, admin: Client) -> None:
    factory.create(agency=a.agency, name="Growth")
    page = admin.post(f"/console/{catalogue}/new", {"name": "GROWTH "})
    assert page.status_code == 422
    assert "Name: Another entry of the catalogue has this name." in text(page)
    assert model.objects.count() == 1


@both
def test_editing_begins_with_what_is_there_and_changes_no_sub_account(
    catalogue: str, model: Any, factory: Any, a: Tenant, admin: Client
) -> None:
    a.plan, _ = PlanFactory.create(agency=a.agency, name="Held"), a
    before = a.workspace.limits
    item = a.plan if catalogue == "plans" else factory.create(agency=a.agency, name="Held too")
    path = f"/console/{catalogue}/{item.uuid}"
    form = admin.get(f"{path}/edit").context["form"]
    assert (form["name"].value(), form["limit_contacts"].value()) == (item.name, item.limits["contacts"])
    answer = admin.post(f"{path}/edit", {"name": "Renamed", "description": "a\r\nb", "limit_contacts": ""}, follow=True)
    assert flashes(answer) == ["Renamed was saved."]
    assert "theirs change only when you" in text(answer)
    item.refresh_from_db()
    assert (item.name, item.description, item.limits) == ("Renamed", "a\nb", unlimited())
    a.workspace.refresh_from_db()
    assert a.workspace.limits == before


@both
def test_archiving_asks_first_and_then_takes_it_from_the_list(
    catalogue: str, model: Any, factory: Any, a: Tenant, admin: Client
) -> None:
    item = factory.create(agency=a.agency, name="Legacy")
    path = f"/console/{catalogue}/{item.uuid}"
    asked = admin.get(f"{path}/archive")
    assert "Archive Legacy?" in text(asked)
    assert model.objects.get().archived_at is None
    answer = admin.post(f"{path}/archive", follow=True)
    assert flashes(answer) == ["Legacy was archived."]
    assert "None yet" in text(answer)
    assert "Legacy" in text(admin.get(f"/console/{catalogue}?show=archived"))
    page = admin.get(path)
    assert "Archived" in text(page)
    assert b"/edit" not in page.content
    assert admin.post(f"{path}/edit", {"name": "Again"}).status_code == 404
    assert admin.post(f"{path}/archive").status_code == 404


def test_an_edit_does_not_bring_back_what_was_archived_meanwhile(a: Tenant) -> None:
    stale = Plan.objects.get(pk=a.plan.pk)
    archive_item(item=a.plan, now=now(), by=SYSTEM)
    with pytest.raises(PlanNotFound):
        update_item(item=stale, name="Edited late", by=SYSTEM)
    assert Plan.objects.get().archived_at is not None


@both
def test_a_viewer_reads_it_without_buttons(catalogue: str, model: Any, factory: Any, a: Tenant, viewer: Client) -> None:
    item = factory.create(agency=a.agency, name="Growth")
    for path in (f"/console/{catalogue}", f"/console/{catalogue}/{item.uuid}"):
        page = viewer.get(path)
        assert "Growth" in text(page)
        for action in ("/new", "/edit", "/archive"):
            assert f"/console/{catalogue}{action}".encode() not in page.content
            assert f"{item.uuid}{action}".encode() not in page.content


@both
def test_another_agency_s_are_neither_listed_nor_named(
    catalogue: str, model: Any, factory: Any, a: Tenant, b: Tenant, admin: Client
) -> None:
    factory.create(agency=b.agency, name="Foreign")
    assert "Foreign" not in text(admin.get(f"/console/{catalogue}"))
    assert admin.get(f"/console/{catalogue}/{uuid4()}").status_code == 404


def test_many_are_shown_in_pages(a: Tenant, admin: Client) -> None:
    for number in range(27):
        PlanFactory.create(agency=a.agency, name=f"Plan no {number:02d}")
    first, second = admin.get("/console/plans"), admin.get("/console/plans?page=2")
    assert "1\u201325 of 27" in text(first)
    assert "Plan no 26" in text(second)
    assert "26\u201327 of 27" in text(admin.get("/console/plans?page=99999999999999999999"))
    assert b'href="?show=archived&amp;page=2"' not in first.content
