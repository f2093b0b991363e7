"""Packs at the console: creating, ordering, publishing, archiving, and what customers see beside them."""

from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agency.models import ActivityEntry
from packs.models import Pack
from packs.services import is_replacement_in_effect
from tests import furnished
from tests.agency.console.browsers import flashes, text
from tests.factories import ChannelFactory
from tests.packs.client import PackClient
from tests.packs.small_library import BOOKING, extra
from tests.tenants import Tenant

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db


def post(browser: Client, path: str, **data: Any) -> Any:
    return browser.post(f"/console/packs{path}", data, follow=True)


def order(a: Tenant) -> list[str]:
    return [pack.name for pack in Pack.objects.of(a.agency).in_gallery_order()]


def test_an_empty_list_explains_packs(admin: Client, viewer: Client) -> None:
    assert "A pack is a set of ready-made automations that your customers find in their gallery" in text(
        admin.get("/console/packs")
    )
    assert "New pack" in text(admin.get("/console/packs"))
    assert "New pack" not in text(viewer.get("/console/packs"))


def test_a_pack_is_created_and_its_details_edited(a: Tenant, admin: Client) -> None:
    answer = post(admin, "/new", name="Starter", summary="All you need", industry="salons", business_type="salon_spa")
    assert flashes(answer) == ["Starter was created. Now add automations."]
    pack = Pack.objects.get(agency=a.agency)
    assert (pack.status, pack.summary, pack.industry, pack.business_type) == (
        "draft",
        "All you need",
        "salons",
        "salon_spa",
    )
    post(admin, f"/{pack.uuid}/edit", name="Starter 2", summary="", industry="", business_type="")
    pack.refresh_from_db()
    assert (pack.name, pack.summary, pack.industry, pack.business_type) == ("Starter 2", None, None, None)


def test_a_name_that_does_not_do_is_refused(a: Tenant, admin: Client) -> None:
    for name in ("", " ", "x" * 121, "a\u202eb"):
        assert post(admin, "/new", name=name).status_code == 422, name
    assert not Pack.objects.of(a.agency).exists()


def test_the_list_shows_status_entries_and_installs(a: Tenant, packs: PackClient, admin: Client) -> None:
    packs.with_entries(BOOKING, extra(1), name="Live", status="published", business_type="other")
    packs.new("Sketch")
    assert a.channel.workspace == a.workspace
    shown = text(admin.get("/console/packs"))
    assert "Live Given to: Other Published 2 of 9 1" in shown
    assert "Sketch Draft 0 of 9 0" in shown


# The packs that a list shows, by the filters in its address.
SHOWN = {
    "": ["Live", "Sketch"],
    "status=draft": ["Sketch"],
    "industry=salons": ["Live"],
    "business_type=other": ["Live"],
    "business_type=other&status=draft": [],
    "status=nonsense": ["Live", "Sketch"],
}


def test_packs_are_narrowed_and_only_all_of_them_can_be_ordered(
    packs: PackClient, admin: Client, viewer: Client
) -> None:
    packs.with_entries(BOOKING, name="Live", status="published", business_type="other", industry="salons")
    packs.new("Sketch")
    for query, names in SHOWN.items():
        page = admin.get(f"/console/packs?{query}")
        assert [row.name for row in page.context["rows"]] == names, query
        assert ("data-sortable" in page.content.decode()) == (not query), query
        assert "Customers see your published packs first (1 now)" in text(page), query
    assert "data-sortable" not in viewer.get("/console/packs").content.decode()


def test_up_and_down_move_a_pack_by_one_position(a: Tenant, packs: PackClient, admin: Client) -> None:
    ids = [packs.new(name) for name in ("One", "Two", "Three")]
    sent = ",".join(ids)
    answer = admin.post("/console/packs/order", {"order": sent, "up": ids[2]})
    assert answer["Location"] == f"/console/packs#row-{ids[2]}"
    assert order(a) == ["One", "Three", "Two"]
    post(admin, "/order", order=",".join([ids[0], ids[2], ids[1]]), down=ids[0])
    assert order(a) == ["Three", "One", "Two"]
    post(admin, "/order", order=",".join([ids[2], ids[0], ids[1]]), up=ids[2])
    assert order(a) == ["Three", "One", "Two"]


def test_dragging_sends_a_whole_order(a: Tenant, packs: PackClient, admin: Client) -> None:
    ids = [packs.new(name) for name in ("One", "Two", "Three")]
    post(admin, "/order", order=",".join(reversed(ids)))
    assert order(a) == ["Three", "Two", "One"]


def test_an_order_that_names_a_strange_pack_changes_nothing(
    a: Tenant, b: Tenant, packs: PackClient, admin: Client
) -> None:
    ids = [packs.new(name) for name in ("One", "Two")]
    for unknown in (PackClient(b).new(), str(uuid4())):
        answer = post(admin, "/order", order=f"{unknown},{ids[1]},{ids[0]}")
        assert flashes(answer) == ["A pack was removed in the meantime, so the order did not change."]
    post(admin, "/order", order="nonsense,\0,")
    assert order(a) == ["One", "Two"]


def test_publishing_says_what_customers_will_see(packs: PackClient, admin: Client) -> None:
    pack = packs.with_entries(BOOKING, name="Live", business_type="salon_spa")
    question = text(admin.get(f"/console/packs/{pack}/publish"))
    assert "All your customers see it in their gallery at once, with 1 automation." in question
    assert "New customers of the type “Salon or spa” get it" in question
    assert flashes(post(admin, f"/{pack}/publish")) == ["Live is published. Customers see it now."]
    assert packs.read(pack)["status"] == "published"
    assert admin.get(f"/console/packs/{pack}/publish").status_code == 302


def test_publishing_names_the_pack_above_that_new_customers_are_given_instead(packs: PackClient, admin: Client) -> None:
    packs.with_entries(BOOKING, name="First", business_type="salon_spa", status="published")
    packs.with_entries(BOOKING, name="Archived", business_type="salon_spa", status="archived")
    below = packs.with_entries(BOOKING, name="Second", business_type="salon_spa")
    question = text(admin.get(f"/console/packs/{below}/publish"))
    assert "New customers of the type “Salon or spa” get First instead" in question
    packs.api.put("/packs/order", {"order": [below]})
    assert "get it with their first messaging channel" in text(admin.get(f"/console/packs/{below}/publish"))


def test_hiding_the_last_published_pack_says_that_the_service_s_own_come_back(packs: PackClient, admin: Client) -> None:
    warning = "This is your only published pack. Without it, customers see the service's own packs again."
    last = packs.with_entries(BOOKING, name="Last", status="published")
    draft = packs.with_entries(BOOKING, name="Draft")
    endings = {"archive", "draft", "remove"}

    def warned() -> set[str]:
        return {ending for ending in endings if warning in text(admin.get(f"/console/packs/{last}/{ending}"))}

    assert warned() == set()
    packs.api.put("/packs/visibility", {"replace_platform": True})
    assert warned() == endings
    packs.change(draft, status="published")
    assert warned() == set()


def test_an_empty_pack_says_why_it_cannot_be_published(packs: PackClient, admin: Client) -> None:
    pack = packs.new()
    page = admin.get(f"/console/packs/{pack}")
    assert "Add at least one automation first." in text(page)
    assert f"/console/packs/{pack}/publish" not in page.content.decode()
    answer = post(admin, f"/{pack}/publish")
    assert answer.status_code == 422
    assert "Add at least one automation before publishing this pack." in text(answer)


def test_archiving_hides_a_pack_and_a_draft_can_be_made_of_it(packs: PackClient, admin: Client) -> None:
    pack = packs.with_entries(BOOKING, status="published")
    assert "disappears from your customers' galleries" in text(admin.get(f"/console/packs/{pack}/archive"))
    post(admin, f"/{pack}/archive")
    assert packs.read(pack)["status"] == "archived"
    post(admin, f"/{pack}/draft")
    assert packs.read(pack)["status"] == "draft"


def test_removing_a_pack_leaves_what_customers_have(a: Tenant, packs: PackClient, admin: Client) -> None:
    pack = packs.with_entries(BOOKING, status="published", business_type="other")
    ChannelFactory.create(workspace=a.workspace)
    assert a.workspace.automations.filter(from_pack=pack).exists()
    post(admin, f"/{pack}/remove")
    assert admin.get(f"/console/packs/{pack}").status_code == 404
    assert a.workspace.automations.filter(from_pack=pack).exists()


def test_the_switch_shows_its_effect(a: Tenant, packs: PackClient, admin: Client) -> None:
    pack = packs.with_entries(BOOKING)
    assert "then the service's own (8)" in text(admin.get("/console/packs"))
    assert "Still shown." in text(post(admin, "/visibility", replace_platform="on"))
    assert not is_replacement_in_effect(a.agency.pk)
    packs.change(pack, status="published")
    assert "Hidden. Customers see only your 1 published pack." in text(admin.get("/console/packs"))
    assert is_replacement_in_effect(a.agency.pk)
    post(admin, "/visibility", replace_platform="nonsense")
    assert is_replacement_in_effect(a.agency.pk)
    assert "then the service's own (8)" in text(post(admin, "/visibility", replace_platform="off"))


def test_the_list_costs_the_same_whatever_its_length(packs: PackClient, admin: Client) -> None:
    packs.with_entries(BOOKING)
    admin.get("/console/packs")
    with CaptureQueriesContext(connection) as few:
        admin.get("/console/packs")
    for number in range(5):
        packs.with_entries(BOOKING, extra(1), name=f"More {number}")
    with CaptureQueriesContext(connection) as many:
        admin.get("/console/packs")
    assert len(many) == len(few) <= 9


def test_a_viewer_sees_packs_without_a_way_to_change_them(packs: PackClient, viewer: Client) -> None:
    pack = packs.with_entries(BOOKING, extra(1))
    packs.new("Another")
    for path in ("", f"/{pack}"):
        page = viewer.get(f"/console/packs{path}").content.decode()
        of_the_frame = page.count('action="/account/sign-out"') + page.count('action="/console/find"')
        assert page.count("<form") - of_the_frame == 1  # the filters, or the order without its buttons
        assert 'name="up"' not in page
        assert "/edit" not in page


def test_changes_are_in_the_activity_log_with_a_way_back(a: Tenant, admin: Client, packs: PackClient) -> None:
    post(admin, "/new", name="Starter")
    entry = ActivityEntry.objects.get(action="pack.created")
    assert entry.actor_kind == "user"
    shown = admin.get("/console/activity")
    assert "Pack created" in text(shown)
    assert f"/console/packs/{entry.target_id}" in shown.content.decode()


def test_hostile_names_stay_texts(packs: PackClient, admin: Client) -> None:
    name = '</h1><script>alert("x")</script>{{7*7}}'
    pack = packs.with_entries(BOOKING, name=name, summary=name)
    for path in ("", f"/{pack}", f"/{pack}/edit", f"/{pack}/publish", f"/{pack}/remove", f"/{pack}/library"):
        assert b"<script>alert" not in admin.get(f"/console/packs{path}").content
