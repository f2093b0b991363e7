"""Every page of the dashboard against everybody who might open it. A page that is missing here fails the tests."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.urls import get_resolver, reverse
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.services import suspend_agency
from packs.services import add_library_entry, change_pack, create_pack
from tests import furnished
from tests.agency.console.browsers import a_browser, a_member, a_person, at_the_console, text
from tests.broadcasts.under_way import a_broadcast, a_draft
from tests.factories import (
    ContactFactory,
    ContactImportFactory,
    SegmentFactory,
    WorkspaceFactory,
    a_workspace_key,
    catalogue_ids,
)
from tests.packs.client import an_automation
from tests.tenants import Tenant, an_address
from tests.workspaces.conversations.facts import a_conversation
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from webhooks.models import Endpoint
from webhooks.pages.deliveries import sign_redelivery
from webhooks.services import Replayed, register_endpoint, send_test
from workspaces.conversations.models import Message
from workspaces.conversations.services import Content, create_saved_reply, send_message
from workspaces.subaccounts.services import suspend_workspace, tenant_of

a, b = furnished.a, furnished.b

pytestmark = pytest.mark.django_db
Ids = Callable[[Tenant], list[Any]]


def no_ids(_: Tenant) -> list[UUID]:
    return []


def automation(tenant: Tenant) -> list[UUID]:
    return [an_automation(tenant.workspace, name=f"Automation {tenant.mark}").uuid]


def channel(tenant: Tenant) -> list[UUID]:
    return [tenant.channel.uuid]


def api_key(tenant: Tenant) -> list[UUID]:
    return [a_workspace_key(tenant.workspace, name=f"Key {tenant.mark}")[0].uuid]


def own_endpoint(tenant: Tenant) -> Endpoint:
    url = f"https://93.184.215.14/{tenant.mark}"
    return register_endpoint(tenant=tenant_of(tenant.workspace), url=url, events=["product.updated"], by=SYSTEM)


def webhook(tenant: Tenant) -> list[UUID]:
    return [own_endpoint(tenant).uuid]


def delivery(tenant: Tenant) -> list[UUID]:
    return [send_test(endpoint=own_endpoint(tenant), event="product.updated", now=now(), by=SYSTEM).uuid]


def redelivery(tenant: Tenant) -> list[Any]:
    return [sign_redelivery(tenant_of(tenant.workspace), Replayed(1, 0, 1), now())]


def contact(tenant: Tenant) -> list[UUID]:
    return [ContactFactory.create(workspace=tenant.workspace, name=f"Contact {tenant.mark}").uuid]


def contact_import(tenant: Tenant) -> list[UUID]:
    return [ContactImportFactory.create(workspace=tenant.workspace, filename=f"{tenant.mark}.csv").uuid]


def segment(tenant: Tenant) -> list[UUID]:
    return [SegmentFactory.create(workspace=tenant.workspace, name=f"Segment {tenant.mark} {uuid4()}").uuid]


def conversation(tenant: Tenant) -> list[UUID]:
    return [a_conversation(tenant.channel).uuid]


def draft(tenant: Tenant) -> list[UUID]:
    return [a_draft(tenant.channel, name=f"Broadcast {tenant.mark}").uuid]


def broadcast(tenant: Tenant) -> list[UUID]:
    return [a_broadcast(channel=tenant.channel, name=f"Broadcast {tenant.mark}").uuid]


def saved_reply(tenant: Tenant) -> list[UUID]:
    name, by = f"Reply {tenant.mark} {uuid4()}", SYSTEM
    return [create_saved_reply(workspace=tenant.workspace, name=name[:60], text="Hello", now=now(), by=by).uuid]


def conversation_and_reply(tenant: Tenant) -> list[UUID]:
    return [*conversation(tenant), *saved_reply(tenant)]


def conversation_and_failure(tenant: Tenant) -> list[UUID]:
    held = a_conversation(tenant.channel)
    message = send_message(conversation=held, content=Content(text="Hello"), by=SYSTEM, now=now())
    Message.objects.filter(pk=message.pk).update(status="failed", error_code="131026")
    return [held.uuid, message.uuid]


def pack(tenant: Tenant) -> list[UUID]:
    pack = create_pack(agency=tenant.agency, name=f"Pack {tenant.mark}", by=SYSTEM)
    add_library_entry(pack=pack, template_id=an_item(), by=SYSTEM)
    change_pack(pack=pack, status="published", by=SYSTEM)
    return [pack.uuid]


def an_item() -> str:
    from packs.library import library

    return next(iter(library().items))


def offered(*names: str) -> Ids:
    """The ids of what the workspace offers, by their names in `catalogue_ids`."""

    def ids(tenant: Tenant) -> list[UUID]:
        made = catalogue_ids(tenant.workspace, f"{tenant.mark} {uuid4()}")
        return [made[name] for name in names]

    return ids


@dataclass(frozen=True)
class PageCase:
    """What the owner's GET and POST are answered with; 405 means that the method is not there, 302 that it leads on."""

    get: int
    post: int
    ids: Ids = no_ids


# Answered piece by piece: no page.
STREAMS = ("inbox-stream", "contacts-export", "contact-import-refused", "broadcast-export")
PAGES = {
    "home": PageCase(302, 405),
    "automations": PageCase(200, 405),
    "automation-remove": PageCase(200, 302, automation),
    "prerequisites": PageCase(200, 302),
    "automation": PageCase(200, 302, automation),
    "automation-on": PageCase(302, 302, automation),
    "automation-off": PageCase(302, 302, automation),
    "channels": PageCase(200, 405),
    "channel-disconnect": PageCase(200, 302, channel),
    "settings": PageCase(200, 422),
    "api-keys": PageCase(200, 405),
    "api-key-new": PageCase(200, 422),
    "api-key-revoke": PageCase(200, 302, api_key),
    "webhooks": PageCase(200, 405),
    "webhook-new": PageCase(200, 422),
    "webhook-redeliver-failed": PageCase(200, 422),
    "webhook": PageCase(200, 405, webhook),
    "webhook-edit": PageCase(200, 422, webhook),
    "webhook-rotate": PageCase(200, 200, webhook),
    "webhook-remove": PageCase(200, 302, webhook),
    "webhook-test": PageCase(302, 302, webhook),
    "webhook-delivery": PageCase(200, 405, delivery),
    "webhook-redelivery": PageCase(200, 405, redelivery),
    "webhook-redeliver": PageCase(302, 302, delivery),
    "inbox": PageCase(200, 405),
    "inbox-stream": PageCase(200, 405),
    "conversation": PageCase(200, 405, conversation),
    "conversation-new": PageCase(200, 302),
    "conversations-change": PageCase(302, 302),
    "conversation-insert": PageCase(302, 200, conversation),
    "conversation-reply": PageCase(200, 405, conversation_and_reply),
    "conversation-again": PageCase(302, 302, conversation_and_failure),
    "conversation-snooze": PageCase(302, 409, conversation),
    "conversation-opt-out": PageCase(302, 302, conversation),
    "saved-replies": PageCase(200, 405),
    "saved-reply-new": PageCase(200, 422),
    "saved-reply": PageCase(200, 422, saved_reply),
    "saved-reply-delete": PageCase(200, 302, saved_reply),
    "conversation-send": PageCase(302, 422, conversation),
    "conversation-read": PageCase(302, 302, conversation),
    "conversation-unread": PageCase(302, 302, conversation),
    "conversation-assign": PageCase(302, 302, conversation),
    "conversation-status": PageCase(302, 302, conversation),
    "conversation-note": PageCase(302, 302, conversation),
    "broadcasts": PageCase(200, 405),
    "broadcast-new": PageCase(200, 422),
    "broadcast": PageCase(200, 405, broadcast),
    "broadcast-edit": PageCase(200, 422, draft),
    "broadcast-preview": PageCase(200, 405, draft),
    "broadcast-test": PageCase(200, 422, draft),
    "broadcast-recipients": PageCase(200, 405, broadcast),
    "broadcast-export": PageCase(200, 405, broadcast),
    "broadcast-schedule": PageCase(302, 302, draft),
    "broadcast-approve": PageCase(302, 302, draft),
    "broadcast-pause": PageCase(302, 302, broadcast),
    "broadcast-resume": PageCase(302, 302, broadcast),
    "broadcast-cancel": PageCase(200, 302, broadcast),
    "broadcast-delete": PageCase(200, 302, draft),
    "broadcast-duplicate": PageCase(302, 302, broadcast),
    "contacts": PageCase(200, 405),
    "contact-new": PageCase(200, 422),
    "contacts-export": PageCase(200, 405),
    "contact": PageCase(200, 302, contact),
    "contact-opt-out": PageCase(302, 302, contact),
    "contact-opt-in": PageCase(302, 302, contact),
    "contact-remove": PageCase(200, 302, contact),
    "contact-merge": PageCase(200, 404, contact),
    "contact-imports": PageCase(200, 405),
    "contact-import-new": PageCase(200, 422),
    "contact-import": PageCase(200, 422, contact_import),
    "contact-import-cancel": PageCase(302, 302, contact_import),
    "contact-import-refused": PageCase(200, 405, contact_import),
    "segments": PageCase(200, 405),
    "segment-new": PageCase(200, 422),
    "segment": PageCase(200, 422, segment),
    "segment-remove": PageCase(200, 302, segment),
    "gallery": PageCase(200, 405),
    "products": PageCase(200, 405),
    "product-new": PageCase(200, 422),
    "product": PageCase(200, 422, offered("product")),
    "product-stock": PageCase(200, 422, offered("product")),
    "product-delete": PageCase(200, 302, offered("product")),
    "services": PageCase(200, 405),
    "service-new": PageCase(200, 422),
    "service": PageCase(200, 422, offered("service")),
    "service-delete": PageCase(200, 302, offered("service")),
    "service-categories": PageCase(200, 405),
    "service-category-new": PageCase(200, 422),
    "service-category": PageCase(200, 422, offered("category")),
    "service-category-delete": PageCase(200, 302, offered("category")),
    "staff": PageCase(200, 405),
    "staff-new": PageCase(200, 422),
    "staff-member": PageCase(200, 422, offered("staff")),
    "staff-delete": PageCase(200, 302, offered("staff")),
    "classes": PageCase(200, 405),
    "class-new": PageCase(200, 422),
    "class": PageCase(200, 405, offered("session")),
    "class-cancel": PageCase(200, 302, offered("session")),
    "class-participant-add": PageCase(302, 404, offered("session")),
    "class-participant-remove": PageCase(302, 302, offered("session", "contact")),
    "pack": PageCase(200, 405, pack),
    "pack-install": PageCase(302, 302, pack),
}
# Open to whoever has signed in and owns something: they lead into a workspace.
LANDING = {
    "choose": PageCase(200, 405),
    "switch": PageCase(302, 302),
    "leave": PageCase(200, 302, lambda tenant: [tenant.workspace.uuid]),
}
every_workspace_page = pytest.mark.parametrize("name", PAGES)
every_page = pytest.mark.parametrize("name", [*PAGES, *LANDING])
pages_with_ids = pytest.mark.parametrize("name", [name for name, case in PAGES.items() if case.ids is not no_ids])


def address(name: str, ids: list[UUID]) -> str:
    return reverse(f"app:{name}", args=ids)


def test_the_table_names_every_page_of_the_dashboard() -> None:
    _, resolver = get_resolver().namespace_dict["app"]
    assert {name for name in resolver.reverse_dict if isinstance(name, str)} == PAGES.keys() | LANDING.keys()


@every_page
def test_whoever_has_not_signed_in_is_led_to_the_sign_in_page(name: str, a: Tenant) -> None:
    path = address(name, (PAGES | LANDING)[name].ids(a))
    for answer in (a_browser().get(path), a_browser().post(path)):
        assert answer.status_code == 302
        assert answer["Location"].startswith("/account/sign-in?next=/app/")
    assert unquote(a_browser().get(path)["Location"]).endswith(path)


@every_page
def test_the_owner_of_the_workspace_comes_in(name: str, a: Tenant) -> None:
    case, browser = (PAGES | LANDING)[name], dashboard_client(a.workspace)
    path = address(name, case.ids(a))
    assert browser.get(path).status_code == case.get
    assert browser.post(path).status_code == case.post


@every_workspace_page
def test_agency_staff_without_a_workspace_stay_outside(name: str, a: Tenant) -> None:
    path = address(name, PAGES[name].ids(a))
    for browser in (at_the_console(a.agency, "owner"), a_browser(a_person())):
        for answer in (browser.get(path), browser.post(path)):
            assert answer.status_code == 403
            assert "You own no workspace" in text(answer)


@pages_with_ids
def test_the_owner_of_another_workspace_finds_nothing_there(name: str, a: Tenant, b: Tenant) -> None:
    case, browser = PAGES[name], dashboard_client(a.workspace)
    foreign = case.ids(b)
    for method in (browser.get, browser.post):
        answers = [
            method(address(name, ids), headers={"X-Request-Id": "same"})
            for ids in (foreign, [uuid4() for _ in foreign])
        ]
        if answers[0].status_code == (302 if method == browser.get else 405):
            continue
        assert [answer.status_code for answer in answers] == [404, 404]
        assert answers[0].content == answers[1].content
        assert b.mark.encode() not in answers[0].content


@pytest.mark.parametrize("name", ["automation", "automation-on", "automation-off"])
def test_neither_does_a_neighbour_at_the_same_agency(name: str, a: Tenant) -> None:
    ids = PAGES[name].ids(a)
    browser = dashboard_client(WorkspaceFactory.create(agency=a.agency))
    assert browser.get(address(name, ids), follow=True).status_code == 404
    assert browser.post(address(name, ids)).status_code == 404


@pages_with_ids
def test_a_malformed_id_is_not_found(name: str, a: Tenant) -> None:
    browser = dashboard_client(a.workspace)
    ids = PAGES[name].ids(a)
    path = address(name, ids).replace(str(ids[0]), "%00x")
    assert {browser.get(path).status_code, browser.post(path).status_code} <= {404, 405}


@every_workspace_page
def test_a_suspended_workspace_shows_a_page_that_says_so(name: str, a: Tenant) -> None:
    path = address(name, PAGES[name].ids(a))
    browser = dashboard_client(a.workspace)
    suspend_workspace(workspace=a.workspace, reason="Did not pay", now=now(), by=SYSTEM)
    for answer in (browser.get(path), browser.post(path)):
        assert answer.status_code == 403
        assert f"{a.workspace.name} is suspended" in text(answer)
        assert "Did not pay" not in text(answer)


@every_workspace_page
def test_so_does_a_workspace_of_a_suspended_agency(name: str, a: Tenant) -> None:
    path = address(name, PAGES[name].ids(a))
    browser = dashboard_client(a.workspace)
    suspend_agency(agency=a.agency, reason="", now=now(), by=SYSTEM)
    for answer in (browser.get(path), browser.post(path)):
        assert answer.status_code == 403
        assert "is suspended" in text(answer)


@pytest.mark.parametrize("name", [name for name, case in (PAGES | LANDING).items() if case.post != 405])
def test_no_page_takes_a_forged_post(name: str, a: Tenant) -> None:
    browser = Client(enforce_csrf_checks=True, REMOTE_ADDR=an_address())
    browser.force_login(a.workspace.owner)
    assert browser.post(address(name, (PAGES | LANDING)[name].ids(a))).status_code == 403


@pytest.mark.parametrize(
    "name", [name for name, case in (PAGES | LANDING).items() if case.get == 200 and name not in STREAMS]
)
def test_pages_are_kept_by_nobody_and_need_no_script_of_their_own(name: str, a: Tenant) -> None:
    page: Any = dashboard_client(a.workspace).get(address(name, (PAGES | LANDING)[name].ids(a)))
    assert "no-store" in page["Cache-Control"]
    content = b"".join(page)
    assert b" style=" not in content
    assert content.count(b"<script") == content.count(b'<script type="module" src="/static/')


def test_a_member_of_the_agency_who_owns_a_workspace_sees_that_one(a: Tenant) -> None:
    staff = a_member(a.agency, "viewer")
    workspace = WorkspaceFactory.create(agency=a.agency, owner_email=staff.user.email, name="Own shop")
    assert workspace.owner == staff.user
    assert "Own shop" in text(a_browser(staff.user).get("/app/automations"))
