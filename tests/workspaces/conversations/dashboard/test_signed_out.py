"""What was written in the inbox when the session had ended stands there again after signing in, and is sent once."""

import re
from typing import Any

import pytest
from django.test import Client

from agency.models import UserSession
from tests import furnished
from tests.agency.console.browsers import PASSWORD, flashes, hidden
from tests.factories import ContactFactory
from tests.tenants import Tenant
from tests.workspaces.conversations.dashboard.test_composer import DAY_AND_MORE
from tests.workspaces.conversations.dashboard.test_inbox import page_of
from tests.workspaces.conversations.dashboard.test_working import a_template
from tests.workspaces.conversations.facts import moment, receive, received, the_conversation
from workspaces.conversations.models import Conversation, Message, Note
from workspaces.subaccounts.models import Channel

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
ANSWER = "Yes, until six.\r\nSee you then."
NOT_SENT = "You were signed out before this was sent. Nothing has been done yet"


@pytest.fixture
def conversation(channel: Channel) -> Conversation:
    receive(received(channel))
    return the_conversation()


def sent_after_the_end(owner: Client, page: str, to: str, *, then: str = "", **typed: str) -> Any:
    """Open a page, end its session, send a form of it, sign in; gives the page to which that leads, or another."""
    shown = owner.get(page)
    form = {name: hidden(shown, name) for name in ("made_for", "nonce")}
    person = shown.context["user"]
    person.set_password(PASSWORD)
    person.save()
    UserSession.objects.all().delete()
    asked = owner.post(to, {**form, **typed})["Location"]
    next_page = owner.get(asked).context["next"]
    signed_in = owner.post("/account/sign-in", {"email": person.email, "password": PASSWORD, "next": next_page})
    return owner.get(then or signed_in["Location"], follow=True)


def nothing_done() -> bool:
    return not Message.objects.filter(direction="out").exists() and not Note.objects.exists()


@pytest.mark.parametrize(("action", "begun_as", "field"), [("send", "text", "text"), ("notes", "note", "note")])
def test_an_answer_and_a_note_are_there_again(
    owner: Client, conversation: Conversation, action: str, begun_as: str, field: str
) -> None:
    page = page_of(conversation)
    shown = sent_after_the_end(owner, page, f"{page}/{action}", text=ANSWER, begun_as=begun_as)
    assert NOT_SENT in flashes(shown)[0]
    text = re.search(
        rf'id="(?:composer|note)-{field}"[^>]*>([^<]*)<|id="note-text"[^>]*>([^<]+)<', shown.content.decode()
    )
    assert text
    assert (text[1] or text[2]).split() == ANSWER.split()
    assert nothing_done()
    form = {"made_for": hidden(shown, "made_for"), "nonce": hidden(shown, "nonce")}
    for _ in range(2):
        owner.post(f"{page}/{action}", {**form, "text": ANSWER, "begun_as": begun_as})
    assert Message.objects.filter(direction="out").count() + Note.objects.count() == 1


def test_an_answer_for_which_the_window_has_closed_stands_there_as_a_note(owner: Client, channel: Channel) -> None:
    receive(received(channel, at=moment(DAY_AND_MORE)))
    page = page_of(the_conversation())
    shown = sent_after_the_end(owner, page, f"{page}/send", text=ANSWER, begun_as="text")
    note = re.search(r'id="note-text"[^>]*>([^<]*)<', shown.content.decode())
    assert note
    assert note[1].split() == ANSWER.split()
    assert nothing_done()


def first_message(tenant: Tenant, channel: Channel, number: int) -> str:
    """Give the address of the page on which a conversation with a new contact begins."""
    contact = ContactFactory.create(workspace=tenant.workspace, phone=f"+4930123456{number}")
    return f"/app/inbox/new?contact={contact.uuid}&channel={channel.uuid}"


@pytest.mark.parametrize("to_another", [False, True])
def test_the_values_of_a_template_are_there_again_for_the_contact_for_whom_they_were_typed(
    owner: Client, a: Tenant, channel: Channel, to_another: bool
) -> None:
    template = a_template(channel)
    page, other = first_message(a, channel, 1), first_message(a, channel, 2)
    fields = {"template": str(template.uuid), "begun_as": "template", "parameter-0": "Ada & Co"}
    then = f"{other}&template={template.uuid}" if to_another else ""
    shown = sent_after_the_end(owner, f"{page}&template={template.uuid}", page, then=then, **fields)
    is_there = 'name="parameter-0" maxlength="1024" required value="Ada &amp; Co"' in shown.content.decode()
    assert (is_there, any(NOT_SENT in said for said in flashes(shown))) == (not to_another, not to_another)
    assert nothing_done()
