"""Broadcasts at the customers' dashboard: written, looked at, moved, watched, exported."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.models import ActivityEntry
from broadcasts.models import Broadcast, Stage
from broadcasts.services.counts import add_counts
from channelconnect.models import MessageTemplate
from tests.agency.console.browsers import hidden, text
from tests.broadcasts.under_way import a_broadcast, a_busy_broadcast, a_draft, a_message, a_recipient
from tests.factories import ChannelFactory, ContactFactory, SegmentFactory, WorkspaceFactory, a_message_template
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from tests.workspaces.topics import recorded_events, subscribe_to
from workspaces.subaccounts.models import Channel, Workspace

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
BODY = "Hello {{1}}, the *sale* begins on {{2}}."
COMPONENTS = [
    {"type": "HEADER", "format": "DOCUMENT"},
    {"type": "BODY", "text": BODY},
    {"type": "FOOTER", "text": "Reply STOP"},
    {"type": "BUTTONS", "buttons": [{"type": "URL", "text": "See it", "url": "https://shop.example/{{1}}"}]},
]
PARAMETERS = [
    {"component": "header", "index": 1, "name": None, "type": "document", "example": None},
    {"component": "body", "index": 1, "name": None, "type": "text", "example": "Ada"},
    {"component": "body", "index": 2, "name": None, "type": "text", "example": "1 June"},
    {"component": "button", "index": 0, "name": None, "type": "url", "example": "offers"},
]


@pytest.fixture
def workspace() -> Workspace:
    return WorkspaceFactory.create(timezone="Europe/Berlin")


@pytest.fixture
def channel(workspace: Workspace) -> Channel:
    return ChannelFactory.create(workspace=workspace)


@pytest.fixture
def template(channel: Channel) -> MessageTemplate:
    return a_message_template(channel, components=COMPONENTS, parameters=PARAMETERS)


@pytest.fixture
def customer(workspace: Workspace) -> Client:
    return dashboard_client(workspace)


def html(answer: Any) -> str:
    """The page as it was sent, its quotes written plainly."""
    return str(answer.content.decode()).replace("&#x27;", "'")


def press(customer: Client, address: str) -> Any:
    """Confirm what a page asks."""
    asked = customer.get(address)
    return customer.post(address, {name: hidden(asked, name) for name in ("people", "version")}, follow=True)


def typed(on: Channel, /, **changes: str) -> dict[str, str]:
    fields = {
        "name": "Autumn sale",
        "channel": str(on.uuid),
        "template": "",
        "message_text": "Hello {{contact.first_name}}",
        "track_clicks": "on",
        "audience": "all",
        "time": "now",
    }
    return fields | changes


def test_an_empty_list_says_what_broadcasts_are_and_the_composer_asks_for_a_channel(customer: Client) -> None:
    assert "No broadcasts yet" in text(customer.get("/app/broadcasts"))
    assert "No channel to send on" in text(customer.get("/app/broadcasts/new"))


def test_a_broadcast_is_written_looked_at_and_scheduled(customer: Client, channel: Channel) -> None:
    answer = customer.post("/app/broadcasts/new", typed(channel))

    made = Broadcast.objects.get()
    assert answer["Location"] == f"/app/broadcasts/{made.uuid}/preview"
    assert (made.status, made.message["text"]) == ("Draft", "Hello {{contact.first_name}}")
    assert (made.audience, made.scheduled_at) == ({"type": "segment", "segment": "all"}, None)
    reviewed = html(customer.get(answer["Location"]))
    assert "<mark>First name</mark>" in reviewed
    assert "<dt>Audience</dt><dd>All contacts</dd>" in reviewed
    assert "<dt>Time</dt><dd>At once</dd>" in reviewed
    # It would reach nobody: the way leads back to the audience, and not on.
    assert f'<a href="/app/broadcasts/{made.uuid}/edit#step-audience">Choose another audience</a>' in reviewed
    assert f'"/app/broadcasts/{made.uuid}/schedule"' not in reviewed
    assert ">Send</a>" in html(customer.get(f"/app/broadcasts/{made.uuid}"))
    said = text(press(customer, f"/app/broadcasts/{made.uuid}/schedule"))
    assert "The broadcast is being sent." in said
    assert Broadcast.objects.get().status == "Scheduled"


def test_a_template_is_filled_and_its_picture_follows(
    customer: Client, channel: Channel, template: MessageTemplate
) -> None:
    chosen = typed(channel, template=str(template.uuid), choose="yes")
    asked = html(customer.post("/app/broadcasts/new", chosen))
    assert not Broadcast.objects.exists()
    assert "Autumn sale" in asked
    assert "Hello Ada, the <strong>sale</strong> begins on 1 June." in asked
    assert "See it" in asked

    filled = {
        "parameter_0": "https://93.184.215.14/menu.pdf",
        "message_header_filename": "Menu.pdf",
        "parameter_1": "{{contact.name}}",
        "parameter_2": "<b>2 July</b>",
        "parameter_3": "offers/7",
    }
    spaced = filled | {"parameter_2": "2     July"}
    refused = customer.post("/app/broadcasts/new", typed(channel, template=str(template.uuid)) | spaced)
    assert (refused.status_code, Broadcast.objects.exists()) == (422, False)
    assert list(refused.context["form"].errors) == ["parameter_2"]
    answer = customer.post("/app/broadcasts/new", typed(channel, template=str(template.uuid)) | filled)
    assert answer.status_code == 302, text(answer)
    made = Broadcast.objects.get()
    assert made.message["template"] == "sale"
    assert made.message["header"] == {"url": filled["parameter_0"], "filename": "Menu.pdf", "parameters": []}
    assert [one["parameters"] for one in made.message["components"]] == [
        [{"type": "text", "text": "{{contact.name}}"}, {"type": "text", "text": "<b>2 July</b>"}],
        [{"type": "text", "text": "offers/7"}],
    ]
    again = html(customer.get(f"/app/broadcasts/{made.uuid}/edit"))
    for value in ("https://93.184.215.14/menu.pdf", "Menu.pdf", "{{contact.name}}", "offers/7"):
        assert f'value="{value}"' in again
    assert "<mark>Name</mark>, the <strong>sale</strong> begins on &lt;b&gt;2 July&lt;/b&gt;." in again


def test_contacts_without_a_value_are_counted_while_composing_and_get_the_fallback(
    customer: Client, channel: Channel
) -> None:
    a_message_template(channel, name="plain", text="Hello {{1}}", parameters=[{**PARAMETERS[1], "example": None}])
    new = customer.get("/app/broadcasts/new")
    assert new.context["form"].chosen_template.name == "plain"
    assert "<mark>Text 1</mark>" in html(new)
    for number, name in enumerate(("Ada Lovelace", "", " ")):
        ContactFactory.create(workspace=channel.workspace, name=name, phone=f"+4915112345{number:03d}")
    ContactFactory.create(workspace=channel.workspace, name="", phone=None, email="no@example.com")
    gap = "Hello {{contact.first_name}} of {{fields.town}}"
    composed = typed(channel, template=str(MessageTemplate.objects.get().uuid), parameter_0=gap)
    town = {"fallback.fields.town": "here"}

    counted = customer.post("/app/broadcasts/new", composed | town | {"name": "", "choose": "count"})
    assert counted.status_code == 200
    assert not Broadcast.objects.exists()
    assert "Get it 1 of 4 contacts" in text(counted)
    assert "2 First name is missing." in text(counted)
    assert "2 contacts have no value." in text(counted)
    assert "3 contacts have no value." in text(counted)
    unchosen = customer.post("/app/broadcasts/new", composed | {"audience": "segment", "choose": "count"})
    assert "Get it" not in text(unchosen)

    refused = customer.post("/app/broadcasts/new", composed | {"fallback.contact.first_name": "x" * 101})
    assert list(refused.context["form"].errors) == ["fallback.contact.first_name"]
    fallbacks = town | {"fallback.contact.first_name": " you  there", "fallback.contact.email": "unused"}
    review = text(customer.post("/app/broadcasts/new", composed | fallbacks, follow=True))
    draft = Broadcast.objects.get()
    assert draft.fallbacks == {"contact.first_name": "you there", "fields.town": "here"}
    assert "First name you there 2 town here 3" in review
    assert "Hello Hello you there of here" in review
    assert "is missing" not in review
    page = html(customer.get(f"/app/broadcasts/{draft.uuid}/edit"))
    assert 'value="you there"' in page
    subscribe_to(channel.workspace, "broadcast.updated")
    customer.post(f"/app/broadcasts/{draft.uuid}/edit", composed | {"fallback.fields.town": "there"})
    draft.refresh_from_db()
    assert draft.fallbacks == {"fields.town": "there"}
    assert ActivityEntry.objects.get(action="broadcast.updated").changes == {"fallbacks": None}
    assert recorded_events(channel.workspace) == []
    channel.messaging_limit = 0
    channel.save()
    asked = text(customer.get(f"/app/broadcasts/{draft.uuid}/schedule"))
    assert "2 First name is missing." in asked
    assert "Your number may start 0 conversations a day. 1 person gets it later" in asked


def test_people_are_chosen_by_what_they_are_known_by(customer: Client, channel: Channel) -> None:
    first = ContactFactory.create(workspace=channel.workspace, phone="+4915112345678")
    second = ContactFactory.create(workspace=channel.workspace, email="Grace@example.com")
    foreign = ContactFactory.create(phone="+4915187654321")
    wanted = typed(channel, audience="contacts", audience_contacts="+49 151 12345678\ngrace@EXAMPLE.com\n")

    refused = customer.post("/app/broadcasts/new", wanted | {"audience_contacts": f"{foreign.phone}\nx"})
    assert refused.status_code == 422
    assert "Not found in your contacts: +4915187654321, x." in text(refused)
    customer.post("/app/broadcasts/new", wanted)
    made = Broadcast.objects.get()
    assert made.chosen_contacts == [first.pk, second.pk]
    assert "+4915112345678\nGrace@example.com" in html(customer.get(f"/app/broadcasts/{made.uuid}/edit"))


def test_a_segment_and_each_contact_s_own_time(customer: Client, channel: Channel) -> None:
    segment = SegmentFactory.create(workspace=channel.workspace)
    wanted = typed(channel, audience="segment", audience_segment=str(segment.uuid), time="local")

    assert "Choose a date and time." in text(customer.post("/app/broadcasts/new", wanted))
    customer.post("/app/broadcasts/new", wanted | {"scheduled_local_at": "2027-03-01T09:00", "requires_approval": "on"})
    made = Broadcast.objects.get()
    assert (made.timezone_mode, made.scheduled_local_at, made.segment) == ("contact", "2027-03-01 09:00:00", segment)
    page = text(customer.get(f"/app/broadcasts/{made.uuid}"))
    assert "1 Mar 2027, 09:00 on each contact" in page
    assert "It has to be approved before anything is sent." in page
    assert "is approved" in text(press(customer, f"/app/broadcasts/{made.uuid}/approve"))


def test_a_moment_is_the_workspace_s(customer: Client, channel: Channel) -> None:
    customer.post("/app/broadcasts/new", typed(channel, time="at", scheduled_at="2027-03-01T09:00"))

    made = Broadcast.objects.get()
    assert made.scheduled_at == datetime(2027, 3, 1, 8, tzinfo=UTC)
    assert 'value="2027-03-01T09:00"' in html(customer.get(f"/app/broadcasts/{made.uuid}/edit"))


def test_what_cannot_be_sent_is_refused_beside_its_field(customer: Client, channel: Channel) -> None:
    refused: list[tuple[dict[str, str], str]] = [
        ({"name": ""}, "This field is required."),
        ({"message_text": ""}, "One of message.text and message.template is required."),
        ({"message_text": "Hello {{contact.shoe}}"}, "is no variable"),
        ({"audience": "segment"}, "The audience.segment field is required."),
        ({"audience": "contacts"}, "The audience.contacts field is required."),
        ({"audience": "retarget"}, "The source broadcast id field is required."),
        ({"channel": "x"}, "Select a valid choice."),
    ]
    for changes, message in refused:
        answer = customer.post("/app/broadcasts/new", typed(channel, **changes))

        assert (changes, answer.status_code) == (changes, 422)
        assert message in text(answer)
        assert not Broadcast.objects.exists()


def test_a_form_that_is_sent_twice_makes_one_broadcast(customer: Client, channel: Channel) -> None:
    page = html(customer.get("/app/broadcasts/new"))
    nonce = page.partition('name="nonce" value="')[2].partition('"')[0]

    landings = {customer.post("/app/broadcasts/new", typed(channel, nonce=nonce))["Location"] for _ in range(2)}
    assert Broadcast.objects.count() == len(landings) == 1


def test_one_under_way_shows_its_numbers_and_is_paused_resumed_and_cancelled(
    customer: Client, channel: Channel
) -> None:
    broadcast = a_busy_broadcast(channel)
    path = f"/app/broadcasts/{broadcast.uuid}"
    page = html(customer.get(path))
    for words in ("Out of order.", "6 recipients", "1 waits for room", "Of the step before", "Marketing"):
        assert words in page
    assert 'data-progress="4000"' in page

    customer.post(f"{path}/resume")
    assert Broadcast.objects.get().status == "sending"
    customer.post(f"{path}/pause")
    assert Broadcast.objects.get().status == "paused"
    assert "is paused already" in text(customer.post(f"{path}/pause", follow=True))
    assert "Cancel the broadcast" in text(customer.get(f"{path}/cancel"))
    customer.post(f"{path}/cancel")
    assert Broadcast.objects.get().status == "cancelled"
    assert 'data-progress="0"' in html(customer.get(path))


def test_a_copy_and_a_retarget_begin_new_drafts(customer: Client, channel: Channel) -> None:
    broadcast = a_broadcast(channel=channel, text="Hello again")
    landing = customer.post(f"/app/broadcasts/{broadcast.uuid}/duplicate")["Location"]
    copy = Broadcast.objects.latest("pk")
    assert landing == f"/app/broadcasts/{copy.uuid}/edit"
    assert (copy.status, copy.name, copy.message["text"]) == ("Draft", "Copy of Autumn sale", "Hello again")

    page = html(customer.get(f"/app/broadcasts/new?retarget={broadcast.uuid}&did=not_read"))
    assert f'<option value="{broadcast.uuid}" selected>' in page
    assert '<option value="not_read" selected>' in page
    again = {"source_broadcast_id": str(broadcast.uuid), "retarget_engagement": "not_read"}
    customer.post("/app/broadcasts/new", typed(channel, audience="retarget") | again)
    assert Broadcast.objects.latest("pk").source_broadcast == broadcast


def test_a_draft_is_deleted_and_what_has_begun_is_not(customer: Client, channel: Channel) -> None:
    draft, begun = a_draft(channel), a_broadcast(channel=channel)

    for one in (draft, begun):
        customer.post(f"/app/broadcasts/{one.uuid}/delete")
    assert Broadcast.objects.get() == begun


def test_a_test_goes_to_a_few_contacts(customer: Client, channel: Channel) -> None:
    draft = a_draft(channel)
    path = f"/app/broadcasts/{draft.uuid}/test"
    people = [ContactFactory.create(workspace=channel.workspace, phone=f"+491511234567{n}") for n in range(6)]

    assert "At most five" in text(customer.post(path, {"contacts": "\n".join(str(one.phone) for one in people)}))
    assert "Not found in your contacts" in text(customer.post(path, {"contacts": "+4915100000000"}))
    # A free text needs an open window: the refusal is the conversation's own.
    assert "24-hour window" in text(customer.post(path, {"contacts": people[0].phone}))


def test_recipients_are_shown_with_reasons_in_words_and_exported_without_formulas(
    customer: Client, channel: Channel
) -> None:
    broadcast = a_busy_broadcast(channel)
    evil = ContactFactory.create(workspace=channel.workspace, name="Ada;=HYPERLINK(1)")
    a_recipient(broadcast, contact=evil, status="failed", error_code="send_outcome_unknown")
    add_counts({broadcast.pk: {"failed": 1}})
    path = f"/app/broadcasts/{broadcast.uuid}"

    page = text(customer.get(f"{path}/recipients"))
    for words in (
        "They want no messages, or no marketing.",
        "Out of order.",
        "It is not known whether the message arrived",
    ):
        assert words in page
    failed = text(customer.get(f"{path}/recipients?status=failed"))
    assert "Out of order." in failed
    assert "They want no messages" not in failed

    answer = customer.get(f"{path}/export")
    lines = b"".join(answer).decode().splitlines()
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert len(lines) == 8
    assert lines[-1].startswith('"Ada;\'=HYPERLINK(1)","')
    assert len(b"".join(customer.get(f"{path}/export?status=failed")).splitlines()) == 3


def test_recipients_are_exported_in_the_language_of_the_page(customer: Client, channel: Channel) -> None:
    broadcast = a_busy_broadcast(channel)
    answer = customer.get(f"/app/broadcasts/{broadcast.uuid}/export", headers={"Accept-Language": "de"})
    content = b"".join(answer).decode()
    assert "Zugestellt" in content
    assert "Delivered" not in content


def test_a_broadcast_is_cancelled_by_the_database_s_clock(customer: Client, channel: Channel) -> None:
    broadcast = a_broadcast(channel=channel, status="Scheduled")
    with time_machine.travel(now() + timedelta(hours=2)):
        customer.post(f"/app/broadcasts/{broadcast.uuid}/cancel")
    broadcast.refresh_from_db()
    assert broadcast.status == "cancelled"
    assert broadcast.completed_at is not None
    assert broadcast.completed_at < now() + timedelta(minutes=1)


def test_the_list_costs_the_same_however_long_it_is(customer: Client, channel: Channel) -> None:
    a_busy_broadcast(channel)
    with CaptureQueriesContext(connection) as few:
        customer.get("/app/broadcasts")
    for _ in range(5):
        a_busy_broadcast(channel)

    with CaptureQueriesContext(connection) as many:
        page = html(customer.get("/app/broadcasts"))
    assert len(many) == len(few)
    assert page.count('class="shares"') == 6
    assert "No broadcast has this status" in text(customer.get("/app/broadcasts?status=Draft"))


def test_pictures_of_numbers_are_drawn_in_every_language(customer: Client, channel: Channel) -> None:
    """A drawing takes only a point in its numbers, whatever the page's language writes."""
    broadcast = a_busy_broadcast(channel)
    page = html(customer.get(f"/app/broadcasts/{broadcast.uuid}", HTTP_ACCEPT_LANGUAGE="de"))
    rectangles = " ".join(re.findall(r"<rect [^>]*>", page))
    drawn = re.findall(r' (?:x|y|width|height)="([^"]*)"', rectangles)
    assert "16,7" in page
    assert any("." in number for number in drawn)
    assert [number for number in drawn if not re.fullmatch(r"\d+(\.\d+)?", number)] == []


def test_who_is_due_is_told_when(customer: Client, channel: Channel) -> None:
    with time_machine.travel(datetime(2026, 11, 22, 12, tzinfo=UTC)):
        draft = a_draft(channel, scheduled_at=datetime.now(UTC) + timedelta(days=1))
        press(dashboard_client(channel.workspace), f"/app/broadcasts/{draft.uuid}/schedule")

    page = text(customer.get(f"/app/broadcasts/{draft.uuid}"))
    assert "23 Nov 2026, 13:00" in page


def test_nobody_waits_for_a_cancelled_broadcast_though_nobody_is_marked_yet(customer: Client, channel: Channel) -> None:
    broadcast = a_busy_broadcast(channel)
    add_counts({broadcast.pk: {"pending": 3_001, "held": 3_001}})
    customer.post(f"/app/broadcasts/{broadcast.uuid}/cancel")
    page = text(customer.get(f"/app/broadcasts/{broadcast.uuid}"))
    assert "Cancelled" in page
    assert "Waiting 0" in page
    assert "Skipped 3,003" in page
    assert "room in the number" not in page
    listed = text(customer.get("/app/broadcasts"))
    assert "3,002 held" not in listed


def test_a_broadcast_at_everybody_s_own_time_is_not_said_to_begin_before_anybody_gets_it(
    customer: Client, channel: Channel
) -> None:
    due = datetime(now().year + 1, 3, 2, 8, tzinfo=UTC)
    local = f"{due.year}-03-02 09:00:00"
    draft = a_draft(channel, timezone_mode="contact", scheduled_local_at=local)
    press(customer, f"/app/broadcasts/{draft.uuid}/schedule")
    page = text(customer.get(f"/app/broadcasts/{draft.uuid}"))
    assert f"Recipients gathered 1 Mar {due.year}, 20:00 Each gets it when the time comes on their own clock." in page
    assert "Begins" not in page
    assert f"2 Mar {due.year}, 09:00 on each contact" in text(customer.get("/app/broadcasts"))

    begun = a_broadcast(channel=channel, timezone_mode="contact", scheduled_local_at=local, scheduled_at=due)
    a_recipient(begun, status="pending", stage=Stage.READY, due_at=due)
    add_counts({begun.pk: {"pending": 1}})
    page = text(customer.get(f"/app/broadcasts/{begun.uuid}"))
    assert "Begun" not in page
    assert f"Next ones get it 2 Mar {due.year}, 09:00" in page


def test_the_number_of_recipients_is_of_those_that_are_shown(customer: Client, channel: Channel) -> None:
    broadcast = a_busy_broadcast(channel)
    path = f"/app/broadcasts/{broadcast.uuid}/recipients"
    assert "Recipients 6 " in text(customer.get(path))
    assert "Recipients 1 of 6 " in text(customer.get(f"{path}?status=failed"))


def test_a_retarget_begins_on_its_source_s_channel_with_a_template(customer: Client, channel: Channel) -> None:
    second = ChannelFactory.create(workspace=channel.workspace, name="Second number")
    usual = a_message_template(second, name="welcome", language="en")
    own = a_message_template(second, name="winter", language="en")
    written: dict[str, Any] = {"text": None, "template": "winter", "language": "en", "components": [], "header": None}
    for message, chosen in ((written, own), (a_message("Hello"), usual)):
        broadcast = a_broadcast(channel=second, message=message)
        page = html(customer.get(f"/app/broadcasts/new?retarget={broadcast.uuid}&did=not_read"))
        assert f'<option value="{second.uuid}" selected>' in page
        assert f'<option value="{chosen.uuid}" selected>' in page
    foreign = a_broadcast()
    assert str(foreign.channel.uuid) not in html(customer.get(f"/app/broadcasts/new?retarget={foreign.uuid}"))
    assert customer.get("/app/broadcasts/new?retarget=x").status_code == 200
