"""Support creates, changes, suspends and restores agencies; each change goes through its service."""

from collections.abc import Callable
from html import unescape
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from agency.actors import SYSTEM
from agency.models import ActivityEntry, Agency, User
from agency.services import change_agency, create_agency, issue_agency_key
from tests.agency.console.browsers import text

pytestmark = pytest.mark.django_db


def newest_activity(action: str) -> ActivityEntry:
    return ActivityEntry.objects.filter(action=action).latest("id")


def suspend(support: Client, agency: Agency) -> None:
    page = f"/admin/agency/agency/{agency.pk}/suspend/"
    assert support.post(page, {"reason": "unpaid", "typed_name": agency.name}).status_code == 302


def test_an_agency_is_created(support: Client, superuser: User) -> None:
    answer = support.post("/admin/agency/agency/add/", {"name": " North ", "max_sub_accounts": "5"})
    assert answer.status_code == 302
    agency = Agency.objects.get(name="North")
    assert agency.max_sub_accounts == 5
    entry = newest_activity("agency.created")
    assert (entry.agency_id, entry.actor_kind, entry.actor_label) == (agency.pk, "staff", superuser.email)


def test_an_agency_is_renamed_and_its_limit_lifted(support: Client, agency: Agency) -> None:
    page = f"/admin/agency/agency/{agency.pk}/change/"
    assert support.post(page, {"name": "South", "max_sub_accounts": ""}).status_code == 302
    agency.refresh_from_db()
    assert (agency.name, agency.max_sub_accounts) == ("South", None)
    assert newest_activity("agency.changed").agency_id == agency.pk


def test_a_taken_name_is_refused_at_its_field(support: Client, agency: Agency) -> None:
    create_agency(name="Taken", by=SYSTEM)
    page = support.post(f"/admin/agency/agency/{agency.pk}/change/", {"name": "TAKEN"})
    assert page.status_code == 200
    assert b"Another agency has this name." in page.content


def test_suspending_asks_for_a_reason_and_stops_the_keys_at_once(support: Client, agency: Agency) -> None:
    _, key = issue_agency_key(agency=agency, name="Key", can_copy=False, by=SYSTEM)
    page = f"/admin/agency/agency/{agency.pk}/suspend/"
    assert support.post(page, {"reason": "", "typed_name": agency.name}).status_code == 200
    assert b"This is not its name" in support.post(page, {"reason": "unpaid", "typed_name": "Agency"}).content
    assert Agency.objects.get(pk=agency.pk).is_active
    assert support.post(page, {"reason": "unpaid", "typed_name": agency.name.upper()}).status_code == 302
    agency.refresh_from_db()
    assert (agency.status, agency.suspension_reason) == ("suspended", "unpaid")
    assert newest_activity("agency.suspended").details == {"reason": "unpaid"}
    answer = Client().get("/api/agency/v1/plans", headers={"x-api-key": key})
    assert (answer.status_code, answer.json()) == (403, {"message": "This agency is not active."})


def test_restoring_needs_a_post_and_lets_the_keys_work_again(support: Client, agency: Agency) -> None:
    _, key = issue_agency_key(agency=agency, name="Key", can_copy=False, by=SYSTEM)
    suspend(support, agency)
    page = f"/admin/agency/agency/{agency.pk}/restore/"
    assert support.get(page).status_code == 405
    assert support.post(page).status_code == 302
    assert newest_activity("agency.restored").actor_kind == "staff"
    assert Client().get("/api/agency/v1/plans", headers={"x-api-key": key}).status_code == 200


def test_the_page_offers_what_the_state_allows(support: Client, agency: Agency) -> None:
    page = f"/admin/agency/agency/{agency.pk}/change/"
    assert b"/suspend/" in support.get(page).content
    suspend(support, agency)
    content = support.get(page).content
    assert b"/restore/" in content
    assert b"/suspend/" not in content


def test_an_agency_that_is_not_there_answers_404(support: Client) -> None:
    assert support.get("/admin/agency/agency/999999/suspend/").status_code == 404


def test_staff_who_may_only_look_cannot_suspend(
    person: Callable[..., User], sign_in: Callable[[User], Client], agency: Agency
) -> None:
    looker = person(is_staff=True)
    looker.user_permissions.add(Permission.objects.get(codename="view_agency"))
    browser = sign_in(looker)
    assert browser.get(f"/admin/agency/agency/{agency.pk}/change/").status_code == 200
    assert browser.post(f"/admin/agency/agency/{agency.pk}/suspend/", {"reason": "x"}).status_code == 403
    assert browser.post(f"/admin/agency/agency/{agency.pk}/restore/").status_code == 403
    assert Agency.objects.get(pk=agency.pk).is_active


def test_staff_without_rights_see_nothing(
    person: Callable[..., User], sign_in: Callable[[User], Client], agency: Agency
) -> None:
    browser = sign_in(person(is_staff=True))
    assert browser.get("/admin/").status_code == 200
    assert browser.get("/admin/agency/agency/").status_code == 403
    assert browser.post("/admin/agency/agency/add/", {"name": "X"}).status_code == 403


def test_agencies_are_found_by_the_beginning_of_the_name_and_by_uuid(support: Client, agency: Agency) -> None:
    create_agency(name="Zebra Crossing", by=SYSTEM)
    for term in ("ZEBRA", str(Agency.objects.get(name="Zebra Crossing").uuid).upper()):
        content = support.get("/admin/agency/agency/", {"q": term}).content
        assert b"Zebra Crossing" in content
        assert agency.name.encode() not in content


def test_fields_are_named_in_english(support: Client, agency: Agency) -> None:
    listed = text(support.get("/admin/agency/agency/"))
    assert "Name Status ID Number of sub-accounts Maximum number of sub-accounts Created at" in listed
    page = text(support.get(f"/admin/agency/agency/{agency.pk}/change/"))
    assert "Maximum number of sub-accounts: Empty means no limit. ID:" in page
    assert f"UUID: {agency.uuid}" in page


def test_nothing_is_deleted(support: Client, agency: Agency) -> None:
    assert support.post(f"/admin/agency/agency/{agency.pk}/delete/", {"post": "yes"}).status_code == 403


def test_what_support_does_on_pages_of_its_own_is_in_the_row_s_history(support: Client, agency: Agency) -> None:
    suspend(support, agency)
    support.post(f"/admin/agency/agency/{agency.pk}/restore/")
    history = text(support.get(f"/admin/agency/agency/{agency.pk}/history/"))
    assert f"{agency} is suspended." in history
    assert f"{agency} is active again." in history


def test_a_list_s_filters_survive_what_is_done_to_one_of_its_rows(support: Client, agency: Agency) -> None:
    filters = urlencode({"_changelist_filters": "status=active&p=2"})
    page = support.get(f"/admin/agency/agency/{agency.pk}/change/?{filters}").content.decode()
    assert "/admin/agency/agency/?status=active&amp;p=2" in page
    suspending = f"/admin/agency/agency/{agency.pk}/suspend/?{filters}"
    assert suspending in unescape(page)
    back = support.post(suspending, {"reason": "unpaid", "typed_name": agency.name})["Location"]
    assert back == f"/admin/agency/agency/{agency.pk}/change/?{filters}"


def test_an_entry_of_the_activity_shows_what_was_before_and_after(support: Client, agency: Agency) -> None:
    change_agency(agency=agency, name="Renamed & Sons", max_sub_accounts=7, by=SYSTEM)
    page = support.get(f"/admin/agency/activityentry/{newest_activity('agency.changed').pk}/change/")
    assert f"Field Before After Name {agency.name} Renamed & Sons Sub-accounts No limit 7" in text(page)
