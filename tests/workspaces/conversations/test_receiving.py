"""Messages that come in: each once, in the order of their times, with their contact and conversation."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests import furnished
from tests.factories import ChannelFactory
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import (
    apply,
    echo,
    moment,
    person,
    receive,
    received,
    texts_of,
    the_conversation,
)
from workspaces.contacts.models import Contact
from workspaces.conversations.facts import ConversationTouched, Person, ReceivedFile
from workspaces.conversations.models import Conversation, MediaFetch, Message, ReadMark
from workspaces.conversations.services import change_conversation, inbound, mark_read, mark_unread

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
UPDATES = """
SELECT relname, n_tup_upd FROM pg_stat_xact_user_tables
WHERE relname IN ('contacts_contact', 'conversations_conversation') ORDER BY relname
"""


def test_a_message_makes_its_contact_and_opens_the_conversation(a: Tenant) -> None:
    at = moment(-5)
    assert receive(received(a.channel, at=at, text="Is there a table free?")) == 1
    conversation = the_conversation()
    assert (conversation.contact.name, conversation.contact.phone) == ("Person 1", "+4915112345001")
    assert (conversation.status, conversation.unread_count) == ("open", 1)
    assert (conversation.last_message_preview, conversation.last_message_direction) == ("Is there a table free?", "in")
    assert conversation.last_message_at == conversation.last_inbound_at == conversation.contact.last_inbound_at == at
    assert conversation.window_expires_at == at + timedelta(hours=24)
    message = Message.objects.get()
    assert (message.direction, message.status, message.provider_time) == ("in", "received", at)


def test_a_repeated_message_changes_nothing(a: Tenant) -> None:
    told = received(a.channel)
    assert receive(told, told) == 1
    change_conversation(conversation=the_conversation(), now=moment(), status="closed")
    assert receive(told) == 0
    assert (Message.objects.count(), the_conversation().unread_count, the_conversation().status) == (1, 1, "closed")


def test_a_burst_of_somebody_new_is_one_contact_with_one_conversation(a: Tenant) -> None:
    assert receive(*[received(a.channel, text=str(number), at=moment(number - 20)) for number in range(10)]) == 10
    assert (Contact.objects.count(), the_conversation().unread_count) == (1, 10)
    assert texts_of(the_conversation()) == [str(number) for number in range(10)]


def test_somebody_new_is_written_once(a: Tenant) -> None:
    """Contact and conversation go in as their messages leave them: each change would write all of its indexes."""
    with connection.cursor() as cursor:
        cursor.execute(UPDATES)
        before = cursor.fetchall()
        receive(*[received(a.channel, person=person(number % 5), at=moment(number)) for number in range(10)])
        cursor.execute(UPDATES)
        assert cursor.fetchall() == before
    assert set(Conversation.objects.values_list("unread_count", "last_message_direction")) == {(2, "in")}


def test_somebody_new_on_two_channels_was_last_heard_of_when_they_last_wrote(a: Tenant) -> None:
    other = ChannelFactory.create(workspace=a.workspace)
    for number, late in enumerate((a.channel, other), 1):
        early = other if late == a.channel else a.channel
        receive(
            received(early, person=person(number), at=moment(-10)), received(late, person=person(number), at=moment(-5))
        )
    assert set(Contact.objects.values_list("last_inbound_at", flat=True)) == {moment(-5)}


def test_somebody_new_whose_message_is_known_has_an_empty_conversation(a: Tenant) -> None:
    receive(received(a.channel, message_id="wamid.x"))
    assert receive(received(a.channel, message_id="wamid.x", person=person(2))) == 0
    conversation = Conversation.objects.get(contact__name="Person 2")
    assert (conversation.status, conversation.unread_count, conversation.shown_last_message) == ("open", 0, None)


def test_somebody_new_who_turns_out_to_be_known_keeps_the_conversation(a: Tenant) -> None:
    """A number that is told in one batch by a stranger and by somebody who was hidden is one person's."""
    hidden = Person(user_id="DE.13491208655302741918", name="Ada")
    receive(received(a.channel, person=hidden))
    known = replace(hidden, phone=person().phone)
    assert receive(received(a.channel), received(a.channel, person=known), received(a.channel)) == 3
    assert (Contact.objects.count(), the_conversation().unread_count) == (1, 4)


def test_messages_stand_in_the_order_of_the_networks_time(a: Tenant) -> None:
    receive(received(a.channel, text="third", at=moment(-10)), received(a.channel, text="first", at=moment(-30)))
    receive(received(a.channel, text="second", at=moment(-20)))
    assert texts_of(the_conversation()) == ["first", "second", "third"]
    assert (the_conversation().last_message_preview, the_conversation().last_inbound_at) == (
        "third",
        moment_of("third"),
    )


def moment_of(text: str) -> object:
    return Message.objects.get(text=text).provider_time


def test_a_conversation_is_of_one_contact_and_one_channel(a: Tenant) -> None:
    other = ChannelFactory.create(workspace=a.workspace)
    receive(received(a.channel), received(other), received(a.channel, person=person(2)))
    assert Contact.objects.count() == 2
    assert Conversation.objects.count() == 3


def test_the_same_id_on_two_channels_is_two_messages(a: Tenant) -> None:
    other = ChannelFactory.create(workspace=a.workspace)
    assert receive(received(a.channel, message_id="wamid.x"), received(other, message_id="wamid.x")) == 2


def test_a_closed_conversation_opens_again(a: Tenant) -> None:
    receive(received(a.channel))
    change_conversation(conversation=the_conversation(), now=moment(), status="closed")
    receive(received(a.channel))
    assert the_conversation().status == "open"


def test_only_what_comes_after_reading_is_unread(a: Tenant) -> None:
    receive(received(a.channel, at=moment(-60)))
    mark_read(conversation=the_conversation(), now=moment())
    assert the_conversation().unread_count == 0
    receive(received(a.channel, at=moment(-120), text="came late, is old"))
    assert the_conversation().unread_count == 0
    receive(received(a.channel, at=moment(-60), text="of the same second"), received(a.channel, at=moment()))
    assert the_conversation().unread_count == 2


def test_a_conversation_is_marked_unread(a: Tenant) -> None:
    receive(received(a.channel, at=moment(-5)), received(a.channel))
    mark_read(conversation=the_conversation(), now=moment())
    assert mark_unread(conversation=the_conversation(), now=moment()).unread_count == 1
    assert mark_read(conversation=the_conversation(), now=moment()).unread_count == 0


def test_somebody_whose_number_is_hidden_is_known_by_their_id(a: Tenant) -> None:
    hidden = Person(user_id="DE.13491208655302741918", name="Ada")
    receive(received(a.channel, person=hidden), received(a.channel, person=hidden))
    assert (the_conversation().contact.phone, the_conversation().unread_count) == (None, 2)


def test_nobody_is_left_out(a: Tenant) -> None:
    assert receive(received(a.channel, person=Person(name="Nobody")), received(a.channel)) == 1


def test_a_file_is_to_be_fetched_unless_it_may_not_be_kept(a: Tenant) -> None:
    receive(
        received(a.channel, type="image", text="", file=ReceivedFile(reference="media-1", content_type="image/jpeg")),
        received(a.channel, type="image", text="", file=ReceivedFile(reference="https://x.example", may_be_kept=False)),
    )
    found = dict(MediaFetch.objects.values_list("reference", "status"))
    assert found == {"media-1": "pending", "https://x.example": "not_kept"}


def test_what_cannot_be_stored_is_replaced(a: Tenant) -> None:
    receive(received(a.channel, text="a\0b\ud800", details={"location": {"name": "x\0y", "path": "\\u0000"}}))
    receive(received(a.channel, text="halves", details={"name": "\ud83d", "mark": "\U0001f44d\udc4d"}))
    assert Message.objects.get(text="halves").details == {"name": "\ufffd", "mark": "\U0001f44d\ufffd"}
    message = Message.objects.exclude(text="halves").get()
    assert message.text == "a\ufffdb\ufffd"
    assert message.details == {"location": {"name": "x\ufffdy", "path": "\\u0000"}}


def test_what_was_sent_elsewhere_is_an_outgoing_message_that_nobody_has_to_read(a: Tenant) -> None:
    receive(received(a.channel, at=moment(-10)))
    mark_read(conversation=the_conversation(), now=moment())
    change_conversation(conversation=the_conversation(), now=moment(), status="closed")
    told = echo(a.channel)
    assert apply(inbound.record_echoes, told, told) == 1
    assert apply(inbound.record_echoes, told) == 0
    conversation, message = the_conversation(), Message.objects.get(direction="out")
    assert (message.status, message.sent_elsewhere, message.sent_at) == ("sent", True, told.at)
    assert (conversation.unread_count, conversation.status, conversation.last_message_preview) == (
        0,
        "closed",
        "From the phone",
    )
    assert conversation.last_inbound_at == moment_of("Hello")


def test_an_answer_on_the_phone_has_read_what_came_before_it(a: Tenant) -> None:
    before, same = received(a.channel, at=moment(-60)), received(a.channel, at=moment(-20))
    receive(before, same, received(a.channel, at=moment(-10)))
    older, answer = echo(a.channel, at=moment(-50)), echo(a.channel, at=moment(-20))
    apply(inbound.record_echoes, older, answer)
    assert (the_conversation().unread_count, the_conversation().read_up_to) == (2, moment(-20)), (
        "one of the same second"
    )
    apply(inbound.record_echoes, echo(a.channel, at=moment(-40)))
    receive(received(a.channel, at=moment(-30), text="came late, was read on the phone"))
    assert (the_conversation().unread_count, the_conversation().read_up_to) == (2, moment(-20))
    apply(inbound.record_echoes, echo(a.channel, at=moment(-5)))
    mark_unread(conversation=the_conversation(), now=moment())
    apply(inbound.record_echoes, answer, older)
    assert (the_conversation().unread_count, ReadMark.objects.count()) == (1, 0), "known echoes tell nothing new"


def test_an_answer_from_a_program_has_read_nothing(a: Tenant) -> None:
    page = ChannelFactory.create(workspace=a.workspace, platform="facebook")
    receive(received(page, at=moment(-60)))
    apply(inbound.record_echoes, echo(page))
    assert the_conversation().unread_count == 1


def test_what_was_sent_elsewhere_to_somebody_new_opens_their_conversation(a: Tenant) -> None:
    told = echo(a.channel, message_id="wamid.x")
    assert apply(inbound.record_echoes, told) == 1
    conversation = the_conversation()
    assert (conversation.last_message_preview, conversation.unread_count) == ("From the phone", 0)
    assert conversation.last_inbound_at is conversation.contact.last_inbound_at is None
    receive(received(a.channel, at=moment(-5), text="came late, was read on the phone"))
    assert the_conversation().unread_count == 0
    assert apply(inbound.record_echoes, echo(a.channel, message_id="wamid.y", person=person(2))) == 1
    assert Conversation.objects.count() == 2


def test_a_call_of_somebody_new_opens_an_empty_conversation(a: Tenant) -> None:
    call = ConversationTouched(channel=received(a.channel).channel, person=person(), at=moment(), kind="call")
    assert apply(inbound.open_windows, call) == 1
    conversation = the_conversation()
    assert (conversation.last_inbound_at, conversation.contact.last_inbound_at) == (call.at, call.at)
    assert (conversation.unread_count, conversation.shown_last_message) == (0, None)


def test_a_call_opens_the_window_and_is_no_message(a: Tenant) -> None:
    receive(received(a.channel, at=moment(-90_000)))
    call = ConversationTouched(channel=received(a.channel).channel, person=person(), at=moment(), kind="call")
    apply(inbound.open_windows, call)
    conversation = the_conversation()
    assert (conversation.last_inbound_at, conversation.contact.last_inbound_at) == (call.at, call.at)
    assert (conversation.unread_count, Message.objects.count()) == (1, 1)


def test_a_batch_takes_as_many_statements_as_one_message(a: Tenant) -> None:
    receive(*[received(a.channel, person=person(number)) for number in range(1, 41)])
    with CaptureQueriesContext(connection) as one:
        receive(received(a.channel))
    with CaptureQueriesContext(connection) as many:
        receive(*[received(a.channel, person=person(number), at=moment(1)) for number in range(1, 41)])
    assert len(many) == len(one) <= 16, [query["sql"][:120] for query in many.captured_queries]
