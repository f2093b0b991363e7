"""Conversations over the API: listed, filtered, read, opened and closed, assigned, with notes."""

from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests import furnished
from tests.factories import ChannelFactory
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import moment, person, receive, received, the_conversation
from tests.workspaces.conversations.sending import send
from workspaces.conversations.models import Conversation, ConversationCount

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
SHOWN = {
    "id", "channel", "contact", "status", "assigned_to", "unread_count", "last_message", "window_expires_at",
    "created_at", "updated_at",
}  # fmt: skip


def listed(a: Tenant, query: str = "") -> list[dict[str, Any]]:
    return list(a.workspace_api.get(f"/conversations{query}").json()["data"])


def path(of: Conversation | None = None) -> str:
    return f"/conversations/{(of or the_conversation()).uuid}"


def change(a: Tenant, **changes: Any) -> Any:
    return a.workspace_api.patch(path(), changes)


def test_a_conversation_reads_as_in_the_list(a: Tenant) -> None:
    receive(received(a.channel, at=moment(-3600), text="Hello"))
    [shown] = listed(a)
    assert shown.keys() == SHOWN
    assert shown == a.workspace_api.get(path()).json()["data"]
    assert shown["contact"] == {
        "id": str(the_conversation().contact.uuid),
        "name": "Person 1",
        "phone": "+4915112345001",
    }
    assert shown["channel"] == {"id": str(a.channel.uuid), "platform": "whatsapp", "name": a.channel.name}
    assert (shown["status"], shown["assigned_to"], shown["unread_count"]) == ("open", None, 1)
    assert (shown["last_message"]["text"], shown["last_message"]["direction"]) == ("Hello", "in")
    assert shown["window_expires_at"] == moment(23 * 3600).isoformat().replace("+00:00", "Z")


def test_the_newest_activity_comes_first(a: Tenant) -> None:
    for number in (1, 2, 3):
        receive(received(a.channel, person=person(number)))
    receive(received(a.channel, person=person(1)))
    assert [one["contact"]["name"] for one in listed(a)] == ["Person 1", "Person 3", "Person 2"]


def test_the_list_is_filtered(a: Tenant, b: Tenant) -> None:
    other = ChannelFactory.create(workspace=a.workspace)
    receive(received(a.channel), received(other, person=person(2)), received(b.channel, person=person(3)))
    first = Conversation.objects.get(channel=a.channel)
    a.workspace_api.post(f"{path(first)}/read")
    a.workspace_api.patch(path(first), {"status": "closed"})
    for query, names in {
        "?status=closed": ["Person 1"],
        "?status=open": ["Person 2"],
        "?status=lost": [],
        f"?channel={other.uuid}": ["Person 2"],
        f"?channel={b.channel.uuid}": [],
        f"?contact={first.contact.uuid}": ["Person 1"],
        f"?contact={uuid4()}": [],
        "?unread=true": ["Person 2"],
        "?unread=false": ["Person 1"],
    }.items():
        assert [one["contact"]["name"] for one in listed(a, query)] == names, query


def test_a_list_takes_three_statements_however_long_it_is(a: Tenant) -> None:
    receive(*[received(a.channel, person=person(number)) for number in range(1, 21)])
    listed(a)
    with CaptureQueriesContext(connection) as captured:
        assert len(listed(a)) == 20
    statements = [query["sql"] for query in captured.captured_queries if "conversations_" in query["sql"]]
    assert len(statements) == 2
    assert not any("conversations_message" in statement for statement in statements)


def test_it_is_closed_and_opened(a: Tenant) -> None:
    receive(received(a.channel))
    assert change(a, status="closed").json()["data"]["status"] == "closed"
    assert change(a, status="closed").status_code == 200
    assert change(a, status="open").json()["data"]["status"] == "open"
    assert list(change(a, status="snoozed").json()["errors"]) == ["status"]


def test_it_is_assigned_to_the_team_and_to_nobody_else(a: Tenant, b: Tenant) -> None:
    receive(received(a.channel))
    owner = a.workspace.owner
    assert change(a, assigned_to=owner.email.upper()).json()["data"]["assigned_to"] == {
        "name": owner.name,
        "email": owner.email,
    }
    for stranger in (b.workspace.owner.email, "nobody@example.com"):
        refused = change(a, assigned_to=stranger)
        assert (refused.status_code, list(refused.json()["errors"])) == (422, ["assigned_to"])
    assert change(a, assigned_to=None).json()["data"]["assigned_to"] is None


def test_whoever_saw_another_holder_assigns_nothing(a: Tenant) -> None:
    receive(received(a.channel))
    owner = a.workspace.owner.email
    assert change(a, assigned_to=owner, if_assigned_to=None).status_code == 200
    late = change(a, assigned_to=None, if_assigned_to=None)
    assert (late.status_code, late.json()["message"]) == (
        409,
        "This conversation has been assigned to somebody else meanwhile.",
    )
    assert change(a, assigned_to=None, if_assigned_to=owner).status_code == 200


def test_all_is_read_and_the_last_unread_again(a: Tenant) -> None:
    receive(received(a.channel), received(a.channel))
    assert a.workspace_api.post(f"{path()}/read").json()["data"]["unread_count"] == 0
    assert a.workspace_api.post(f"{path()}/unread").json()["data"]["unread_count"] == 1


def test_notes_are_the_workspaces_own(a: Tenant, b: Tenant) -> None:
    receive(received(a.channel))
    before = the_conversation().updated_at
    for text in ("First", "Second\nline"):
        answer = a.workspace_api.post(f"{path()}/notes", {"text": text})
        assert answer.status_code == 201
    assert answer.json()["data"]["author"] == {"kind": "workspace_key", "label": "Shop"}
    assert [one["text"] for one in a.workspace_api.get(f"{path()}/notes").json()["data"]] == ["Second\nline", "First"]
    assert (the_conversation().unread_count, the_conversation().updated_at) == (1, before)
    assert b.workspace_api.get(f"{path()}/notes").status_code == 404
    assert list(a.workspace_api.post(f"{path()}/notes", {"text": " "}).json()["errors"]) == ["text"]


def test_messages_are_listed_newest_first_in_few_statements(a: Tenant) -> None:
    receive(*[received(a.channel, text=str(number), at=moment(number - 60)) for number in range(20)])
    send(a, "answer")
    address = f"{path()}/messages"
    with CaptureQueriesContext(connection) as captured:
        shown = a.workspace_api.get(address).json()["data"]
    assert [one["text"] for one in shown] == ["answer", *map(str, reversed(range(20)))]
    statements = [query["sql"] for query in captured.captured_queries if "conversations_" in query["sql"]]
    assert len(statements) == 3, statements
    first, last = shown[0], shown[-1]
    assert (first["direction"], first["status"], first["sent_by"]) == (
        "out",
        "pending",
        {"kind": "workspace_key", "label": "Shop"},
    )
    assert (last["direction"], last["status"], last["sent_by"]) == (
        "in",
        "received",
        {"kind": "contact", "label": "Person 1"},
    )
    assert last["conversation_id"] == str(the_conversation().uuid)


@pytest.mark.parametrize("method", ["GET", "PATCH"])
def test_a_foreign_conversation_is_not_found(a: Tenant, b: Tenant, method: str) -> None:
    receive(received(a.channel))
    answer = b.workspace_api.call(method, path(), {})
    assert (answer.status_code, answer.json()["message"]) == (404, "Conversation not found.")


def test_lists_are_counted_by_numbers_that_the_database_keeps(a: Tenant, b: Tenant) -> None:
    other = ChannelFactory.create(workspace=a.workspace)
    receive(*[received(a.channel, person=person(number)) for number in range(1, 41)])
    receive(*[received(other, person=person(number)) for number in range(41, 46)], received(b.channel))

    def totals_are_true() -> None:
        lists: dict[str, dict[str, Any]] = {
            "": {},
            "?status=open": {"status": "open"},
            "?status=closed": {"status": "closed"},
            f"?channel={other.uuid}": {"channel": other},
            f"?channel={a.channel.uuid}&status=closed": {"channel": a.channel, "status": "closed"},
            f"?channel={b.channel.uuid}": {"channel": None},
            "?unread=true": {"unread_count__gt": 0},
            "?unread=false": {"unread_count": 0},
            f"?unread=false&status=open&channel={a.channel.uuid}": {
                "unread_count": 0,
                "status": "open",
                "channel": a.channel,
            },
        }
        for query, found in lists.items():
            meta = a.workspace_api.get(f"/conversations{query}").json()["meta"]
            assert meta["total"] == Conversation.objects.of(a.workspace).filter(**found).count(), query

    totals_are_true()
    of_channel = list(Conversation.objects.filter(channel=a.channel).order_by("pk"))
    for conversation in of_channel[:20]:
        a.workspace_api.patch(path(conversation), {"status": "closed"})
    totals_are_true()
    for conversation in of_channel[15:18]:
        a.workspace_api.delete(f"/contacts/{conversation.contact.uuid}")
    for conversation in of_channel[:3]:
        a.workspace_api.post(f"{path(conversation)}/read")
    receive(received(a.channel, person=person(1)), received(a.channel, person=person(99)))
    totals_are_true()
    rows = ConversationCount.objects.filter(workspace_id=a.workspace.pk)
    assert rows.count() < 40


def test_the_number_of_a_long_list_reads_no_conversation(a: Tenant) -> None:
    receive(*[received(a.channel, person=person(number)) for number in range(1, 21)])
    listed(a)
    for query in ("", "?status=open", f"?channel={a.channel.uuid}"):
        with CaptureQueriesContext(connection) as captured:
            assert a.workspace_api.get(f"/conversations{query}").json()["meta"]["total"] == 20
        counted = [one["sql"] for one in captured.captured_queries if "SUM(" in one["sql"] or "COUNT(" in one["sql"]]
        assert len(counted) == 1
        assert 'FROM "conversations_conversationcount"' in counted[0]
