"""What people at the inbox do all day: trying again, putting aside, saved replies, many at once, writing first."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth import SESSION_KEY
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.pages.forms import new_nonce
from channelconnect.models import MessageTemplate
from tests import furnished
from tests.agency.console.browsers import text
from tests.factories import BODY_PARAMETER, ChannelFactory, ContactFactory, UserFactory, a_message_template
from tests.tenants import Tenant
from tests.waiting import PATIENCE_SECONDS, until, waiting_for_locks
from tests.workspaces.conversations.facts import apply, moment, person, receive, received, status, the_conversation
from tests.workspaces.subaccounts.dashboard.clients import agency_client, dashboard_client
from workspaces.contacts.models import ContactIdentity
from workspaces.conversations.dashboard.inbox import snooze_times
from workspaces.conversations.models import Conversation, Message, QueuedMessage, SavedReply
from workspaces.conversations.services import change_conversation, create_saved_reply, inbound, send_message
from workspaces.conversations.services.automated import OutgoingDraft, queue_messages, withdraw_queued_messages
from workspaces.conversations.services.content import Content
from workspaces.conversations.services.conversations import NotInTheTeam
from workspaces.conversations.services.interactive import InteractiveOption, interactive_content
from workspaces.conversations.services.saved_replies import MOST_SAVED_REPLIES
from workspaces.subaccounts.models import Channel

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
INBOX = "/app/inbox"


def hidden(owner: Client, address: str) -> dict[str, str]:
    """What stands hidden in the forms of a page."""
    page = owner.get(address).content.decode()
    return dict(re.findall(r'name="(made_for|nonce)" value="([^"]+)"', page))


def do(owner: Client, action: str, *, on: str = "", **fields: Any) -> Any:
    """Send one of the forms of the only conversation's page, as a new one that the person was shown."""
    page = on or f"{INBOX}/{the_conversation().uuid}"
    nonce = new_nonce(int(owner.session[SESSION_KEY]))
    return owner.post(f"{page}/{action}" if action else page, {"nonce": nonce, **fields})


def a_failed_message(channel: Channel, code: str = "131026", **fields: Any) -> Message:
    receive(received(channel))
    message = send_message(conversation=the_conversation(), content=Content(text="At eight."), by=SYSTEM, now=now())
    QueuedMessage.objects.all().delete()
    Message.objects.filter(pk=message.pk).update(status="failed", error_code=code, error_message="odd words", **fields)
    return message


def a_template(channel: Channel) -> MessageTemplate:
    return a_message_template(
        channel,
        text="Hello {{1}}, your order is ready.",
        name="order_ready",
        language="en_US",
        parameters=[BODY_PARAMETER | {"index": None, "name": "1"}],
    )


def test_what_failed_says_why_and_is_sent_again_once(owner: Client, channel: Channel) -> None:
    failed = a_failed_message(channel)
    shown = text(owner.get(f"{INBOX}/{the_conversation().uuid}"))
    assert "Not delivered. The message could not be delivered to this person. Send again" in shown
    assert do(owner, f"messages/{failed.uuid}/again").status_code == 302
    again = Message.objects.latest("pk")
    assert (again.text, again.status, QueuedMessage.objects.get().message) == ("At eight.", "pending", again)
    shown = text(owner.get(f"{INBOX}/{the_conversation().uuid}"))
    assert ("It was sent again." in shown, "Send again" in shown) == (True, False)
    answer = do(owner, f"messages/{failed.uuid}/again")
    assert (answer.status_code, QueuedMessage.objects.count()) == (409, 1)
    assert "has been sent again already" in text(answer)


def test_only_what_failed_is_sent_again(owner: Client, channel: Channel, b: Tenant) -> None:
    message = a_failed_message(channel)
    Message.objects.filter(pk=message.pk).update(status="delivered")
    assert do(owner, f"messages/{message.uuid}/again").status_code == 409
    incoming = Message.objects.get(direction="in")
    assert do(owner, f"messages/{incoming.uuid}/again").status_code == 409
    address = f"{INBOX}/{the_conversation().uuid}/messages/{message.uuid}/again"
    assert dashboard_client(b.workspace).post(address).status_code == 404
    assert QueuedMessage.objects.count() == 0


def test_an_unknown_outcome_is_said_before_it_is_sent_again(owner: Client, channel: Channel) -> None:
    a_failed_message(channel, "send_outcome_unknown")
    shown = text(owner.get(f"{INBOX}/{the_conversation().uuid}"))
    assert "This may or may not have arrived." in shown
    assert "Send again anyway" in shown


def test_what_went_out_after_all_is_not_sent_again(owner: Client, channel: Channel) -> None:
    message = a_failed_message(channel, "send_outcome_unknown")
    Message.objects.filter(pk=message.pk).update(sent_at=now())
    shown = text(owner.get(f"{INBOX}/{the_conversation().uuid}"))
    assert ("confirmed it late" in shown, "Send again" in shown, "may or may not" in shown) == (True, False, False)
    assert do(owner, f"messages/{message.uuid}/again").status_code == 409
    assert QueuedMessage.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_nothing_is_sent_again_whose_delivery_is_just_being_written_down(owner: Client, channel: Channel) -> None:
    message = a_failed_message(channel, "send_outcome_unknown", provider_message_id="wamid.late")

    def press() -> int:
        try:
            return int(do(owner, f"messages/{message.uuid}/again").status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            inbound.lock_channels([channel.pk])
            told = [status(channel, "wamid.late", "delivered")]
            inbound.apply_statuses(told, now=now())
            pressed = pool.submit(press)
            until(lambda: pressed.done() or waiting_for_locks(), what="the button to be pressed")
        assert pressed.result(PATIENCE_SECONDS) == 409
    assert QueuedMessage.objects.count() == 0


def test_what_became_delivered_late_offers_no_button(owner: Client, channel: Channel) -> None:
    message = a_failed_message(channel, "send_outcome_unknown", provider_message_id="wamid.late")
    page = f"{INBOX}/{the_conversation().uuid}"
    shown_before = hidden(owner, page)
    apply(inbound.apply_statuses, status(channel, "wamid.late", "delivered"))
    shown = text(owner.get(page))
    assert ("Send again" in shown, "may or may not" in shown) == (False, False)
    assert owner.post(f"{page}/messages/{message.uuid}/again", shown_before).status_code == 409
    assert QueuedMessage.objects.count() == 0


def test_what_was_sent_and_then_failed_is_sent_again(owner: Client, channel: Channel) -> None:
    message = a_failed_message(channel, sent_at=now())
    assert do(owner, f"messages/{message.uuid}/again").status_code == 302


def test_a_code_that_nobody_knows_is_told_in_the_networks_words(owner: Client, channel: Channel) -> None:
    a_failed_message(channel, "999999")
    assert "Not delivered. odd words" in text(owner.get(f"{INBOX}/{the_conversation().uuid}"))


def test_a_conversation_is_put_aside_and_taken_up_again(owner: Client, channel: Channel) -> None:
    receive(received(channel))
    assert do(owner, "snooze", **{"for": "tomorrow"}).status_code == 302
    assert "Person 1" not in text(owner.get(INBOX)).split("Closed")[1]
    shown = text(owner.get(f"{INBOX}?view=snoozed"))
    assert "Snoozed 1" in shown
    assert "Person 1" in shown
    assert "Snoozed until" in text(owner.get(f"{INBOX}/{the_conversation().uuid}"))
    do(owner, "snooze", **{"for": "nothing"})
    assert the_conversation().snoozed_until is None


def test_an_own_time_is_read_by_the_workspaces_clock(owner: Client, channel: Channel, a: Tenant) -> None:
    receive(received(channel))
    zone = ZoneInfo(a.workspace.timezone)
    wanted = (now().astimezone(zone) + timedelta(days=2)).replace(second=0, microsecond=0)
    do(owner, "snooze", until=wanted.strftime("%Y-%m-%dT%H:%M"))
    assert the_conversation().snoozed_until == wanted
    for time in ("", "yesterday", "2020-01-01T10:00", "2026-99-99T10:00"):
        answer = do(owner, "snooze", until=time)
        assert (answer.status_code, "within the next year" in text(answer)) == (409, True), time
    assert the_conversation().snoozed_until == wanted


def test_offered_times_are_mornings_there() -> None:
    friday = moment().replace(year=2026, month=11, day=27, hour=20)
    times = {one.name: one.at.isoformat() for one in snooze_times(friday, ZoneInfo("Asia/Tokyo"))}
    assert times["tomorrow"] == "2026-11-29T09:00:00+09:00"
    assert times["monday"] == "2026-11-30T09:00:00+09:00"
    sunday = snooze_times(friday + timedelta(days=2), ZoneInfo("UTC"))
    assert [one.name for one in sunday] == ["hour", "three_hours", "tomorrow"]


def test_saved_replies_are_made_changed_and_removed(owner: Client, a: Tenant, b: Tenant) -> None:
    assert "No saved replies yet" in text(owner.get("/app/saved-replies"))
    new = "/app/saved-replies/new"
    assert do(owner, "", on=new, name="Hours", text="Nine to six, {{contact.first_name}}.").status_code == 302
    reply = SavedReply.objects.get()
    assert "Hours" in text(owner.get("/app/saved-replies"))
    again = do(owner, "", on=new, name="HOURS ", text="x")
    assert (again.status_code, "Another saved reply has this name." in text(again)) == (422, True)
    odd = do(owner, "", on=new, name="Odd", text="{{contact.password}}")
    assert (odd.status_code, "There is no {{contact.password}}" in text(odd)) == (422, True)
    page = f"/app/saved-replies/{reply.uuid}"
    assert do(owner, "", on=page, name="Opening hours", text="Ten to six.").status_code == 302
    reply.refresh_from_db()
    assert (reply.name, reply.text) == ("Opening hours", "Ten to six.")
    stranger = dashboard_client(b.workspace)
    assert {stranger.get(page).status_code, stranger.post(f"{page}/delete").status_code} == {404}
    assert do(owner, "", on=f"{page}/delete").status_code == 302
    assert not SavedReply.objects.exists()


def test_a_workspace_may_have_so_many_saved_replies(owner: Client, a: Tenant) -> None:
    SavedReply.objects.bulk_create(
        SavedReply(workspace=a.workspace, name=f"R{one}", name_key=f"r{one}", text="x")
        for one in range(MOST_SAVED_REPLIES)
    )
    answer = do(owner, "", on="/app/saved-replies/new", name="One more", text="x")
    assert f"at most {MOST_SAVED_REPLIES}" in text(answer)
    assert SavedReply.objects.count() == MOST_SAVED_REPLIES


def test_a_saved_reply_is_put_behind_what_was_typed_and_nothing_is_sent(owner: Client, channel: Channel) -> None:
    receive(received(channel))
    workspace = channel.workspace
    told = "Hello {{contact.first_name}}, {{ contact.name }} of {{workspace.name}}"
    reply = create_saved_reply(workspace=workspace, name="Hello", text=told, now=now(), by=SYSTEM)
    answer = do(owner, "insert", text="Good day.", saved_reply=str(reply.uuid))
    filled = f"Hello Person, Person 1 of {workspace.name}"
    assert f"Good day. {filled}</textarea>" in answer.content.decode()
    read = owner.get(f"{INBOX}/{the_conversation().uuid}/saved-replies/{reply.uuid}")
    assert read.json() == {"text": filled}
    assert Message.objects.filter(direction="out").count() == 0
    assert "Good day." in text(do(owner, "insert", text="Good day.", saved_reply="x"))


def test_saved_replies_of_others_are_not_read(owner: Client, channel: Channel, b: Tenant) -> None:
    receive(received(channel))
    other = create_saved_reply(workspace=b.workspace, name="Secret", text="secret", now=now(), by=SYSTEM)
    assert owner.get(f"{INBOX}/{the_conversation().uuid}/saved-replies/{other.uuid}").status_code == 404
    assert "secret" not in text(do(owner, "insert", text="", saved_reply=str(other.uuid)))


@pytest.mark.parametrize(
    ("action", "field", "becomes"),
    [("close", "status", "closed"), ("read", "unread_count", 0), ("assign", "assigned_to", 1)],
)
def test_many_are_changed_at_once(
    owner: Client, channel: Channel, a: Tenant, action: str, field: str, becomes: Any
) -> None:
    receive(*(received(channel, person=person(number)) for number in range(1, 5)))
    chosen = [str(uuid) for uuid in Conversation.objects.order_by("pk").values_list("uuid", flat=True)[:3]]
    back = f"{INBOX}?view=unassigned"
    answer = owner.post(
        f"{INBOX}/selected", {**hidden(owner, INBOX), "conversation": chosen, "do": action, "next": back}
    )
    assert (answer.status_code, answer.headers["Location"]) == (302, back)
    wanted = a.workspace.owner if becomes == 1 else becomes
    values = [getattr(one, field) == wanted for one in Conversation.objects.order_by("pk")]
    assert values == [True, True, True, False]
    assert "3 conversations were changed." in text(owner.get(back))


def test_of_many_those_that_somebody_else_took_stay_with_them(owner: Client, channel: Channel, b: Tenant) -> None:
    receive(received(channel), received(channel, person=person(2)))
    first, second = Conversation.objects.order_by("pk")
    Conversation.objects.filter(pk=first.pk).update(assigned_to=UserFactory.create())
    fields = {"conversation": [str(first.uuid), str(second.uuid)], "do": "assign", "next": "https://example.com/"}
    answer = owner.post(f"{INBOX}/selected", {**hidden(owner, INBOX), **fields})
    assert answer.headers["Location"] == INBOX
    assert "Unchanged: 1." in text(owner.get(INBOX))
    stranger = dashboard_client(b.workspace)
    stranger.post(f"{INBOX}/selected", {**hidden(stranger, INBOX), **fields, "do": "close"})
    assert Conversation.objects.filter(status="closed").count() == 0


def test_nobody_of_the_agency_holds_a_conversation_and_whoever_does_can_be_replaced(
    owner: Client, channel: Channel, a: Tenant
) -> None:
    receive(received(channel))
    one, visitor = the_conversation(), agency_client(a.workspace)
    assert b'value="assign"' not in visitor.get(INBOX).content
    refused = visitor.post(f"{INBOX}/selected", {"conversation": [str(one.uuid)], "do": "assign"})
    assert (refused.status_code, the_conversation().assigned_to) == (403, None)
    stranger = UserFactory.create()
    with pytest.raises(NotInTheTeam):
        change_conversation(conversation=one, now=now(), assigned_to=stranger)
    Conversation.objects.filter(pk=one.pk).update(assigned_to=stranger)  # as it was before
    do(owner, "assign", assigned_to=a.workspace.owner.email, seen=stranger.email.upper())
    assert the_conversation().assigned_to == a.workspace.owner


def test_an_opt_out_that_was_told_keeps_where_it_is_known_from(owner: Client, channel: Channel) -> None:
    receive(received(channel))
    assert do(owner, "opt-out", opted_out="yes").status_code == 302
    contact = the_conversation().contact
    assert (contact.opted_out, contact.opt_out_source) == (True, "dashboard")
    assert "You cannot send them anything" in text(owner.get(f"{INBOX}/{the_conversation().uuid}"))
    do(owner, "opt-out", opted_out="no")
    assert not the_conversation().contact.opted_out


def test_somebody_is_written_to_first_with_a_template(owner: Client, channel: Channel, a: Tenant) -> None:
    template = a_template(channel)
    contact = ContactFactory.create(workspace=a.workspace, name="Newcomer", phone="+4915112345999")
    found = owner.get(f"{INBOX}/new?search=newc").content.decode()
    assert f"?contact={contact.uuid}" in found
    asked = f"{INBOX}/new?contact={contact.uuid}&channel={channel.uuid}"
    assert "order_ready" in text(owner.get(asked))
    asked += f"&template={template.uuid}"
    fields = {"template": str(template.uuid), "parameter-0": ""}
    refused = owner.post(asked, {**hidden(owner, asked), **fields})
    assert (refused.status_code, Message.objects.count()) == (422, 0)
    refused = owner.post(asked, {**hidden(owner, asked), **fields, "parameter-0": "Ada\tLovelace"})
    assert (refused.status_code, Message.objects.count()) == (422, 0)
    assert "may hold no line break, no tab" in text(refused)
    sent = owner.post(asked, {**hidden(owner, asked), **fields, "parameter-0": "Ada"})
    message = Message.objects.get()
    assert sent.headers["Location"] == f"{INBOX}/{message.conversation.uuid}"
    assert (message.type, message.conversation.contact) == ("template", contact)
    again = owner.get(f"{INBOX}/new?contact={contact.uuid}&channel={channel.uuid}")
    assert again.headers["Location"] == f"{INBOX}/{message.conversation.uuid}"


def test_who_cannot_be_written_to_is_said(owner: Client, channel: Channel, a: Tenant, b: Tenant) -> None:
    nobody = ContactFactory.create(workspace=a.workspace, name="Nobody")
    assert "You cannot write to this contact yet" in text(owner.get(f"{INBOX}/new?contact={nobody.uuid}"))
    assert "No contact matches" in text(owner.get(f"{INBOX}/new?search=%00"))
    foreign = ContactFactory.create(workspace=b.workspace)
    assert owner.get(f"{INBOX}/new?contact={foreign.uuid}").status_code == 404


def test_the_channels_of_a_new_conversation_are_found_with_the_same_few_queries_however_many(
    owner: Client, channel: Channel, a: Tenant
) -> None:
    contact = ContactFactory.create(workspace=a.workspace, name="Newcomer")

    def queries(pages: int) -> int:
        for number in range(pages):
            page = ChannelFactory.create(workspace=a.workspace, platform="facebook", name=f"Page {number}")
            ContactIdentity.objects.create(
                contact=contact, workspace=a.workspace, channel=page, external_id=str(number)
            )
        with CaptureQueriesContext(connection) as captured:
            shown = text(owner.get(f"{INBOX}/new?contact={contact.uuid}"))
        assert shown.count("Page ") == ContactIdentity.objects.count()
        return len(captured)

    assert queries(2) == queries(5)


def test_an_automations_options_are_shown_and_sent_again_with_it(owner: Client, channel: Channel) -> None:
    receive(received(channel))
    options = [InteractiveOption("run:0:1:button_1", "At eight"), InteractiveOption("run:0:1:button_2", "At nine")]
    conversation = the_conversation()
    draft = OutgoingDraft(
        conversation_id=conversation.pk,
        workspace_id=channel.workspace_id,
        agency_id=channel.workspace.agency_id,
        channel_id=channel.pk,
        content=interactive_content("whatsapp", "When?", options, footer="Your table"),
        sent_by_label="Table booking",
    )
    with transaction.atomic():
        [(key, uuid)] = queue_messages([draft], now=now())
        withdraw_queued_messages(messages=[key], now=now())

    shown = text(owner.get(f"{INBOX}/{conversation.uuid}"))
    assert "When? Your table At eight At nine" in shown
    assert "Automation Table booking" in shown
    assert "Not delivered. The automation was stopped before this message was sent. Send again" in shown
    assert do(owner, f"messages/{uuid}/again").status_code == 302
    again = Message.objects.latest("pk")
    assert (again.type, again.details) == ("interactive", draft.content.details)
