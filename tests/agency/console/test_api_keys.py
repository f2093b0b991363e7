"""Configuration → API: a key is shown once, and revoked at once."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils.timezone import now

from agency.models import ActivityEntry, AgencyKey
from tests import furnished
from tests.agency.console.browsers import a_browser, a_member, at_the_console, flashes, hidden, text
from tests.factories import an_agency_key
from tests.parallel import at_once
from tests.tenants import Api, Tenant

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
KEYS = "/console/configuration/api"
PLAINTEXT = re.compile(r"svc_ag_[0-9A-Za-z]{40}")


def create(browser: Client, nonce: str | None = None, **fields: str) -> Any:
    nonce = nonce or hidden(browser.get(f"{KEYS}/new"), "nonce")
    return browser.post(f"{KEYS}/new", {"name": "CRM sync", "nonce": nonce, **fields})


def shown(answer: Any) -> str:
    found: set[str] = set(PLAINTEXT.findall(answer.content.decode()))
    assert len(found) == 1
    return found.pop()


def test_a_key_is_shown_on_the_answer_itself_and_works(a: Tenant) -> None:
    browser = at_the_console(a.agency)
    answer = create(browser, name="  CRM sync ")
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]
    assert Api(key=shown(answer)).get("/workspaces").status_code == 200
    key = AgencyKey.objects.get(name="CRM sync")
    assert (key.agency, key.can_copy) == (a.agency, False)
    assert "curl http://testserver/api/agency/v1/workspaces" in text(answer)


def test_no_other_page_and_no_row_holds_the_key(a: Tenant) -> None:
    browser = at_the_console(a.agency, "owner")
    plaintext = shown(create(browser)).encode()
    for path in (KEYS, f"{KEYS}/new", "/console/", "/console/activity"):
        assert plaintext not in browser.get(path).content
    assert plaintext.decode() not in str(browser.session.items())
    assert plaintext.decode() not in str(list(ActivityEntry.objects.values()))
    assert plaintext.decode() not in str(list(AgencyKey.objects.values()))


def test_a_reload_neither_shows_the_key_again_nor_makes_a_second_one(a: Tenant) -> None:
    browser = at_the_console(a.agency)
    nonce = hidden(browser.get(f"{KEYS}/new"), "nonce")
    create(browser, nonce)
    again = create(browser, nonce)
    assert again["Location"] == KEYS
    assert "This form was already sent" in flashes(browser.get(KEYS))[0]
    assert AgencyKey.objects.filter(name="CRM sync").count() == 1


@pytest.mark.parametrize("nonce", ["made-up", "x" * 1000])
def test_a_made_up_nonce_makes_no_key(nonce: str, a: Tenant) -> None:
    answer = create(at_the_console(a.agency), nonce)
    assert answer.status_code == 422
    assert "This form is out of date, and nothing was done" in text(answer)
    assert 'value="CRM sync"' in answer.content.decode()
    assert not AgencyKey.objects.filter(name="CRM sync").exists()


def test_another_person_s_nonce_makes_no_key(a: Tenant) -> None:
    nonce = hidden(at_the_console(a.agency).get(f"{KEYS}/new"), "nonce")
    assert create(at_the_console(a.agency), nonce).status_code == 422
    assert not AgencyKey.objects.filter(name="CRM sync").exists()


def test_a_form_that_was_refused_may_be_sent_again(a: Tenant) -> None:
    browser = at_the_console(a.agency)
    refused = create(browser, name="")
    assert refused.status_code == 422
    assert create(browser, hidden(refused, "nonce")).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_a_double_click_makes_one_key(a: Tenant) -> None:
    user = a_member(a.agency).user
    browser = a_browser(user)
    nonce = hidden(browser.get(f"{KEYS}/new"), "nonce")

    def click(_: int) -> int:
        twin = a_browser()
        twin.cookies = browser.cookies
        return int(create(twin, nonce).status_code)

    assert sorted(at_once(click, times=4)) == [200, 302, 302, 302]
    assert AgencyKey.objects.filter(name="CRM sync").count() == 1


def test_the_copy_ability_is_ticked_or_not(a: Tenant) -> None:
    browser = at_the_console(a.agency)
    create(browser, name="Pack builder", can_copy="on")
    assert AgencyKey.objects.get(name="Pack builder").can_copy
    assert "May copy automations" in text(browser.get(KEYS))


def test_the_list_shows_name_beginning_maker_use_and_state(a: Tenant) -> None:
    member = a_member(a.agency)
    browser = a_browser(member.user)
    plaintext = shown(create(browser))
    row = f"CRM sync {plaintext[:12]}… just now {member.user.email} Never used Live Roll Revoke"
    assert row in text(browser.get(KEYS))
    AgencyKey.objects.filter(name="CRM sync").update(last_used_at=now() - timedelta(hours=2))
    page = browser.get(KEYS)
    assert "2 hours ago" in text(page)
    assert re.search(
        r'<time [^>]*datetime="[\d-]+T[\d:]+Z" title="[^"]+ UTC"[^>]*>2 hours ago</time>', page.content.decode()
    )
    # Tab does not stop at each row's time, only at the times of a page about one thing.
    assert set(re.findall(r'class="when" tabindex="(-?\d)"', page.content.decode())) == {"-1"}
    one = browser.get(f"/console/sub-accounts/{a.workspace.uuid}").content.decode()
    assert '<time class="when" tabindex="0"' in one


def test_revoking_asks_first_and_then_the_very_next_call_is_refused(a: Tenant, admin: Client) -> None:
    key, plaintext = an_agency_key(a.agency, name="Old")
    path = f"{KEYS}/{key.uuid}/revoke"
    asked = admin.get(path)
    assert "Revoke Old?" in text(asked)
    assert key.prefix in text(asked)
    assert Api(key=plaintext).get("/plans").status_code == 200
    answer = admin.post(path, follow=True)
    assert flashes(answer) == ["Old was revoked. Calls with it are refused from now on."]
    assert Api(key=plaintext).get("/plans").status_code == 401
    assert "Revoked" in text(answer)
    assert admin.post(path).status_code == 404


def test_only_the_last_live_key_is_warned_about(a: Tenant, admin: Client) -> None:
    path = f"{KEYS}/{a.key.uuid}/revoke"
    assert "This is your last live key" in text(admin.get(path))
    an_agency_key(a.agency)
    assert "This is your last live key" not in text(admin.get(path))


def test_a_viewer_sees_the_keys_and_no_button(a: Tenant, viewer: Client) -> None:
    page = viewer.get(KEYS)
    assert a.key.name in text(page)
    assert b"/revoke" not in page.content
    assert b"/new" not in page.content


def test_without_keys_the_page_says_what_they_are_for(a: Tenant, admin: Client, viewer: Client) -> None:
    AgencyKey.objects.all().delete()
    assert "No API keys yet" in text(admin.get(KEYS))
    assert b"/new" in admin.get(KEYS).content
    assert b"/new" not in viewer.get(KEYS).content


def test_the_ability_to_make_keys_is_ticked_or_not(a: Tenant) -> None:
    browser = at_the_console(a.agency)
    create(browser)
    assert not AgencyKey.objects.get(name="CRM sync").can_make_keys
    plaintext = shown(create(browser, name="Onboarding", can_make_keys="on"))
    assert "May create sub-account keys" in text(browser.get(KEYS))
    assert Api(key=plaintext).post(f"{a.path}/api-keys", {"name": "Shop"}).status_code == 201


def test_a_key_may_end_and_be_for_some_networks_alone(a: Tenant) -> None:
    browser = at_the_console(a.agency)
    day = (now() + timedelta(days=40)).date().isoformat()
    plaintext = shown(create(browser, expires_at=day, allowed_networks="192.0.2.0/24"))
    assert Api(key=plaintext, address="192.0.2.9").get("/plans").status_code == 200
    assert Api(key=plaintext, address="192.0.3.9").get("/plans").status_code == 401
    assert "From 192.0.2.0/24" in text(browser.get(KEYS))
    AgencyKey.objects.filter(name="CRM sync").update(expires_at=now() - timedelta(hours=2))
    assert Api(key=plaintext, address="192.0.2.9").get("/plans").status_code == 401
    assert "Expired 2 hours ago" in text(browser.get(KEYS))


def test_a_rolled_key_may_do_what_the_old_one_could(a: Tenant, admin: Client, viewer: Client) -> None:
    key, old = an_agency_key(a.agency, name="Old", can_copy=True, can_make_keys=True)
    path = f"{KEYS}/{key.uuid}/roll"
    assert viewer.get(path).status_code == 403
    answer = admin.post(path, {"overlap": "168", "nonce": hidden(admin.get(path), "nonce")})
    new = shown(answer)
    assert [Api(key=one).get("/plans").status_code for one in (old, new)] == [200, 200]
    successor = AgencyKey.objects.get(name="Old", replaced_by=None)
    assert (successor.can_copy, successor.can_make_keys) == (True, True)
    entry = ActivityEntry.objects.get(action="agency_key.rolled")
    assert (entry.details["prefix"], entry.details["old_prefix"]) == (new[:12], old[:12])
    assert "API key rolled" in text(admin.get("/console/activity"))
    admin.post(f"{KEYS}/{key.uuid}/revoke")
    assert [Api(key=one).get("/plans").status_code for one in (old, new)] == [401, 200]
