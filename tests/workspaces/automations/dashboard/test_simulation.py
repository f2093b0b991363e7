"""The test chat: a draft runs for a made-up contact, the page carries the chat, and nothing is sent or saved."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry
from tests import furnished
from tests.agency.console.browsers import text
from tests.factories.flows import a_flow, a_step
from tests.packs.client import an_automation
from tests.workspaces.subaccounts.dashboard.clients import agency_client
from workspaces.automations.models import Automation
from workspaces.automations.services import save_draft
from workspaces.contacts.models import Contact
from workspaces.conversations.models import Message
from workspaces.subaccounts.models import Workspace

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
FLOW = a_flow(
    a_step("hello", "send_text", {"next": "ask"}, text="Hello {{contact.first_name}}!"),
    a_step(
        "ask",
        "send_buttons",
        {"button_1": "pause", "button_2": "call", "other": "ask"},
        text="What do you need?",
        buttons=[{"title": "Prices"}, {"title": "A visit"}],
    ),
    a_step("pause", "wait", {"next": "tag"}, amount=2, unit="days"),
    a_step("tag", "add_tag", tag="asked"),
    a_step("call", "http_call", {"success": "tag", "failure": "late"}, method="GET", url="https://example.com/x"),
    a_step("late", "send_text", text="Later."),
)


class Chat:
    """The customer at the test chat: each thing they do sends the form that the page shows."""

    def __init__(self, client: Client, automation: Automation) -> None:
        self.client, self.url = client, reverse("app:automation-test", args=[automation.uuid])
        self.answer = client.get(self.url)

    def do(self, **values: str) -> "Chat":
        self.answer = self.client.post(self.url, {"chat": self.carried, **values})
        assert self.answer.status_code == 200
        return self

    @property
    def content(self) -> str:
        return str(self.answer.content.decode())

    @property
    def carried(self) -> str:
        found = re.search(r'name="chat" value="([^"]*)"', self.content)
        assert found
        return found[1]

    @property
    def lines(self) -> list[str]:
        log = re.search(r"<ol class=\"chat-log\".*?>(.*?)</ol>", self.content, re.DOTALL)
        assert log
        return [
            " ".join(re.sub(r"<[^>]+>", " ", line).split())
            for line in re.findall(r"<li class.*?(?=<li class|$)", log[1], re.DOTALL)
        ]


@pytest.fixture
def automation(customer: Workspace) -> Automation:
    return an_automation(customer, flow=FLOW)


def test_a_draft_is_tried_in_a_chat(owner: Client, automation: Automation) -> None:
    chat = Chat(owner, automation)
    assert chat.lines == ["They write: hello", "They get: Hello Alex!", "They get: What do you need? Prices A visit"]
    assert chat.do(text="Something").lines[-2:] == [
        "They write: Something",
        "They get: Please choose one of these answers. Prices A visit",
    ]
    assert "The automation waits until" in chat.do(press="button_1").lines[-1]
    assert chat.do(wait="1").lines[-2:] == ["The tag “asked” is added.", "The automation ends here."]
    assert chat.do(begin="1", first="hello there").lines[0] == "They write: hello there"
    assert "What happens there?" in text(chat.do(press="button_2").answer)
    assert "They get: Later." in chat.do(call="failed").lines
    assert (Message.objects.count(), Contact.objects.count()) == (0, 0)


def test_a_chat_of_another_draft_begins_anew(owner: Client, automation: Automation) -> None:
    chat = Chat(owner, automation)
    flow = a_flow(a_step("one", "send_text", text="Changed."))
    save_draft(automation=automation, flow=flow, now=now(), by=SYSTEM)
    assert chat.do(press="button_1").lines[:2] == ["They write: hello", "They get: Changed."]
    assert "The steps have changed, so the chat starts again." in text(chat.answer)


@pytest.mark.parametrize("change", [lambda chat: chat[:-4] + "AAAA", lambda chat: "", lambda chat: "x" * 400_000])
def test_a_chat_that_somebody_changed_begins_anew(owner: Client, automation: Automation, change: Any) -> None:
    chat = Chat(owner, automation)
    chat.do(press="button_1")
    assert len(chat.do(chat=change(chat.carried), text="More").lines) == 3


def test_a_draft_with_something_missing_cannot_be_tried(owner: Client, customer: Workspace) -> None:
    automation = an_automation(customer, flow=a_flow(a_step("one", "send_text")), published=False)
    assert "It cannot run yet" in text(owner.get(reverse("app:automation-test", args=[automation.uuid])))


def test_trying_as_the_agency_is_no_change(customer: Workspace, automation: Automation) -> None:
    staff = agency_client(customer)
    before = ActivityEntry.objects.count()
    Chat(staff, automation).do(press="button_1")
    assert ActivityEntry.objects.count() == before
