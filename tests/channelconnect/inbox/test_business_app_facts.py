"""What the WhatsApp Business app hands over and sends: contacts, the chat history, echoes, and its end."""

import itertools
import json
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import SESSION_KEY
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.models import Event
from agency.pages.forms import new_nonce
from channelconnect.models import BusinessAppSync, ChannelCredential
from tests import furnished
from tests.agency.console.browsers import text
from tests.channelconnect.inbox.notices import NUMBER, whatsapp
from tests.channelconnect.inbox.signed import post
from tests.factories import ChannelFactory
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from tools.sandbox import RunningSandbox
from workspaces.automations.models import Automation, AutomationPause, TriggerEvent
from workspaces.contacts.models import Contact
from workspaces.conversations.models import Conversation, Message, QueuedMessage
from workspaces.conversations.models.messages import MediaFetch
from workspaces.subaccounts.models import Channel

a = furnished.a_with_customer
pytestmark = pytest.mark.django_db
OWN = "49301234"
ADA, BEN = "491701234567", "491701234568"
NoticeSender = Callable[..., None]


@pytest.fixture
def number(a: Tenant) -> Channel:
    """A number that stays in the app, with a request for everything under way."""
    made = ChannelFactory.create(workspace=a.workspace, external_id=NUMBER, starter_pack=False)
    Channel.objects.filter(pk=made.pk).update(is_on_business_app=True, connected_at=now() - timedelta(minutes=5))
    ChannelCredential.objects.create(channel=made, token="a token", container_id="2001")
    BusinessAppSync.objects.create(channel=made, begun_at=now() - timedelta(minutes=5))
    return Channel.objects.get(pk=made.pk)


@pytest.fixture
def tell(meta: RunningSandbox, number: Channel) -> NoticeSender:
    """Post a signed callback about the number and read it."""

    def tell(field: str, **value: Any) -> None:
        metadata = {"phone_number_id": NUMBER, "display_phone_number": f"+{OWN}"}
        body = whatsapp(field, {"messaging_product": "whatsapp", "metadata": metadata, **value})
        post(meta, body.replace(b'"time": 1790000000', f'"time": {int(time.time())}'.encode()))

    return tell


def said(id: str, sender: str, body: str, *, ago: int = 3_600, status: str = "READ", **more: Any) -> dict[str, Any]:
    at = str(int(time.time()) - ago)
    told = {"from": sender, "id": id, "timestamp": at, "type": "text", "text": {"body": body}}
    return told | {"history_context": {"status": status}} | more


def part(progress: int, *threads: tuple[str, list[dict[str, Any]]], chunk: int = 1) -> dict[str, Any]:
    metadata = {"phase": 0, "chunk_order": chunk, "progress": progress}
    return {"metadata": metadata, "threads": [{"id": person, "messages": messages} for person, messages in threads]}


def entry(phone: object, name: object = "Ada Byron", action: str = "add") -> dict[str, Any]:
    contact = {"full_name": name, "first_name": "Ada", "phone_number": phone}
    return {"type": "contact", "contact": contact, "action": action, "metadata": {"timestamp": str(int(time.time()))}}


def kept() -> list[tuple[str, str, str]]:
    return [(one.direction, one.text, one.status) for one in Message.objects.order_by("provider_time", "id")]


# Contacts -------------------------------------------------------------------------------------------------


def test_the_address_book_becomes_contacts_who_have_agreed_to_nothing(a: Tenant, tell: NoticeSender) -> None:
    known = Contact.objects.create(workspace=a.workspace, phone=f"+{BEN}", name="Benjamin")
    tell("smb_app_state_sync", state_sync=[entry(ADA), entry(BEN, "Ben from the gym"), entry(ADA)])
    ada = Contact.objects.get(phone=f"+{ADA}")
    known.refresh_from_db()
    assert (ada.name, known.name, Contact.objects.count()) == ("Ada Byron", "Benjamin", 2)
    assert (ada.last_inbound_at, ada.opted_out_at, Conversation.objects.count()) == (None, None, 0)
    tell("smb_app_state_sync", state_sync=[entry(ADA, action="remove")])
    assert Contact.objects.count() == 2
    assert BusinessAppSync.objects.get().contacts == 2


def test_hostile_entries_of_the_address_book_do_no_harm(tell: NoticeSender) -> None:
    phones = ("", "1", "9" * 40, "<script>", None, 7, ["491"], {"a": 1}, "\u0664\u0665" * 6)
    hostile = [entry(phone) for phone in phones]
    tell("smb_app_state_sync", state_sync=[*hostile, entry(ADA, "x" * 100_000 + "\x00"), "nothing", None, {"type": []}])
    contact = Contact.objects.get()
    assert (contact.phone, len(contact.name)) == (f"+{ADA}", 200)
    tell("smb_app_state_sync", state_sync={"type": "contact"})
    tell("smb_app_state_sync")
    assert Contact.objects.count() == 1


# History --------------------------------------------------------------------------------------------------


def test_history_causes_no_unread_count_events_or_notifications(
    a: Tenant, tell: NoticeSender, number: Channel, automation: Automation
) -> None:
    thread = [
        said("wamid.1", ADA, "Are you open?", ago=7_200),
        said("wamid.2", OWN, "From ten.", ago=7_100, status="DELIVERED"),
        said("wamid.3", OWN, "Come by!", ago=7_000, status="PLAYED", to=ADA),
        said("wamid.4", OWN, "It was lost.", ago=6_900, status="ERROR"),
        said("wamid.5", OWN, "Wait", ago=6_800, status="PENDING"),
    ]
    events = Event.objects.count()
    tell("history", history=[part(40, (ADA, thread))])
    assert kept() == [
        ("in", "Are you open?", "received"),
        ("out", "From ten.", "delivered"),
        ("out", "Come by!", "read"),
        ("out", "It was lost.", "failed"),
        ("out", "Wait", "sent"),
    ]
    held, lost = Conversation.objects.get(), Message.objects.get(status="failed")
    client, page = dashboard_client(a.workspace), f"/app/inbox/{held.uuid}"
    shown = text(client.get(page))
    assert ("It was lost." in shown, "Not delivered." in shown, "Send again" in shown) == (True, True, False)
    nonce = new_nonce(int(client.session[SESSION_KEY]))
    refused = client.post(f"{page}/messages/{lost.uuid}/again", {"nonce": nonce})
    assert (refused.status_code, QueuedMessage.objects.count()) == (409, 0)
    assert "This message was not sent from here." in text(refused)
    assert (held.status, held.unread_count, held.last_inbound_at) == ("closed", 0, None)
    assert (held.last_message_preview, held.last_message_direction) == ("Wait", "out")
    assert held.updated_at == held.last_message_at
    assert held.contact.last_inbound_at is None
    assert {one.created_at for one in Message.objects.all()} == {one.provider_time for one in Message.objects.all()}
    assert (Event.objects.count(), TriggerEvent.objects.count(), AutomationPause.objects.count()) == (events, 0, 0)
    assert BusinessAppSync.objects.get().history_progress == 40
    page = text(dashboard_client(a.workspace).get(f"/app/inbox/{held.uuid}"))
    assert "From the phone" in page
    assert "Sent elsewhere" not in page


def test_parts_of_the_history_come_in_any_order_and_again(tell: NoticeSender) -> None:
    late = part(100, (ADA, [said("wamid.3", ADA, "c", ago=10)]), chunk=3)
    early = part(30, (ADA, [said("wamid.1", ADA, "a", ago=30)]), (BEN, [said("wamid.9", BEN, "b")]))
    middle = part(60, (ADA, [said("wamid.2", OWN, "b", ago=20), said("wamid.1", ADA, "a", ago=30)]), chunk=2)
    for history in ([late], [early], [middle], [late, early]):
        tell("history", history=history)
    assert [one for one in kept() if one[1] != "b"] == [("in", "a", "received"), ("in", "c", "received")]
    assert (Message.objects.count(), Conversation.objects.count()) == (4, 2)
    ada = Conversation.objects.get(contact__phone=f"+{ADA}")
    assert (ada.last_message_preview, ada.status) == ("c", "closed")
    assert BusinessAppSync.objects.get().history_progress == 100


def test_the_history_leaves_a_conversation_that_goes_on_as_it_is(tell: NoticeSender) -> None:
    tell("messages", messages=[said("wamid.8", ADA, "Hello?", ago=5)])
    before = Conversation.objects.values().get()
    tell("history", history=[part(100, (ADA, [said("wamid.1", OWN, "Bye", ago=9_000)]))])
    assert Conversation.objects.values().get() == before
    assert (before["status"], before["unread_count"], Message.objects.count()) == ("open", 1, 2)


def test_files_of_the_history_are_filled_in_when_they_come(tell: NoticeSender) -> None:
    image = {"id": "24230790383178626", "mime_type": "image/jpeg", "sha256": "abc", "caption": "Black"}
    placeholder = said("wamid.1", OWN, "", type="media_placeholder")
    tell("history", history=[part(50, (ADA, [placeholder]))])
    assert [one.type for one in Message.objects.all()] == ["unsupported"]
    # The network may name the contact as the sender here, although the business has sent it.
    tell("history", messages=[said("wamid.1", ADA, "", type="image", image=image)])
    [sent] = Message.objects.all()
    assert (sent.type, sent.text, sent.direction, sent.status) == ("image", "Black", "out", "read")
    assert MediaFetch.objects.get().reference == image["id"]
    assert Conversation.objects.get().last_message_preview == "Black"
    # A file that comes first is kept, and its placeholder does not take it away.
    tell("history", messages=[said("wamid.2", BEN, "", type="image", image=image)])
    tell("history", history=[part(60, (BEN, [said("wamid.2", BEN, "", type="media_placeholder")]))])
    assert Message.objects.get(provider_message_id="wamid.2").type == "image"
    # Nobody knows whose chat this is.
    tell("history", messages=[said("wamid.3", OWN, "", type="image", image=image)])
    assert Message.objects.count() == 2


def test_an_owner_who_does_not_share_the_history_is_believed(tell: NoticeSender) -> None:
    tell("history", history=[{"errors": [{"code": 2593109, "title": "History sync is turned off"}]}])
    sync = BusinessAppSync.objects.get()
    assert (sync.is_history_declined, sync.history_fault) == (True, "")
    tell("history", history=[{"errors": [{"code": 131000, "title": "Something went wrong"}]}])
    sync.refresh_from_db()
    assert sync.history_fault == "131000"


def test_the_history_of_an_earlier_connection_says_nothing_of_this_one(tell: NoticeSender) -> None:
    BusinessAppSync.objects.update(begun_at=now() + timedelta(minutes=1))
    tell("history", history=[part(100)])
    assert BusinessAppSync.objects.get().history_progress is None


def test_hostile_history_does_no_harm(tell: NoticeSender) -> None:
    odd: list[Any] = [
        None,
        7,
        {"metadata": {"progress": 101}},
        {"metadata": {"progress": "1e9"}, "threads": {"id": ADA}},
        {"threads": [None, {"id": "<b>", "messages": [said("wamid.a", "<b>", "x")]}, {"id": ADA, "messages": [3, {}]}]},
        part(10, (ADA, [said("wamid.b", ADA, "\x00" + "y" * 70_000), said("", ADA, "no id")])),
        part(
            10, (ADA, [said("wamid.c", ADA, "the future", ago=-9_999_999), said("wamid.d", ADA, "?", timestamp="-1")])
        ),
        part(10, (ADA, [said("wamid.e", ADA, "", type="reaction", reaction={"message_id": "wamid.b", "emoji": "x"})])),
        part(10, (ADA, [said("wamid.f", ADA, "", type="revoke", revoke={"original_message_id": "wamid.b"})])),
        part(10, (ADA, [said("wamid.g" * 200, ADA, "long id"), said("wamid.h", ADA, "a group", group_id="1")])),
        {"errors": [{"code": "'; --"}, None]},
    ]
    tell("history", history=odd)
    tell("history", history="nothing")
    written = {one.provider_message_id[:7]: one for one in Message.objects.all() if one.provider_message_id}
    assert sorted(written) == ["wamid.b", "wamid.c", "wamid.d", "wamid.g"]
    assert all(one.provider_time <= now() for one in written.values())
    assert len(written["wamid.b"].text) == 65_536
    assert Conversation.objects.get().last_inbound_at is None
    assert BusinessAppSync.objects.get().history_progress == 10


def test_thousands_of_past_messages_take_a_bounded_number_of_statements(tell: NoticeSender) -> None:
    def statements(size: int, first: int) -> int:
        many = [said(f"wamid.{first + one}", ADA, "Hi", ago=9_000 - one) for one in range(size)]
        with CaptureQueriesContext(connection) as asked:
            tell("history", history=[part(50, (ADA, many))])
        return len(asked)

    statements(1, 0)
    few = statements(10, 10)
    assert statements(490, 1_000) == few
    assert statements(1_000, 10_000) <= 2 * few
    assert Message.objects.count() == 1 + 10 + 490 + 1_000


# Echoes and the end ---------------------------------------------------------------------------------------


def test_what_the_phone_sends_is_a_person_s_answer_and_can_be_changed(
    a: Tenant, tell: NoticeSender, automation: Automation
) -> None:
    tell("messages", messages=[said("wamid.1", ADA, "Hello?", ago=60)])
    tell("smb_message_echoes", message_echoes=[said("wamid.2", OWN, "Yes?", ago=50, to=ADA)])
    held = Conversation.objects.get()
    assert (held.last_message_preview, held.last_message_direction, held.unread_count) == ("Yes?", "out", 0)
    assert AutomationPause.objects.get().conversation_id == held.pk
    assert "From the phone" in text(dashboard_client(a.workspace).get(f"/app/inbox/{held.uuid}"))

    edit = {"original_message_id": "wamid.2", "message": {"type": "text", "text": {"body": "Yes!"}}}
    tell("smb_message_echoes", message_echoes=[said("wamid.3", OWN, "", ago=40, to=ADA, type="edit", edit=edit)])
    assert Message.objects.get(provider_message_id="wamid.2").text == "Yes!"
    inbound = held.last_inbound_at
    liked = {"message_id": "wamid.1", "emoji": "x"}
    tell("smb_message_echoes", message_echoes=[said("wamid.4", OWN, "", to=ADA, type="reaction", reaction=liked)])
    revoke = {"original_message_id": "wamid.2"}
    tell("smb_message_echoes", message_echoes=[said("wamid.5", OWN, "", to=ADA, type="revoke", revoke=revoke)])
    assert Message.objects.get(provider_message_id="wamid.2").removed_at
    held.refresh_from_db()
    assert (held.last_inbound_at, Message.objects.count()) == (inbound, 2)
    assert Message.objects.get(provider_message_id="wamid.1").reactions == []


@pytest.mark.parametrize(("event", "comes_back"), [("PARTNER_REMOVED", False), ("ACCOUNT_OFFBOARDED", True)])
def test_a_number_that_the_phone_takes_back_is_disconnected_with_the_reason(
    a: Tenant, tell: NoticeSender, number: Channel, event: str, comes_back: bool
) -> None:
    sister = ChannelFactory.create(workspace=a.workspace, external_id="4009", starter_pack=False)
    ChannelCredential.objects.create(channel=sister, token="a token", container_id="2001")
    Channel.objects.filter(pk=sister.pk).update(connected_at=number.connected_at)
    tell("account_update", event=event)
    number.refresh_from_db()
    sister.refresh_from_db()
    assert (sister.status == "active") is comes_back
    assert (number.status, number.lost_reason) == ("error", event)
    page = text(dashboard_client(a.workspace).get("/app/channels"))
    reason = "has moved to another phone" if comes_back else "was disconnected in the WhatsApp Business app"
    assert reason in page
    before = number.connected_at
    Channel.objects.filter(pk=number.pk).update(connected_at=now() + timedelta(minutes=1))
    tell("account_update", event="ACCOUNT_RECONNECTED", late=True)
    number.refresh_from_db()
    assert number.status == "error", "a callback from before its last connection comes late"
    Channel.objects.filter(pk=number.pk).update(connected_at=before)
    tell("account_update", event="ACCOUNT_RECONNECTED")
    number.refresh_from_db()
    assert (number.status == "active", number.is_on_business_app) == (comes_back, True)
    assert json.loads(a.workspace_api.get(f"/channels/{number.uuid}").content)["data"]["status"] == number.status


def test_of_a_loss_and_a_return_in_one_batch_the_newer_counts(meta: RunningSandbox, number: Channel) -> None:
    orders = itertools.product(("active", "error"), ("OFFBOARDED", "RECONNECTED"), (False, True))
    for ago, (status, newer, is_reversed) in enumerate(orders, 60):
        reason = "ACCOUNT_OFFBOARDED" if status == "error" else ""
        Channel.objects.update(status=status, lost_reason=reason, connected_at=number.connected_at)
        older = {"OFFBOARDED": "RECONNECTED", "RECONNECTED": "OFFBOARDED"}[newer]
        entries: list[dict[str, Any]] = []
        for event, at in ((older, time.time() - ago - 60), (newer, time.time() - ago)):
            body = json.loads(whatsapp("account_update", {"event": f"ACCOUNT_{event}"}))
            entries += [{**body["entry"][0], "time": int(at)}]
        post(meta, json.dumps({**body, "entry": entries[::-1] if is_reversed else entries}).encode())
        number.refresh_from_db()
        expected = "error" if newer == "OFFBOARDED" else "active"
        assert number.status == expected, (status, newer, is_reversed)
        Channel.objects.update(connected_at=now() - timedelta(minutes=5))
        number.refresh_from_db()
