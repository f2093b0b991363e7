"""What people see and do in the inbox, without any script."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM, Actor
from agency.pages.forms import new_nonce
from config.event_streams import latest_entry_id
from tests import furnished
from tests.agency.console.browsers import text
from tests.factories import ChannelFactory, UserFactory, WorkspaceMemberFactory
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import moment, person, receive, received, the_conversation
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.contacts.models import Contact
from workspaces.conversations.models import Conversation, Message, Note, QueuedMessage
from workspaces.conversations.services import Content, add_note, send_message
from workspaces.conversations.services.conversations import inbox_topic
from workspaces.subaccounts.models import Channel

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
INBOX = "/app/inbox"


def page_of(conversation: Conversation) -> str:
    return f"{INBOX}/{conversation.uuid}"


def do(owner: Client, conversation: Conversation, action: str, **fields: Any) -> Any:
    """Send one of the page's own forms, with what stands hidden in a new one of the owner's."""
    hidden = {"made_for": str(conversation.workspace.uuid), "nonce": new_nonce(conversation.workspace.owner_id)}
    return owner.post(f"{page_of(conversation)}/{action}", {**hidden, **fields})


def sent() -> list[str]:
    return list(Message.objects.filter(direction="out").order_by("id").values_list("text", flat=True))


def test_the_list_shows_who_wrote_last_and_what_is_unread(owner: Client, channel: Channel) -> None:
    assert "No conversations yet" in text(owner.get(INBOX))
    receive(received(channel, text="Are you open?", at=moment(-60)))
    receive(received(channel, person=person(2), text="Good morning"))
    shown = text(owner.get(INBOX))
    assert shown.index("Person 2") < shown.index("Person 1")
    assert "Are you open?" in shown
    assert "Unread: 1" in shown
    assert "All open 2" in shown


def test_a_row_names_its_channel_only_where_there_are_several(owner: Client, channel: Channel, a: Tenant) -> None:
    receive(received(channel))
    assert b"inbox-channel" not in owner.get(INBOX).content
    ChannelFactory.create(workspace=a.workspace, platform="instagram", name="Our Instagram")
    do(owner, the_conversation(), "assign", assigned_to=a.workspace.owner.email, seen="")
    shown = owner.get(INBOX)
    assert f"WhatsApp, {channel.name}: Person 1" in text(shown)
    assert f"Assigned to {a.workspace.owner}" in text(shown)
    assert shown.content.count(b'class="inbox-line"') == 2


def test_unread_answers_the_counts_and_the_time_of_the_newest_message(owner: Client, channel: Channel) -> None:
    assert owner.get("/app/unread").json() == {"notifications": 0, "messages": 0, "newest": ""}
    receive(received(channel, at=moment(-60)))
    with CaptureQueriesContext(connection) as few:
        owner.get("/app/unread")
    receive(*(received(channel, person=person(number), at=moment(-number)) for number in (1, 2, 3)))
    with CaptureQueriesContext(connection) as many:
        told = owner.get("/app/unread").json()
    assert (told["messages"], told["newest"]) == (3, moment(-1).isoformat())
    assert len(few) == len(many)
    do(owner, Conversation.objects.newest_activity_first()[0], "status", status="closed")
    assert owner.get("/app/unread").json()["messages"] == 2


def test_the_numbers_of_the_views_are_those_of_what_they_name(owner: Client, channel: Channel) -> None:
    receive(*(received(channel, person=person(number)) for number in range(1, 6)))
    closed, snoozed, *_ = Conversation.objects.order_by("pk")
    do(owner, closed, "status", status="closed")
    do(owner, snoozed, "snooze", **{"for": "tomorrow"})
    page = owner.get(INBOX).content.decode()
    views = re.findall(r'view=(\w+)"[^>]*>([^<]+) <span class="inbox-number">(\d+)', page)
    assert views == [
        ("mine", "Mine", "0"),
        ("unassigned", "Unassigned", "3"),
        ("all", "All open", "3"),
        ("snoozed", "Snoozed", "1"),
        ("closed", "Closed", "1"),
    ]
    for view, _, number in views:
        assert owner.get(INBOX, {"view": view}).content.count(b"data-conversation=") == int(number)


def test_a_list_costs_the_same_however_many_there_are(owner: Client, channel: Channel) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert owner.get(INBOX).status_code == 200
        return len(queries)

    receive(received(channel))
    few = statements()
    receive(*(received(channel, person=person(number)) for number in range(2, 70)))
    assert statements() == few <= 16
    assert owner.get(INBOX).content.count(b"inbox-row") >= 50


def test_older_conversations_follow_without_a_gap(owner: Client, channel: Channel) -> None:
    receive(*(received(channel, person=person(number), at=moment(-number)) for number in range(1, 62)))
    seen: list[str] = []
    address = INBOX
    while address:
        page = owner.get(address).content.decode()
        seen += re.findall(r'inbox-who">(.*?)<', page)
        more = re.search(r'href="([^"]+)">Older conversations', page)
        address = more[1].replace("&amp;", "&") if more else ""
    assert seen == [f"Person {number}" for number in range(61, 0, -1)]


def test_odd_links_show_the_list(owner: Client, channel: Channel) -> None:
    receive(received(channel))
    for place in ("after=x", "after=2026-11-22T10:00:00_5", "after=_", "view=%00", "search=%00&view=x"):
        assert "Person 1" in text(owner.get(f"{INBOX}?{place}")), place


def test_a_search_finds_names_numbers_and_words(owner: Client, channel: Channel) -> None:
    receive(received(channel, text="The red bicycle"), received(channel, person=person(2), text="Good morning"))
    for words in ("person 1", "+4915112345001", "BICYCLE"):
        shown = text(owner.get(INBOX, {"search": words}))
        assert ("Person 1" in shown, "Person 2" in shown) == (True, False), words
    assert "No matches" in text(owner.get(INBOX, {"search": "100%"}))


def test_an_answer_is_queued_once_however_often_its_form_is_sent(owner: Client, channel: Channel) -> None:
    receive(received(channel))
    conversation = the_conversation()
    form = owner.get(page_of(conversation)).content.decode()
    hidden = dict(re.findall(r'name="(made_for|nonce)" value="([^"]+)"', form))
    assert hidden["made_for"] == str(channel.workspace.uuid)
    fields = {**hidden, "text": "Yes, until six."}
    for _ in range(2):
        answer = owner.post(f"{page_of(conversation)}/send", fields)
        assert (answer.status_code, answer.headers["Location"]) == (302, page_of(conversation))
    assert sent() == ["Yes, until six."]
    assert QueuedMessage.objects.count() == 1
    assert "Yes, until six." in text(owner.get(page_of(conversation)))


def test_a_file_is_kept_and_sent_with_its_caption(owner: Client, channel: Channel) -> None:
    receive(received(channel))
    picture = SimpleUploadedFile("menu.pdf", b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\n%%EOF", "text/html")
    assert do(owner, the_conversation(), "send", text="Our menu", file=picture).status_code == 302
    message = Message.objects.get(direction="out")
    assert message.media is not None
    assert (message.type, message.text, message.media.filename) == ("document", "Our menu", "menu.pdf")
    assert "menu.pdf" in text(owner.get(page_of(the_conversation())))


def test_what_is_refused_stands_in_the_form_with_its_reason(owner: Client, channel: Channel) -> None:
    receive(received(channel))
    empty = SimpleUploadedFile("empty.txt", b"")
    answer = do(owner, the_conversation(), "send", text="Look at this", file=empty)
    assert answer.status_code == 422
    assert "Look at this" in text(answer)
    assert sent() == []


def test_after_24_hours_only_a_template_may_be_sent(owner: Client, channel: Channel) -> None:
    receive(received(channel, at=moment(-timedelta(hours=25).total_seconds())))
    conversation = the_conversation()
    shown = owner.get(page_of(conversation))
    assert "You can only send an approved template now" in text(shown)
    assert b'name="text" maxlength="4096" placeholder' not in shown.content
    answer = do(owner, conversation, "send", text="Hello?")
    assert (answer.status_code, sent()) == (422, [])


def test_who_opted_out_cannot_be_written_to(owner: Client, channel: Channel) -> None:
    receive(received(channel, text="STOP"))
    before = len(sent())
    assert "has opted out" in text(owner.get(page_of(the_conversation())))
    assert do(owner, the_conversation(), "send", text="Hello?").status_code == 422
    assert len(sent()) == before


def test_reading_is_a_change_of_its_own(owner: Client, channel: Channel) -> None:
    receive(received(channel))
    owner.get(page_of(the_conversation()))
    assert the_conversation().unread_count == 1
    do(owner, the_conversation(), "read")
    assert the_conversation().unread_count == 0
    do(owner, the_conversation(), "unread")
    assert the_conversation().unread_count == 1


def test_a_conversation_is_assigned_closed_and_noted_upon(owner: Client, channel: Channel, a: Tenant) -> None:
    receive(received(channel))
    conversation = the_conversation()
    email = a.workspace.owner.email
    assert do(owner, conversation, "assign", assigned_to=email, seen="").status_code == 302
    assert the_conversation().assigned_to == a.workspace.owner
    do(owner, conversation, "status", status="closed")
    assert the_conversation().status == "closed"
    assert "Closed 1" in text(owner.get(INBOX))
    do(owner, conversation, "notes", text="Calls back on Monday")
    assert Note.objects.get().text == "Calls back on Monday"
    assert "Calls back on Monday" in text(owner.get(page_of(conversation)))
    receive(received(channel, text="One more thing"))
    assert the_conversation().status == "open"


def test_everybody_of_the_team_and_nobody_is_one_button_of_the_head(owner: Client, channel: Channel, a: Tenant) -> None:
    receive(received(channel))
    mine, other = a.workspace.owner.email, WorkspaceMemberFactory.create(workspace=a.workspace).user.email
    for held, chosen, offered in (("", other, [mine, other]), (other, "", [mine, ""]), ("", mine, [mine, other])):
        page = owner.get(page_of(the_conversation())).content.decode()
        assert re.findall(r'name="assigned_to" value="([^"]*)"', page) == offered
        assert (">Assign to me<" in page) == (mine in offered)
        do(owner, the_conversation(), "assign", assigned_to=chosen, seen=held)
        assert getattr(the_conversation().assigned_to, "email", "") == chosen


def test_two_people_do_not_take_a_conversation_from_each_other(owner: Client, channel: Channel, a: Tenant) -> None:
    receive(received(channel))
    email = a.workspace.owner.email
    do(owner, the_conversation(), "assign", assigned_to=email, seen="")
    answer = do(owner, the_conversation(), "assign", assigned_to="", seen="")
    assert answer.status_code == 409
    assert "assigned to somebody else meanwhile" in text(answer)
    assert the_conversation().assigned_to == a.workspace.owner


def test_a_long_thread_is_read_piece_by_piece(owner: Client, channel: Channel) -> None:
    receive(*(received(channel, text=f"Text {number:03d}", at=moment(number - 200)) for number in range(120)))
    address: str = page_of(the_conversation())
    seen: list[str] = []
    while address:
        page = owner.get(address).content.decode()
        seen = re.findall(r'class="text" dir="auto">Text (\d+)', page) + seen
        earlier = re.search(r'href="(\?earlier=[^"]+)"', page)
        address = page_of(the_conversation()) + earlier[1] if earlier else ""
    assert seen == [f"{number:03d}" for number in range(120)]


def test_a_thread_names_who_wrote_and_leads_to_a_place_once(owner: Client, channel: Channel, a: Tenant) -> None:
    place = {"latitude": 1.5, "longitude": 2, "name": "Shop", "address": "1 High St"}
    receive(
        received(channel, type="location", text="Shop", details={"location": place}),
        received(channel, type="unsupported", text="", details={"unsupported": "poll"}),
        received(channel, type="unsupported", text="", details={"unsupported": "unknown"}),
    )
    conversation, owns = the_conversation(), a.workspace.owner
    owns.name = "Olivia Owner"
    owns.save(update_fields=["name"])
    do(owner, conversation, "send", text="Yes, until six.")
    do(owner, conversation, "notes", text="Calls back")
    left = UserFactory.create(name="")
    before = Actor(kind="user", id="1", label=left.email)
    add_note(conversation=conversation, text="From before", by=before, now=now())
    send_message(conversation=conversation, content=Content(text="We are closed."), by=SYSTEM, now=now())
    page = owner.get(page_of(conversation))
    shown = text(page)
    for words in ("Olivia Owner: Yes, until six.", "Note by Olivia Owner", "Automatic reply: We are closed."):
        assert words in shown
    assert f"Note by {left.email.partition('@')[0]}" in shown
    log = page.content.decode().partition("data-log")[2].partition('data-live="composer"')[0]
    assert (owns.email in log, left.email in log, " system" in log) == (False, False, False)
    assert (log.count("openstreetmap.org"), log.count(">Show on the map<"), log.count("Shop")) == (1, 1, 1)
    for kind in ("This kind of message (poll)", "This kind of message"):
        assert f"{kind} cannot be shown here. Open it on the phone." in shown


def test_texts_of_customers_are_shown_as_texts(owner: Client, channel: Channel) -> None:
    receive(received(channel, text="<script>alert(1)</script>", person=person(name="<b>Bold</b>")))
    shown = owner.get(page_of(the_conversation())).content
    assert b"<script>alert" not in shown
    assert b"<b>Bold" not in shown


def test_conversations_of_others_read_like_those_that_do_not_exist(channel: Channel, b: Tenant) -> None:
    receive(received(channel))
    stranger, page = dashboard_client(b.workspace), page_of(the_conversation())
    assert stranger.get(page).status_code == 404
    for action in ("send", "read", "unread", "assign", "status", "notes", "snooze", "opt-out", "insert"):
        answer = stranger.post(f"{page}/{action}", {"text": "Hello", "made_for": str(b.workspace.uuid)})
        assert answer.status_code == 404, action
        untouched = (sent(), Note.objects.count(), the_conversation().unread_count)
        assert untouched == ([], 0, 1), action


def test_changes_are_published_to_the_open_pages_of_the_workspace_alone(
    owner: Client, channel: Channel, a: Tenant, b: Tenant, django_capture_on_commit_callbacks: Any
) -> None:
    own, other = inbox_topic(a.workspace.pk), inbox_topic(b.workspace.pk)
    before = latest_entry_id(own), latest_entry_id(other)
    with django_capture_on_commit_callbacks(execute=True):
        receive(received(channel))
    assert latest_entry_id(own) > before[0]
    shown = owner.get(INBOX)
    assert latest_entry_id(own).encode() in shown.content.replace(b"%2D", b"-")
    stream = owner.get(f"{INBOX}/stream")
    assert (stream.status_code, stream.headers["Content-Type"]) == (200, "text/event-stream")
    assert Contact.objects.count() == 1
