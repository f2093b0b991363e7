"""Messages go to the provider once each, in order, and what came of them is recorded."""

from collections import Counter, defaultdict
from datetime import timedelta
from typing import Any

import pytest
from django.utils.timezone import now

from config.db import database_now
from tests.channelconnect.sending.conftest import LONGER, StartSender
from tests.channelconnect.sending.messages import (
    PAGE,
    a_channel,
    a_conversation,
    a_message,
    ended,
    make_due,
    many_conversations,
    many_messages,
    put_off,
    sends,
    unknown,
)
from tests.factories import a_message_template
from tests.tenants import Tenant
from tests.waiting import until
from tools.sandbox import RunningSandbox
from workspaces.contacts.models import Contact
from workspaces.conversations.models import Conversation, Message, QueuedMessage
from workspaces.subaccounts.models import Channel


def test_a_message_is_sent_with_our_id_and_recorded(
    a: Tenant, meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    """A message goes to a number, or by the id of a person without one. A person without both is not called.

    Messenger and Instagram get it through the page. Outside Messenger's window, the subcode of the refusal decides.
    """
    message = a_message(a_conversation(channel, phone="491701234567"), "Good morning")
    by_id = a_message(a_conversation(channel, user_id="US.1349120550"))
    nowhere = a_conversation(channel)
    nowhere.contact.identities.all().delete()
    unsendable = a_message(nowhere)
    pages = {platform: a_channel(a.workspace, meta, platform=platform) for platform in ("facebook", "instagram")}
    of_pages = {platform: a_message(a_conversation(page), "Hi") for platform, page in pages.items()}
    late = a_message(a_conversation(pages["facebook"]), "Hi #10/2018278")

    start_sender()

    assert [ended(one).status for one in (message, by_id, unsendable)] == ["sent", "sent", "failed"]
    assert {platform: ended(one).status for platform, one in of_pages.items()} == dict.fromkeys(pages, "sent")
    assert ended(late).error_code == "10/2018278"
    sent = {one["opaque"]: one for one in meta.ledger()["sent"]}
    assert sent.keys() == {str(one.uuid) for one in (message, by_id, *of_pages.values())}
    assert (message.provider_message_id, message.error_code) == (sent[str(message.uuid)]["message_id"], None)
    assert message.sent_at
    assert sent[str(message.uuid)]["body"]["to"] == "+491701234567"
    assert sent[str(message.uuid)]["body"]["text"]["body"] == "Good morning"
    body = sent[str(by_id.uuid)]["body"]
    assert (body["recipient"], "to" in body) == ("US.1349120550", False)
    assert unsendable.error_code == "no_address"
    assert [sends(meta, one) for one in (message, by_id, unsendable)] == [1, 1, 0]
    for platform, one in of_pages.items():
        of_page = sent[str(one.uuid)]
        assert (of_page["account"], of_page["body"]["message"]) == (PAGE, {"text": "Hi", "metadata": str(one.uuid)})
        assert of_page["body"].get("messaging_type") == ("RESPONSE" if platform == "facebook" else None)
    assert set(Channel.objects.values_list("status", flat=True)) == {"active"}
    assert not QueuedMessage.objects.exists()


def test_many_messages_go_once_each_and_in_order_within_a_conversation(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    many_messages(many_conversations(channel, 60), each=4)

    start_sender(rates=None)

    until(lambda: not QueuedMessage.objects.exists())
    sent = meta.ledger()["sent"]
    assert Counter(one["opaque"] for one in sent) == Counter(map(str, Message.objects.values_list("uuid", flat=True)))
    texts: dict[str, list[str]] = defaultdict(list)
    for one in sent:
        texts[one["to"]].append(one["body"]["text"]["body"])
    assert len(texts) == 60
    assert set(map(tuple, texts.values())) == {tuple(f"Message {turn}" for turn in range(4))}
    assert set(Message.objects.values_list("status", flat=True)) == {"sent"}


REFUSALS = [
    ("131026", "The message could not be delivered to this person."),
    ("131047", "The 24-hour window is closed. Send a template, or wait until the person writes."),
    ("131049", "The provider holds back marketing for this person for now."),
    ("131053", "The provider could not take the file."),
    ("131042", "The account at the provider has no valid payment method."),
    ("131031", "The provider has restricted the account."),
    ("100", "The provider did not understand the message."),
]


def test_refusals_fail_the_message_with_the_providers_code_and_a_sentence(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    """Who wants no marketing is noted as such."""
    messages = {code: a_message(a_conversation(channel), f"Hi #{code}") for code, _ in REFUSALS}
    marketing = a_message(a_conversation(channel), "Sale! #131050")

    start_sender()

    for code, sentence in REFUSALS:
        message = ended(messages[code])
        assert (message.status, message.error_code, message.error_message) == ("failed", code, sentence)
    assert ended(marketing).error_code == "131050"
    contact = marketing.conversation.contact_id
    until(lambda: Contact.objects.filter(pk=contact, marketing_opted_out_at__isnull=False).exists())
    assert meta.ledger()["sent_total"] == 0
    channel.refresh_from_db()
    assert channel.status == "active"


# For so many seconds each waits the first time and the second time.
WAITS = {"131056": (1, 4), "130429": (1, 2), "131016": (1, 4), "80007": (5, 20)}


@pytest.mark.usefixtures("_long_waits")
def test_what_was_not_accepted_is_tried_again_after_longer_and_longer(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    messages = {code: a_message(a_conversation(channel), f"Hi #{code}*2") for code in WAITS}

    began = dict.fromkeys(WAITS, database_now())
    start_sender()

    for tries in (1, 2):
        for code, message in messages.items():
            wait = timedelta(seconds=LONGER * WAITS[code][tries - 1])
            row = until(QueuedMessage.objects.filter(message=message, tries=tries, run=None).first)
            message.refresh_from_db()
            assert (message.status, sends(meta, message)) == ("pending", 0)
            assert began[code] + wait <= row.due_at <= database_now() + wait
            began[code] = database_now()
            make_due(message)
    for message in messages.values():
        assert ended(message).status == "sent"
        assert sends(meta, message) == 1


@pytest.mark.usefixtures("_long_waits")
def test_a_later_message_waits_for_the_one_that_is_tried_again_and_other_people_do_not(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    conversation = a_conversation(channel)
    first, second = a_message(conversation, "First #131056*1"), a_message(conversation, "Second")
    other = a_message(a_conversation(channel), "To somebody else")

    start_sender()

    put_off(first)
    assert ended(other).status == "sent"
    second.refresh_from_db()
    assert second.status == "pending"
    make_due(first)
    ended(second)
    assert [one["body"]["text"]["body"] for one in meta.ledger()["sent"]][1:] == ["First #131056*1", "Second"]


def test_what_may_have_been_accepted_is_never_sent_again(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    conversations = {ending: a_conversation(channel) for ending in ("500", "close")}
    messages = [a_message(one, f"Hi #{ending}") for ending, one in conversations.items()]
    following = [a_message(one, "And then") for one in conversations.values()]
    told = a_message(a_conversation(channel), "Hi #500")

    start_sender()

    for message in (*messages, told):
        row = unknown(message)
        assert 14 * 60 < (row.due_at - database_now()).total_seconds() <= 15 * 60
    assert [ended(one).status for one in following] == ["sent", "sent"]
    # A status that came meanwhile settles what is unknown.
    Message.objects.filter(pk=told.pk).update(status="delivered", provider_message_id="wamid.X")
    for message in (*messages, told):
        make_due(message)
    for message in messages:
        ended(message)
        assert (message.status, message.error_code) == ("failed", "send_outcome_unknown")
        assert message.error_message == "It is not known whether the provider has sent this message."
        assert sends(meta, message) == 1
    until(lambda: not QueuedMessage.objects.exists())
    told.refresh_from_db()
    assert (told.status, told.error_code, told.provider_message_id) == ("delivered", None, "wamid.X")


@pytest.mark.usefixtures("_long_waits")
def test_a_provider_that_cannot_be_reached_is_tried_again(
    channel: Channel, start_sender: StartSender, settings: Any
) -> None:
    good, settings.META_GRAPH_URL = settings.META_GRAPH_URL, "http://127.0.0.1:1025"
    message = a_message(a_conversation(channel))
    sender = start_sender()
    assert put_off(message).tries == 1
    sender.stop()
    settings.META_GRAPH_URL = good
    make_due(message)

    start_sender()

    assert ended(message).status == "sent"


def test_a_dead_token_marks_the_channel_and_fails_the_rest_with_a_clear_code(
    a: Tenant, meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    message = a_message(a_conversation(channel), "Hi #190")
    sender = start_sender()
    assert (ended(message).status, message.error_code) == ("failed", "190")
    until(lambda: Channel.objects.filter(pk=channel.pk, status="error").exists())

    rest = a_message(a_conversation(channel), "Another")

    assert ended(rest).error_code == "channel_not_connected"
    assert rest.error_message == "The channel is not connected."
    assert meta.ledger()["sent_total"] == 0
    sender.stop()


def heard_of(conversation: Conversation, *, hours: float) -> Conversation:
    """Let its contact have written so long ago."""
    Conversation.objects.filter(pk=conversation.pk).update(last_inbound_at=now() - timedelta(hours=hours))
    return conversation


def test_what_was_written_before_an_opt_out_is_not_sent_and_its_confirmation_is(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    """Who wants no marketing gets no template of marketing, and any other."""
    conversation = heard_of(a_conversation(channel), hours=1)
    before = a_message(conversation, "Our offer")
    template = a_message(conversation, "", type="template", template={"name": "hello", "language": "en_US"})
    at = now()
    Contact.objects.filter(pk=conversation.contact_id).update(opted_out_at=at, opt_out_source="keyword")
    # Its own clock says that it was written later; or a merge brought an opt-out of long ago.
    fast = a_message(conversation, "One more", created_at=at + timedelta(seconds=5))
    confirmation = a_message(conversation, "You will get no more messages.", sent_by_kind="system", created_at=at)
    without_marketing = a_conversation(channel)
    marketing, useful = templates_of_both_categories(channel, without_marketing)
    text = a_message(without_marketing, "Your table is booked.")
    Contact.objects.filter(pk=without_marketing.contact_id).update(marketing_opted_out_at=now())

    start_sender()

    messages = (before, template, fast, confirmation)
    assert [ended(one).status for one in messages] == ["failed", "failed", "failed", "sent"]
    assert {before.error_code, template.error_code, fast.error_code} == {"contact_opted_out"}
    assert before.error_message == "The contact has opted out since the message was written."
    assert [ended(one).status for one in (marketing, useful, text)] == ["failed", "sent", "sent"]
    assert [one.error_code for one in (marketing, useful)] == ["contact_opted_out", None]
    sent = {one["opaque"] for one in meta.ledger()["sent"]}
    assert sent == {str(one.uuid) for one in (confirmation, useful, text)}


ADA = [{"type": "body", "parameters": [{"type": "text", "text": "Ada"}]}]


def templates_of_both_categories(channel: Channel, conversation: Conversation) -> list[Message]:
    """Queue a message of a template of marketing, and one of another."""
    messages = []
    for name, category in (("hello", "MARKETING"), ("order_ready", "UTILITY")):
        a_message_template(channel, name=name, language="en_US", category=category)
        template = {"name": name, "language": "en_US", "components": ADA}
        messages.append(a_message(conversation, "", type="template", template=template))
    return messages


def test_a_free_text_whose_window_has_closed_meanwhile_is_not_tried_and_a_template_goes_with_its_components(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    closed = heard_of(a_conversation(channel), hours=24.01)
    late, opened = a_message(closed, "Yes"), a_message(heard_of(a_conversation(channel), hours=23.9), "Yes")
    plain = a_message(closed, "", type="template", template={"name": "hello", "language": "en_US"})
    template = {"name": "order_ready", "language": "en_US", "components": ADA}
    message = a_message(a_conversation(channel), "", type="template", template=template)
    missing = a_message(a_conversation(channel), "", type="template", template={**template, "name": "unheard_of"})
    wrong = a_message(a_conversation(channel), "", type="template", template={**template, "components": []})

    start_sender()

    assert [ended(one).status for one in (late, plain, opened, message)] == ["failed", "sent", "sent", "sent"]
    assert [ended(one).error_code for one in (late, missing, wrong)] == ["window_closed", "132001", "132000"]
    sent = {one["opaque"]: one["body"] for one in meta.ledger()["sent"]}
    assert sent.keys() == {str(one.uuid) for one in (plain, opened, message)}
    assert sent[str(message.uuid)]["template"] == {
        "name": "order_ready",
        "language": {"code": "en_US"},
        "components": ADA,
    }
