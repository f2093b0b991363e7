"""Plans and add-ons: made, edited and archived."""

from typing import Any

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry
from agency.services import archive_item, update_item
from agency.services.catalogue import CatalogueNameTaken
from tests.factories import AddonFactory, AgencyFactory, PlanFactory, plan_limits

BOTH = pytest.mark.parametrize(("kind", "factory"), [("plan", PlanFactory), ("addon", AddonFactory)])
pytestmark = pytest.mark.django_db


def actions_on(item: Any) -> list[str]:
    return list(ActivityEntry.objects.filter(target_id=str(item.uuid)).order_by("id").values_list("action", flat=True))


@BOTH
@pytest.mark.parametrize("again", ["Café", "CAFÉ", "  café ", "cafe\u0301", "ＣＡＦÉ"])
def test_a_name_is_taken_whatever_its_case_and_unicode_form(kind: str, factory: Any, again: str) -> None:
    first = factory.create(name="Café")
    with pytest.raises(CatalogueNameTaken) as refused:
        factory.create(agency=first.agency, name=again)
    assert refused.value.errors == {"name": ["Another entry of the catalogue has this name."]}


@BOTH
def test_another_agency_may_use_the_same_name(kind: str, factory: Any) -> None:
    factory.create(name="Café")
    assert factory.create(name="Café").pk


@BOTH
def test_an_archived_item_frees_its_name(kind: str, factory: Any) -> None:
    first = factory.create(name="Café")
    archive_item(item=first, now=now(), by=SYSTEM)
    assert factory.create(agency=first.agency, name="café").pk


def test_a_plan_and_an_addon_may_share_a_name() -> None:
    agency = AgencyFactory.create()
    PlanFactory.create(agency=agency, name="Extra")
    assert AddonFactory.create(agency=agency, name="Extra").pk


@BOTH
def test_editing_changes_what_is_named(kind: str, factory: Any) -> None:
    item = factory.create(description="Old")
    update_item(item=item, name="New name", limits=plan_limits(contacts=3), by=SYSTEM)
    item.refresh_from_db()
    assert (item.name, item.name_key, item.description) == ("New name", "new name", "Old")
    assert item.limits == plan_limits(contacts=3)
    assert actions_on(item) == [f"{kind}.created", f"{kind}.changed"]


@BOTH
def test_editing_refuses_a_name_that_is_taken_and_changes_nothing(kind: str, factory: Any) -> None:
    first = factory.create(name="One")
    second = factory.create(agency=first.agency, name="Two")
    with pytest.raises(CatalogueNameTaken):
        update_item(item=second, name="one", by=SYSTEM)
    second.refresh_from_db()
    assert second.name == "Two"
    assert actions_on(second) == [f"{kind}.created"]


@BOTH
def test_archiving_twice_leaves_the_first_time_and_one_entry(kind: str, factory: Any) -> None:
    item = factory.create()
    archive_item(item=item, now=now(), by=SYSTEM)
    first = item.archived_at
    archive_item(item=item, now=now(), by=SYSTEM)
    assert item.archived_at == first
    assert actions_on(item) == [f"{kind}.created", f"{kind}.archived"]
