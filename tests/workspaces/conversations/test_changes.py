"""What contacts change of what was written: edits, messages taken back, reactions, ids, and what they want to get."""

from typing import Any

import pytest
from django.db import connection
from django.utils.timezone import now

from tests import furnished
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import (
    apply,
    echo,
    moment,
    person,
    receive,
    received,
    reference,
    status,
    the_conversation,
)
from tests.workspaces.conversations.sending import record, send, sent
from workspaces.contacts.models import Contact
from workspaces.conversations.facts import (
    IdentityChanged,
    MarketingPreferenceChanged,
    MessageEdited,
    MessageRemoved,
    Person,
    ReactionChanged,
    ReceivedFile,
)
from workspaces.conversations.models import Conversation, MediaFetch, Message, ParkedChange
from workspaces.conversations.services import inbound
from workspaces.conversations.services.inbound import changes
from workspaces.conversations.services.inbound.changes import KNOWN, LATELY, MOST_LOOKED_AT

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db


def about(kind: Any, a: Tenant, message_id: str, at: Any = None, **more: Any) -> Any:
    return kind(channel=reference(a.channel), person=person(), at=at or moment(), message_id=message_id, **more)


def edit(a: Tenant, text: str, at: Any = None) -> int:
    return int(apply(inbound.edit_messages, about(MessageEdited, a, "wamid.1", at, text=text)))


def react(a: Tenant, emoji: str, at: Any = None, message_id: str = "wamid.1") -> int:
    return int(apply(inbound.change_reactions, about(ReactionChanged, a, message_id, at, emoji=emoji)))


def reactions(a: Tenant) -> list[str]:
    shown = a.workspace_api.get(f"/conversations/{the_conversation().uuid}/messages").json()["data"]
    return [one["emoji"] for message in shown for one in message["reactions"]]


def test_an_edit_replaces_the_text_and_an_older_one_does_not(a: Tenant) -> None:
    receive(received(a.channel, message_id="wamid.1", text="At seven", at=moment(-60)))
    assert edit(a, "At eight", moment(-10)) == 1
    assert edit(a, "At half past seven", moment(-20)) == 0
    message = Message.objects.get()
    assert (message.text, message.edited_at) == ("At eight", moment(-10))
    assert the_conversation().last_message_preview == "At eight"


def test_a_message_that_is_taken_back_loses_all_its_content(a: Tenant) -> None:
    file = ReceivedFile(reference="media-1")
    receive(
        received(a.channel, message_id="wamid.1", type="image", text="My card", file=file, details={"reply_to": "x"})
    )
    react(a, "👍")
    assert apply(inbound.remove_messages, about(MessageRemoved, a, "wamid.1")) == 1
    message = Message.objects.get()
    assert (message.text, message.details, message.reactions, message.media) == ("", {}, [], None)
    assert message.removed_at is not None
    assert not MediaFetch.objects.exists()
    assert the_conversation().last_message_preview == ""
    assert edit(a, "Here it is again") == react(a, "👍") == 0
    assert Message.objects.get().text == ""


def test_a_reaction_stands_at_its_message_and_is_taken_back(a: Tenant) -> None:
    receive(received(a.channel, message_id="wamid.1"))
    unread = the_conversation().unread_count
    react(a, "👍", moment(1))
    assert reactions(a) == ["👍"]
    react(a, "❤️", moment(2))
    assert reactions(a) == ["❤️"]
    react(a, "", moment(4))
    react(a, "👍", moment(3))
    assert reactions(a) == []
    assert (the_conversation().unread_count, Message.objects.count()) == (unread, 1)
    assert react(a, "👍", message_id="wamid.unknown") == 0


def test_a_reaction_opens_the_window(a: Tenant) -> None:
    message = sent(a)
    react(a, "👍", moment(60), message_id=message.provider_message_id or "")
    assert the_conversation().last_inbound_at == moment(60)


def test_somebody_with_a_new_number_keeps_their_conversation(a: Tenant) -> None:
    receive(received(a.channel))
    new = Person(external_id="4915199999999", phone="+4915199999999")
    apply(
        inbound.change_identities,
        IdentityChanged(channel=reference(a.channel), person=person(), at=moment(), becomes=new),
    )
    receive(received(a.channel, person=new))
    assert (Contact.objects.count(), the_conversation().unread_count) == (1, 2)


@pytest.mark.parametrize("is_known", ["by writing", "by an import", ""])
def test_somebody_with_a_new_number_is_reached_there_and_the_old_one_is_kept(a: Tenant, is_known: str) -> None:
    receive(received(a.channel))
    old, new = person(), person(2)
    if is_known == "by an import":
        a.workspace_api.post("/contacts/import", {"contacts": [{"phone": new.phone, "tags": ["VIP"]}]})
    elif is_known:
        receive(received(a.channel, person=new))
    apply(
        inbound.change_identities, IdentityChanged(channel=reference(a.channel), person=old, at=moment(), becomes=new)
    )
    contact = Contact.objects.get()
    assert (contact.phone, contact.attributes) == (new.phone, {"other_phone": old.phone})
    assert new.phone in contact.search_key
    assert contact.tags == (["VIP"] if is_known == "by an import" else [])


def test_two_ids_of_one_person_become_one_contact_with_one_conversation(a: Tenant) -> None:
    hidden = Person(user_id="DE.1349")
    receive(received(a.channel, text="hidden", at=moment(-30)))
    receive(received(a.channel, person=hidden, text="also hidden", at=moment(-20)))
    assert Conversation.objects.count() == 2
    receive(received(a.channel, person=person(user_id="DE.1349"), text="both", at=moment(-10)))
    conversation = the_conversation()
    assert (Contact.objects.count(), conversation.unread_count) == (1, 3)
    assert Message.objects.filter(conversation=conversation).count() == 3
    assert conversation.last_message_preview == "both"


def test_the_networks_opt_out_of_marketing_is_kept(a: Tenant) -> None:
    receive(received(a.channel))

    def want(wanted: bool, at: Any) -> None:
        told = MarketingPreferenceChanged(channel=reference(a.channel), person=person(), at=at, wants_marketing=wanted)
        apply(inbound.change_marketing_preferences, told)

    want(False, moment(1))
    assert Contact.objects.get().marketing_opted_out_at == moment(1)
    assert Contact.objects.get().opted_out_at is None
    want(True, moment(2))
    assert Contact.objects.get().marketing_opted_out_at is None


def test_what_comes_before_its_message_is_applied_when_that_comes(a: Tenant) -> None:
    assert edit(a, "At nine", moment(2)) == edit(a, "At eight", moment(1)) == react(a, "👍", moment(3)) == 0
    apply(inbound.remove_messages, about(MessageRemoved, a, "wamid.2", moment(4)))
    assert ParkedChange.objects.count() == 3

    receive(
        received(a.channel, message_id="wamid.1", text="At seven", at=moment(0)),
        received(a.channel, message_id="wamid.2", text="Forget it", at=moment(1)),
    )

    first, second = Message.objects.order_by("provider_time")
    assert (first.text, first.edited_at) == ("At nine", moment(2))
    assert [one["emoji"] for one in first.shown_reactions] == ["👍"]
    assert (second.text, second.removed_at) == ("", moment(4))
    assert the_conversation().last_message_preview == ""
    assert not ParkedChange.objects.exists()


def test_a_reaction_to_what_was_sent_with_another_app_waits_for_its_echo(a: Tenant) -> None:
    react(a, "👍", moment(3))
    apply(inbound.record_echoes, echo(a.channel, message_id="wamid.1", at=moment(0)))
    assert reactions(a) == ["👍"]


def test_a_change_of_a_message_that_is_known_is_not_parked_and_the_parked_are_bounded(
    a: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    receive(received(a.channel, message_id="wamid.1", text="At seven"))
    edit(a, "At eight", moment(2))
    edit(a, "At half past seven", moment(1))
    assert not ParkedChange.objects.exists()
    monkeypatch.setattr(changes, "MOST_OF_A_CHANNEL", 2)
    for number in range(4):
        react(a, "👍", message_id=f"wamid.unknown-{number}")
    parked = ParkedChange.objects.order_by("id").values_list("message_id", flat=True)
    assert list(parked) == ["wamid.unknown-2", "wamid.unknown-3"]


@pytest.mark.parametrize("told_by", ["answer", "status", "echo"])
def test_a_reaction_to_a_message_of_ours_waits_until_its_id_is_known(a: Tenant, told_by: str) -> None:
    message = send(a)
    assert react(a, "👍", moment(60), message_id="wamid.ours") == 0
    ParkedChange.objects.update(parked_at=now() - 2 * LATELY)
    assert inbound.apply_out_of_order_changes(now=now()) == 0
    if told_by == "answer":
        record(message, provider_message_id="wamid.ours")
        assert inbound.apply_out_of_order_changes(now=now()) == 1
    elif told_by == "status":
        apply(inbound.apply_statuses, status(a.channel, "wamid.ours", "delivered", opaque=str(message.uuid)))
    else:
        apply(inbound.record_echoes, echo(a.channel, message_id="wamid.ours", opaque=str(message.uuid)))
    assert reactions(a) == ["👍"]
    assert the_conversation().last_inbound_at == moment(60)
    assert not ParkedChange.objects.exists()


def test_a_reaction_that_is_parked_while_its_message_becomes_known_is_found_soon(a: Tenant) -> None:
    message = send(a)
    react(a, "👍", moment(60), message_id="wamid.ours")
    Message.objects.filter(pk=message.pk).update(provider_message_id="wamid.ours")
    assert inbound.apply_out_of_order_changes(now=now() + 2 * LATELY) == 0
    assert inbound.apply_out_of_order_changes(now=now()) == 1
    assert reactions(a) == ["👍"]


def test_a_look_for_changes_that_may_be_applied_leaves_those_alone_that_wait_for_long(a: Tenant) -> None:
    """However many are about messages that never come."""
    ParkedChange.objects.bulk_create(
        ParkedChange(channel_id=a.channel.pk, message_id=f"m{number}", kind="reaction", at=now(), parked_at=moment())
        for number in range(3_000)
    )
    ParkedChange.objects.update(parked_at=now() - 2 * LATELY)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE conversations_parkedchange")
        cursor.execute(f"EXPLAIN {KNOWN}", [now() - LATELY, MOST_LOOKED_AT, 500])
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "parked_change_newest" in plan, plan


def test_the_further_files_of_a_message_go_with_it(a: Tenant) -> None:
    ids = ("m_1", "m_1#2", "m_1#10", "m_1#", "m_11", "m_2#2")
    files = {one: ReceivedFile(reference=f"file of {one}") for one in ids}
    receive(*(received(a.channel, message_id=one, type="image", file=files[one]) for one in ids))
    assert apply(inbound.remove_messages, about(MessageRemoved, a, "m_1")) == 3
    left = Message.objects.filter(removed_at=None).values_list("provider_message_id", flat=True)
    assert set(left) == {"m_1#", "m_11", "m_2#2"}
    assert MediaFetch.objects.count() == 3
