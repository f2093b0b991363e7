"""A change without a difference writes no entry in the activity log and records no event."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry, Event
from agency.services import (
    add_member,
    archive_item,
    change_agency,
    change_role,
    choose_default_plan,
    remove_picture,
    restore_agency,
    set_accent,
    set_picture,
    set_switch,
    suspend_agency,
    update_item,
)
from agency.services.members import change_user
from channelconnect.services.settings import set_return_urls, switch_connect
from packs.services import (
    add_library_entry,
    change_entry,
    change_pack,
    order_entries,
    order_packs,
    set_replace_platform,
)
from tests import furnished
from tests.factories import UserFactory
from tests.images.pictures import a_picture
from tests.tenants import Tenant
from webhooks.services.endpoints import update_endpoint
from workspaces.subaccounts.services import (
    assign_plan,
    change_owner,
    change_workspace,
    grant_addon,
    replace_owner,
    restore_workspace,
    revoke_workspace_key,
    suspend_workspace,
)

pytestmark = pytest.mark.slow

a = furnished.a_with_customer

Change = Callable[[], Any]


def the_workspace_key(tenant: Tenant) -> Any:
    assert tenant.workspace_plaintext
    return tenant.workspace.keys.get()


def two_entries(tenant: Tenant) -> list[Any]:
    first = tenant.entry
    second = add_library_entry(pack=tenant.pack, template_id="salons-birthday-offer", by=SYSTEM)
    return [second.uuid, first.uuid]


def a_colleague(tenant: Tenant) -> Any:
    add_member(agency=tenant.agency, email="owner@example.com", name="Owner", role="owner", by=SYSTEM)
    return add_member(agency=tenant.agency, email="staff@example.com", name="Staff", role="admin", by=SYSTEM)


# Each prepares the thing to change, and gives the change.
CHANGES: dict[str, Callable[[Tenant], Change]] = {
    "an agency": lambda a: lambda: change_agency(agency=a.agency, name=" New name ", max_sub_accounts=5, by=SYSTEM),
    "an agency's suspension": lambda a: lambda: suspend_agency(agency=a.agency, reason="x", now=now(), by=SYSTEM),
    "an agency's restoration": lambda a: lambda: restore_agency(agency=a.agency, by=SYSTEM),
    "a colour": lambda a: lambda: set_accent(agency=a.agency, accent="#1F6FEB", by=SYSTEM),
    "no colour": lambda a: lambda: set_accent(agency=a.agency, accent="", by=SYSTEM),
    "a logo": lambda a: lambda: set_picture(agency=a.agency, kind="logo", file=a_picture(), by=SYSTEM),
    "no logo": lambda a: lambda: remove_picture(agency=a.agency, kind="logo", by=SYSTEM),
    "a switch": lambda a: lambda: set_switch(name="agency_api", enabled=False, reason="why", by=SYSTEM),
    "a switch that is on": lambda a: lambda: set_switch(name="agency_api", enabled=True, reason="", by=SYSTEM),
    "a plan": lambda a: (
        lambda: update_item(item=a.plan, name=" New ", description="x", limits={"contacts": 3}, by=SYSTEM)
    ),
    "an add-on": lambda a: lambda: update_item(item=a.addon, name="New", by=SYSTEM),
    "an archived plan": lambda a: lambda: archive_item(item=a.plan, now=now(), by=SYSTEM),
    "the default plan": lambda a: lambda: choose_default_plan(agency=a.agency, plan=a.plan, by=SYSTEM),
    "no default plan": lambda a: lambda: choose_default_plan(agency=a.agency, plan=None, by=SYSTEM),
    "a role": lambda a: (lambda member: lambda: change_role(member=member, role="viewer", by=SYSTEM))(a_colleague(a)),
    "a person": lambda a: (lambda user: lambda: change_user(user=user, name="New", groups=[], by=SYSTEM))(
        UserFactory.create()
    ),
    "a sub-account": lambda a: (
        lambda: change_workspace(
            workspace=a.workspace,
            name="New",
            business_type="other",
            timezone="Asia/Tokyo",
            external_id="crm-1",
            metadata={"b": "2", "a": "1"},
            by=SYSTEM,
        )
    ),
    "a suspension": lambda a: lambda: suspend_workspace(workspace=a.workspace, reason="x", now=now(), by=SYSTEM),
    "a restoration": lambda a: lambda: restore_workspace(workspace=a.workspace, now=now(), by=SYSTEM),
    "a plan assigned": lambda a: lambda: assign_plan(workspace=a.workspace, plan=a.plan, now=now(), by=SYSTEM),
    "an add-on granted": lambda a: lambda: grant_addon(workspace=a.workspace, addon=a.addon, now=now(), by=SYSTEM),
    "an owner": lambda a: (
        lambda: change_owner(workspace=a.workspace, name="New", email="N@example.com", now=now(), by=SYSTEM)
    ),
    "an owner's replacement": lambda a: (
        lambda user: lambda: replace_owner(workspace=a.workspace, owner=user, by=SYSTEM)
    )(UserFactory.create()),
    "a revoked key": lambda a: (lambda key: lambda: revoke_workspace_key(key=key, now=now(), by=SYSTEM))(
        the_workspace_key(a)
    ),
    "an endpoint": lambda a: (
        lambda: update_endpoint(
            endpoint=a.endpoint, events=["addon.granted", "addon.granted"], description="x", enabled=False, by=SYSTEM
        )
    ),
    "a pack": lambda a: lambda: change_pack(pack=a.pack, name="New", summary="", industry="salons", by=SYSTEM),
    "an entry": lambda a: (
        lambda: change_entry(entry=a.entry, name="New", description="", tier="optional", requires=[], by=SYSTEM)
    ),
    "packs' order": lambda a: lambda: order_packs(agency=a.agency, order=[a.pack.uuid], by=SYSTEM),
    "entries' order": lambda a: (lambda order: lambda: order_entries(pack=a.pack, order=order, by=SYSTEM))(
        two_entries(a)
    ),
    "packs' visibility": lambda a: lambda: set_replace_platform(agency=a.agency, replace_platform=True, by=SYSTEM),
    "return URLs": lambda a: (
        lambda: set_return_urls(agency=a.agency, return_urls=["https://app.example.com/"] * 2, by=SYSTEM)
    ),
    "channel connect": lambda a: lambda: switch_connect(agency=a.agency, enabled=True, reason="x", by=SYSTEM),
    "no channel connect": lambda a: lambda: switch_connect(agency=a.agency, enabled=False, reason="x", by=SYSTEM),
}


def left_behind() -> tuple[int, int]:
    return ActivityEntry.objects.count(), Event.objects.count()


@pytest.mark.parametrize("what", CHANGES)
def test_the_same_change_again_leaves_nothing(a: Tenant, what: str) -> None:
    assert all((a.workspace, a.addon, a.endpoint, a.entry))  # made before the change
    change = CHANGES[what](a)
    change()
    before = left_behind()
    change()
    assert left_behind() == before


NOTHING_TO_CHANGE = frozenset(
    {
        "an agency's restoration",
        "no colour",
        "no logo",
        "a switch that is on",
        "no default plan",
        "a restoration",
        "a plan assigned",
        "packs' order",
        "no channel connect",
    }
)


@pytest.mark.parametrize("what", CHANGES)
def test_the_first_time_leaves_an_entry_where_it_changes_something(a: Tenant, what: str) -> None:
    assert all((a.workspace, a.addon, a.endpoint, a.entry))  # made before the change
    change = CHANGES[what](a)
    before = left_behind()
    change()
    assert (left_behind() != before) is (what not in NOTHING_TO_CHANGE)
