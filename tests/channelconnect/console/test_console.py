"""Channel connect in the agency's console."""

import html
import re
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import get_resolver, reverse
from django.utils.timezone import now

from agency.actors import SYSTEM
from channelconnect.models import ConnectSession
from channelconnect.models.sessions import SessionStatus
from channelconnect.services.sessions.creation import create_session, session_by_link
from channelconnect.services.sessions.ending import end_session
from channelconnect.services.settings import settings_of, switch_connect
from tests import furnished
from tests.agency.console.browsers import at_the_console, flashes, hidden, text
from tests.channelconnect.agencies import RETURN_URL, a_session, connection_events, many_sessions, switch_on
from tests.factories import ChannelFactory, WorkspaceFactory, many_workspaces
from tests.tenants import Tenant
from workspaces.subaccounts.services import suspend_workspace

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
HOME = "/console/configuration/channel-connect"
# Which pages there are, who sees them and who may post to them.
READERS, CHANGERS, NOBODY = {"owner", "admin", "viewer"}, {"owner", "admin"}, set[str]()
PAGES = {
    "channel-connect": (READERS, NOBODY),
    "channel-connect-return-urls": (CHANGERS, CHANGERS),
    "channel-connect-start": (READERS, NOBODY),
    "channel-connect-start-for": (CHANGERS, CHANGERS),
    "channel-connect-cancel": (NOBODY, CHANGERS),
}


@pytest.fixture
def admin(connecting: Tenant) -> Client:
    return at_the_console(connecting.agency, "admin")


def address(name: str, tenant: Tenant) -> str:
    ids: dict[str, Any] = {"channel-connect-start-for": tenant.workspace, "channel-connect-cancel": None}
    if name not in ids:
        return reverse(f"console:{name}")
    return reverse(f"console:{name}", args=[(ids[name] or a_session(tenant)).uuid])


def start(browser: Client, tenant: Tenant, **changes: str) -> Any:
    path = f"{HOME}/start/{tenant.workspace.uuid}"
    nonce = hidden(browser.get(path), "nonce")
    data = {"platform": "whatsapp", "return_url": RETURN_URL, "state": "", "reconnect": "", "nonce": nonce}
    return browser.post(path, data | changes)


def link_on(page: Any) -> str:
    found = re.search(r"http://testserver/connect/([\w-]{43})", page.content.decode())
    assert found
    return found[1]


# Access -----------------------------------------------------------------------------------------------------


def test_the_table_names_every_page() -> None:
    _, resolver = get_resolver().namespace_dict["console"]
    names = {name for name in resolver.reverse_dict if isinstance(name, str)}
    assert {name for name in names if name.startswith("channel-connect")} == PAGES.keys()


@pytest.mark.parametrize("role", sorted(READERS))
def test_each_role_sees_and_changes_what_it_may(connecting: Tenant, role: str) -> None:
    browser = at_the_console(connecting.agency, role)
    paths = {name: address(name, connecting) for name in PAGES}
    for name, (looks, posts) in PAGES.items():
        path = paths[name]
        assert browser.get(path).status_code == (200 if role in looks else 403 if looks else 302), name
        answer = browser.post(path).status_code
        assert answer in ({302, 422} if role in posts else {403, 405}), name


def test_another_agency_s_ids_read_like_ids_that_nobody_has(admin: Client, connecting: Tenant, b: Tenant) -> None:
    foreign = a_session(switch_on(b))
    for uuid in (b.workspace.uuid, uuid4(), "x"):
        assert admin.get(f"{HOME}/start/{uuid}").status_code == 404
        assert admin.post(f"{HOME}/start/{uuid}", {}).status_code == 404
    for uuid in (foreign.uuid, uuid4(), "x"):
        assert admin.post(f"{HOME}/connections/{uuid}/cancel").status_code == 404
    foreign.refresh_from_db()
    assert foreign.status == "pending"
    assert b.mark not in text(admin.get(HOME)) + text(admin.get(f"{HOME}/start"))


# The overview -----------------------------------------------------------------------------------------------


def test_it_says_whether_the_feature_is_on_and_who_switches_it(connecting: Tenant, admin: Client) -> None:
    assert "Channel connect On" in text(admin.get(HOME))
    switch_connect(agency=connecting.agency, enabled=False, reason="", by=SYSTEM)
    page = text(admin.get(HOME))
    assert "Channel connect Off" in page
    assert "Channel connect is off for your agency." in page
    assert "Start a connection" not in page


def test_connections_are_listed_with_state_error_and_expiry_and_without_their_link(
    connecting: Tenant, admin: Client
) -> None:
    waiting, failed, over = a_session(connecting, state="4711"), a_session(connecting), a_session(connecting)
    end_session(session=failed, status=SessionStatus.FAILED, error_code="no_eligible_accounts", now=now(), by=SYSTEM)
    ConnectSession.objects.filter(pk=over.pk).update(expires_at=now() - timedelta(seconds=1))
    page = admin.get(HOME)
    shown = text(page)
    for expected in (
        "Waiting for the customer",
        "4711",
        f"{waiting.expires_at:%H:%M} UTC",
        "There was no number, Page or linked professional account to connect.",
        "30 minutes passed before the connection was finished.",
        connecting.workspace.name,
    ):
        assert expected in shown
    assert page.content.decode().count("/cancel") == 1
    assert "testserver/connect/" not in page.content.decode()
    assert str(waiting.link) not in page.content.decode()


def test_older_connections_are_on_older_pages(connecting: Tenant, admin: Client) -> None:
    many_sessions(connecting, 30, state="customer-{:02}")
    first = admin.get(HOME)
    assert ("customer-29" in text(first), "customer-04" in text(first)) == (True, False)
    older = re.search(r'href="(\?before=\d+)"', first.content.decode())
    assert older
    assert "customer-00" in text(admin.get(HOME + html.unescape(older[1])))


# The states of the connections that the list shows, by the filters in its address.
SHOWN = {
    "": "over failed facebook waiting",
    "platform=facebook": "facebook",
    "status=failed": "failed",
    "status=pending": "facebook waiting",
    "status=expired": "over",
    "status=pending&platform=whatsapp": "waiting",
    "status=nonsense": "over failed facebook waiting",
    "search=nobody%27s": "",
    "search=%00": "",
}


def test_connections_are_narrowed_by_platform_and_by_the_state_that_is_shown(connecting: Tenant, admin: Client) -> None:
    states = ("waiting", "facebook", "failed", "over")
    made = {
        state: a_session(connecting, state=state, platform="facebook" if state == "facebook" else "whatsapp")
        for state in states
    }
    end_session(session=made["failed"], status=SessionStatus.FAILED, error_code="session_expired", now=now(), by=SYSTEM)
    ConnectSession.objects.filter(pk=made["over"].pk).update(expires_at=now() - timedelta(seconds=1))
    found = {query: [row[0].state for row in admin.get(f"{HOME}?{query}").context["rows"]] for query in SHOWN}
    assert found == {query: shown.split() for query, shown in SHOWN.items()}


def test_connections_of_a_sub_account_are_found_by_its_name(connecting: Tenant, admin: Client, b: Tenant) -> None:
    a_session(connecting, state="wanted")
    other = WorkspaceFactory.create(agency=connecting.agency, name="Somebody else")
    create_session(
        agency=connecting.agency, workspace=other, platform="whatsapp", return_url=RETURN_URL, state=None, now=now(),
        by=SYSTEM,
    )  # fmt: skip
    page = admin.get(HOME, {"search": connecting.workspace.name.upper()})
    assert [row[0].state for row in page.context["rows"]] == ["wanted"]
    assert len(admin.get(HOME).context["rows"]) == 2


def test_a_page_of_connections_takes_as_many_statements_for_many_as_for_few(
    connecting: Tenant, admin: Client, django_assert_max_num_queries: Any
) -> None:
    many_sessions(connecting, 30)
    admin.get(HOME)  # a browser's first page writes down that it was seen
    with django_assert_max_num_queries(8):
        admin.get(f"{HOME}?status=pending&platform=whatsapp&search={connecting.workspace.name}")


def test_a_viewer_is_shown_no_buttons(connecting: Tenant) -> None:
    a_session(connecting)
    page = at_the_console(connecting.agency, "viewer").get(HOME).content.decode()
    assert "/cancel" not in page
    assert "return-urls" not in page.replace('id="return-urls"', "").replace('"return-urls"', "")


# Settings ---------------------------------------------------------------------------------------------------


def test_return_urls_are_edited_one_a_line(connecting: Tenant, admin: Client) -> None:
    path = f"{HOME}/return-urls"
    assert RETURN_URL in admin.get(path).content.decode()
    urls = ["https://one.example/", "https://two.example/x"]
    answer = admin.post(path, {"return_urls": f"\r\n {urls[0]} \r\n\r\n{urls[1]}\r\n"})
    assert answer.status_code == 302
    assert flashes(admin.get(HOME)) == ["The settings were saved."]
    assert settings_of(connecting.agency).return_urls == urls
    admin.post(path, {"return_urls": ""})
    assert settings_of(connecting.agency).return_urls == []


def test_return_urls_that_are_refused_are_named_and_change_nothing(connecting: Tenant, admin: Client) -> None:
    for lines in ("https://one.example/\nhttp://evil.example/", "\n".join(["https://x.example/"] * 21), "x\0y"):
        answer = admin.post(f"{HOME}/return-urls", {"return_urls": lines})
        assert answer.status_code == 422, lines
        if "evil" in lines:
            assert "http://evil.example/ cannot be used" in text(answer)
    assert settings_of(connecting.agency).return_urls == [RETURN_URL]


# Starting ---------------------------------------------------------------------------------------------------


def test_the_sub_account_is_found_by_its_name(connecting: Tenant, admin: Client) -> None:
    many_workspaces(connecting.agency, 30)
    gone = WorkspaceFactory.create(agency=connecting.agency, name="Crowd suspended")
    suspend_workspace(workspace=gone, now=now(), by=SYSTEM)
    assert "31 sub-accounts match." in text(admin.get(f"{HOME}/start"))
    found = text(admin.get(f"{HOME}/start?search=crowd+30"))
    assert "Crowd 30" in found
    assert "Crowd 29" not in found
    for search in ("zzz", "suspended", "%00", "%25"):
        assert "No active sub-account matches" in text(admin.get(f"{HOME}/start?search={search}"))


def test_a_started_connection_shows_its_link_once(connecting: Tenant, admin: Client) -> None:
    page = start(admin, connecting, state="4711")
    assert (page.status_code, page["Cache-Control"]) == (200, "max-age=0, no-cache, no-store, must-revalidate, private")
    session = session_by_link(link_on(page))
    assert session
    assert (session.workspace, session.state, session.status) == (connecting.workspace, "4711", "pending")
    assert link_on(page) not in admin.get(HOME).content.decode()
    listed = connecting.api.get(f"{connecting.path}/channel-connections").json()["data"]
    assert [one["id"] for one in listed] == [str(session.uuid)]


def test_a_form_sent_twice_starts_one_connection(connecting: Tenant, admin: Client) -> None:
    path = f"{HOME}/start/{connecting.workspace.uuid}"
    nonce = hidden(admin.get(path), "nonce")
    data = {"platform": "whatsapp", "return_url": RETURN_URL, "nonce": nonce}
    assert admin.post(path, data).status_code == 200
    assert admin.post(path, data).status_code == 302
    assert "You have already sent this form." in flashes(admin.get(HOME))[0]
    assert ConnectSession.objects.count() == 1


def test_a_channel_can_be_reconnected(connecting: Tenant, admin: Client, b: Tenant) -> None:
    page = start(admin, connecting, reconnect=str(connecting.channel.uuid))
    session = session_by_link(link_on(page))
    assert session
    assert session.target == connecting.channel
    other = ChannelFactory.create(workspace=connecting.workspace, platform="facebook")
    for uuid in (b.channel.uuid, other.uuid, "x"):
        assert start(admin, connecting, reconnect=str(uuid)).status_code == 422


def test_a_refused_form_can_be_sent_again(connecting: Tenant, admin: Client) -> None:
    switch_connect(agency=connecting.agency, enabled=False, reason="", by=SYSTEM)
    refused = start(admin, connecting)
    assert refused.status_code == 422
    assert "Channel connect is not enabled for this agency." in text(refused)
    switch_connect(agency=connecting.agency, enabled=True, reason="", by=SYSTEM)
    data = {"platform": "whatsapp", "return_url": RETURN_URL, "nonce": hidden(refused, "nonce")}
    assert admin.post(f"{HOME}/start/{connecting.workspace.uuid}", data).status_code == 200


def test_wrong_values_start_nothing(connecting: Tenant, admin: Client) -> None:
    for name, value in {"platform": "sms", "return_url": "https://evil.example/", "state": "x" * 501}.items():
        assert start(admin, connecting, **{name: value}).status_code == 422, name
    assert not ConnectSession.objects.exists()


def test_without_a_return_url_the_form_says_what_to_do_first(connecting: Tenant, admin: Client) -> None:
    admin.post(f"{HOME}/return-urls", {"return_urls": ""})
    assert "Register a return URL first" in text(admin.get(f"{HOME}/start/{connecting.workspace.uuid}"))


def test_a_connection_is_cancelled_once(connecting: Tenant, admin: Client) -> None:
    session = a_session(connecting)
    for expected in ("The connection was cancelled.", "The connection was cancelled."):
        assert admin.post(f"{HOME}/connections/{session.uuid}/cancel").status_code == 302
        assert flashes(admin.get(HOME)) == [expected]
    assert connection_events(connecting) == ["channel.connection.cancelled"]


def test_a_finished_connection_stays_as_it_is(connecting: Tenant, admin: Client) -> None:
    session = a_session(connecting)
    end_session(session=session, status=SessionStatus.EXPIRED, error_code="session_expired", now=now(), by=SYSTEM)
    admin.post(f"{HOME}/connections/{session.uuid}/cancel")
    assert flashes(admin.get(HOME)) == ["The connection had already ended. Nothing was changed."]


def test_what_happened_reads_well_in_the_activity_log(connecting: Tenant, admin: Client) -> None:
    start(admin, connecting)
    admin.post(f"{HOME}/connections/{ConnectSession.objects.get().uuid}/cancel")
    shown = text(admin.get("/console/activity"))
    for expected in ("Channel connection started", "Channel connection cancelled", "Channel connect switched on"):
        assert expected in shown
