"""What a text was begun as stays with it: what was begun as a note is never sent, and each has a form of its own."""

import re
from typing import Any

import pytest
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests import furnished
from tests.agency.console.browsers import text
from tests.workspaces.conversations.dashboard.test_inbox import do, page_of
from tests.workspaces.conversations.dashboard.test_working import a_template
from tests.workspaces.conversations.facts import moment, receive, received, the_conversation
from tests.workspaces.subaccounts.dashboard.clients import agency_client
from workspaces.conversations.models import Conversation, Message, Note, QueuedMessage
from workspaces.conversations.services import Content, add_note, send_message
from workspaces.conversations.services.conversations import WrongComposerMode
from workspaces.subaccounts.models import Channel

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
REFUSED = "You began this text as a note, and it would now go out as a reply, or the other way round"
DAY_AND_MORE = -90_000


@pytest.fixture
def conversation(channel: Channel) -> Conversation:
    receive(received(channel))
    return the_conversation()


def part_of(answer: Any, name: str) -> str:
    """The form of that name on a page, as it is written."""
    page = answer.content.decode()
    found = re.search(rf'<div data-live="composer-{name}".*?</form>', page, re.DOTALL)
    return found[0] if found else ""


def nothing_left() -> bool:
    return not Message.objects.filter(direction="out").exists() and not QueuedMessage.objects.exists()


def test_what_was_begun_as_something_else_is_not_sent(owner: Client, conversation: Conversation) -> None:
    for begun_as, stands_in in (("note", "note"), ("template", "text"), ("something else", "text")):
        answer = do(owner, conversation, "send", text="He owes us money", begun_as=begun_as)
        assert (answer.status_code, REFUSED in text(answer), nothing_left()) == (422, True, True), begun_as
        begun = part_of(answer, stands_in)
        assert "He owes us money</textarea>" in begun, begun_as
        assert REFUSED in begun, begun_as


def test_a_template_carries_no_note(owner: Client, conversation: Conversation, channel: Channel) -> None:
    template = str(a_template(channel).uuid)
    fields = {"template": template, "parameter-0": "Ada"}
    assert do(owner, conversation, "send", begun_as="note", **fields).status_code == 422
    assert nothing_left()
    assert do(owner, conversation, "send", begun_as="template", **fields).status_code == 302


def test_what_was_begun_as_an_answer_becomes_no_note(owner: Client, conversation: Conversation) -> None:
    answer = do(owner, conversation, "notes", text="Yes, until six.", begun_as="text")
    assert (answer.status_code, Note.objects.count()) == (422, 0)
    assert "Yes, until six.</textarea>" in part_of(answer, "text")
    assert "Yes, until six." not in part_of(answer, "note")


def test_an_answer_that_cannot_be_sent_any_more_is_not_lost(owner: Client, channel: Channel) -> None:
    receive(received(channel, at=moment(DAY_AND_MORE)))
    answer = do(owner, the_conversation(), "notes", text="Yes, until six.", begun_as="text")
    assert (answer.status_code, Note.objects.count()) == (422, 0)
    assert "Yes, until six.</textarea>" in part_of(answer, "note")


def test_the_service_refuses_a_text_begun_as_something_else(conversation: Conversation) -> None:
    with pytest.raises(WrongComposerMode):
        send_message(conversation=conversation, content=Content(text="Hush", begun_as="note"), by=SYSTEM, now=now())
    with pytest.raises(WrongComposerMode):
        add_note(conversation=conversation, text="Hello", by=SYSTEM, now=now(), begun_as="text")
    assert nothing_left()


def test_every_form_stands_on_the_page_and_one_is_shown(
    owner: Client, conversation: Conversation, channel: Channel
) -> None:
    a_template(channel)
    for mode, shown in (("", "text"), ("text", "text"), ("template", "template"), ("note", "note")):
        page = owner.get(page_of(conversation), {"mode": mode}).content.decode()
        parts = dict(re.findall(r'data-part="(\w+)"( hidden)?>', page))
        assert [name for name, is_hidden in parts.items() if not is_hidden] == [shown], mode
        assert set(parts) == {"text", "template", "note"}, mode
        assert re.findall(r'data-mode="(\w+)" aria-current="true"', page) == [shown], mode
        assert re.findall(r'name="begun_as" value="(\w+)"', page) == ["text", "note"], mode


def test_a_form_that_is_out_of_date_keeps_what_was_typed(owner: Client, conversation: Conversation) -> None:
    for action, part in (("send", "text"), ("notes", "note")):
        answer = do(owner, conversation, action, text="A long text", begun_as=part, nonce="of another day")
        assert answer.status_code == 422, action
        assert "A long text</textarea>" in part_of(answer, part), action
        assert "This form is out of date" in part_of(answer, part), action
        assert (nothing_left(), Note.objects.count()) == (True, 0), action


def test_how_long_answers_are_free_is_not_said_of_whom_nothing_can_be_sent_to(
    owner: Client, conversation: Conversation
) -> None:
    page = page_of(conversation)
    assert b"data-window-ends" in owner.get(page).content
    do(owner, conversation, "opt-out", opted_out="yes")
    shown = owner.get(page)
    assert "This contact has opted out" in text(shown)
    assert b"data-window-ends" not in shown.content
    assert "Free replies until" not in text(shown)
    do(owner, conversation, "opt-out", opted_out="no")
    Channel.objects.update(status="disconnected")
    assert b"data-window-ends" not in owner.get(page).content


def test_each_person_chooses_the_key_that_sends(owner: Client, conversation: Conversation) -> None:
    page, other = page_of(conversation), agency_client(conversation.workspace)
    for chosen, offered in (("", "sends"), ("sends", "breaks"), ("breaks", "sends"), ("sends", "breaks")):
        if chosen:
            assert do(owner, conversation, "enter-key", enter=chosen).headers["Location"] == page
        content = owner.get(page).content.decode()
        assert re.findall(r'name="enter" value="(\w+)"', content) == [offered]
        assert ("data-enter-sends" in content) == (offered == "breaks")
    assert b"data-enter-sends" not in other.get(page).content
