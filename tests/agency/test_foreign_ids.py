"""What is another agency's stays theirs, by whatever page, stream or callback somebody names it."""

from uuid import UUID

import pytest
from django.test import Client

from agency.models import BulkOperation, SavedView
from config.event_streams import EventStreamResponse
from tests import furnished
from tests.agency.console.browsers import a_browser, at_the_console, text
from tests.agency.jobs.asking import begin, choice
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import apply, moment, status
from tests.workspaces.conversations.sending import record, send
from workspaces.conversations.services import inbound
from workspaces.conversations.services.conversations import inbox_topic
from workspaces.subaccounts.dashboard.base import CHOSEN_WORKSPACE_KEY

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
SUSPEND = "sub_accounts.suspend"


def topic_of(browser: Client) -> str:
    """What an open inbox listens to."""
    answer = browser.get("/app/inbox/stream")
    assert isinstance(answer, EventStreamResponse)
    return answer.topic


def test_the_open_stream_is_of_the_persons_own_workspace_whatever_is_named(a: Tenant, b: Tenant) -> None:
    browser = a_browser(a.workspace.owner)
    foreign = str(b.workspace.uuid)
    assert topic_of(browser) == inbox_topic(a.workspace.pk)
    browser.post("/app/switch", {"workspace": foreign})
    assert topic_of(browser) == inbox_topic(a.workspace.pk)
    session = browser.session
    session[CHOSEN_WORKSPACE_KEY] = foreign
    session.save()
    assert topic_of(browser) == inbox_topic(a.workspace.pk)
    for who in (a_browser(), at_the_console(b.agency)):
        named = {"workspace": str(a.workspace.uuid), "topic": inbox_topic(a.workspace.pk)}
        answer = who.get("/app/inbox/stream", named)
        assert not isinstance(answer, EventStreamResponse)


def test_a_saved_view_of_another_agency_is_neither_removed_nor_replaced(a: Tenant, b: Tenant, admin: Client) -> None:
    theirs, page = at_the_console(b.agency), "console:sub-accounts"
    admin.post("/console/views", {"page": page, "name": "Closed", "query": "status=suspended"})
    view = SavedView.objects.get()
    theirs.post("/console/views/remove", {"page": page, "view": str(view.uuid)})
    theirs.post("/console/views", {"page": page, "name": "Closed", "query": "status=active", "view": str(view.uuid)})
    view.refresh_from_db()
    assert (view.query, SavedView.objects.count()) == ("status=suspended", 2)


def test_a_bulk_change_of_another_agency_is_neither_seen_nor_cancelled(a: Tenant, b: Tenant, admin: Client) -> None:
    operation, theirs = begin(admin, choice(SUSPEND, a.workspace), reason=""), at_the_console(b.agency, "owner")
    page = f"/console/bulk-changes/{operation.uuid}"
    assert theirs.get(page).status_code == 404
    assert theirs.post(f"{page}/cancel").status_code == 404
    assert str(operation.uuid) not in theirs.get("/console/bulk-changes").content.decode()
    operation.refresh_from_db()
    assert operation.state == "waiting"


def test_a_bulk_change_of_foreign_ids_alone_begins_nothing(a: Tenant, b: Tenant) -> None:
    theirs = at_the_console(b.agency, "owner")
    assert "Nothing is selected." in text(theirs.get(choice(SUSPEND, a.workspace)))
    assert theirs.post(choice(SUSPEND, a.workspace), {"reason": ""}).status_code == 422
    assert not BulkOperation.objects.exists()


def test_the_palette_finds_nothing_of_another_agency(a: Tenant, b: Tenant) -> None:
    known = (a.workspace.uuid, a.workspace.name, a.workspace.owner_email, a.plan.uuid, a.endpoint.uuid, a.pack.uuid)
    for role in ("owner", "viewer"):
        theirs = at_the_console(b.agency, role)
        for query in map(str, known):
            for page in ("find", "find/suggestions"):
                found = theirs.get(f"/console/{page}", {"q": query}).content.decode()
                ids = [found.count(f"/{one}") for one in known if isinstance(one, UUID)]
                assert sum(ids) == 0, query
                quoted = found.count(query) if a.mark in query else 0
                assert found.count(a.mark) == quoted, query


def test_a_status_told_of_another_workspaces_number_moves_no_message_of_ours(a: Tenant, b: Tenant) -> None:
    message = send(a)
    record(message, provider_message_id="wamid.out", at=moment())
    told = [status(b.channel, "wamid.out", one, at=moment(1)) for one in ("delivered", "read", "failed")]
    named = [status(b.channel, "wamid.other", one, at=moment(2), opaque=f"message:{message.uuid}") for one in ("read",)]
    apply(inbound.apply_statuses, *told, *named)
    message.refresh_from_db()
    assert (message.status, message.delivered_at, message.read_at) == ("sent", None, None)
