"""In a real browser: people work in the inbox, and what happens elsewhere appears without reloading."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.utils.timezone import now
from playwright.sync_api import BrowserContext, Page, expect

from agency.actors import SYSTEM
from channelconnect.inbox.reading import run_reader
from channelconnect.sending.loop import SenderLoop
from config.celery import wake_up
from tests.channelconnect.sending.messages import a_channel
from tests.flows.inbox.opened import Server, inbox_of
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import apply, moment, person, receive, received, status, the_conversation
from tools.sandbox import RunningSandbox
from workspaces.contacts.services.tasks import create_task
from workspaces.conversations.models import Conversation, Message
from workspaces.conversations.services import create_saved_reply, inbound
from workspaces.conversations.services.sending import SENDER
from workspaces.subaccounts.models import Channel

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
STAYS = "window.stays = true"


def advance(channel: Channel, message: Message, to: str) -> None:
    apply(inbound.apply_statuses, status(channel, f"wamid.out.{message.pk}", to, opaque=str(message.uuid)))


def test_a_message_comes_in_is_answered_and_seen_to_be_read(page: Page, channel: Channel) -> None:
    page.evaluate(STAYS)
    receive(received(channel, text="Are you open today?"))
    row = page.locator(".inbox-row")
    expect(row).to_contain_text("Are you open today?")
    expect(row).to_contain_text("Unread")
    assert page.evaluate("window.stays")

    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator(".bubble.in")).to_contain_text("Are you open today?")
    expect(page.locator(".inbox-row.unread")).to_have_count(0)
    page.evaluate(STAYS)
    page.keyboard.press("r")
    page.keyboard.type("Yes, until six.")
    page.keyboard.press("Control+Enter")
    answer = page.locator(".bubble.out")
    expect(answer).to_contain_text("Yes, until six.")
    expect(answer).to_contain_text("Pending")
    expect(page.get_by_label("Reply to Person 1")).to_have_value("")
    expect(page.get_by_label("Reply to Person 1")).to_be_focused()

    message = Message.objects.get(direction="out")
    for to, shown in (("sent", "Sent"), ("delivered", "Delivered"), ("read", "Read")):
        advance(channel, message, to)
        expect(answer).to_contain_text(shown)
    receive(received(channel, text="Thank you!"))
    expect(page.locator(".bubble.in").last).to_contain_text("Thank you!")
    assert page.evaluate("window.stays")
    assert the_conversation().unread_count == 0 or page.locator(".inbox-row.unread").count() <= 1


def test_one_conversation_after_the_other_is_answered_by_the_keyboard_alone(page: Page, channel: Channel) -> None:
    receive(*(received(channel, person=person(number), at=moment(number - 20)) for number in range(1, 4)))
    expect(page.locator(".inbox-row.unread")).to_have_count(3)
    press, heading = page.keyboard.press, page.locator(".thread-who h2")
    for number in range(3, 0, -1):
        press("o")
        expect(heading).to_have_text(f"Person {number}")
        expect(page.locator("[data-keys]:not([hidden])")).to_be_attached()  # the page listens
        press("r")
        expect(page.get_by_label(f"Reply to Person {number}")).to_be_focused()
        page.keyboard.type(f"Answer {number}")
        press("Control+Enter")
        press("Escape")
        if number > 1:  # what is still being sent is waited for
            continue
        expect(page.locator(".bubble.out")).to_have_count(1)
        expect(page.locator(".inbox-row.unread")).to_have_count(0)
        press("o")
        expect(page.locator("[data-announcer]")).to_have_text("No other conversation in this list is unread.")
    answers = Message.objects.filter(direction="out").order_by("pk")
    assert list(answers.values_list("text", "conversation__contact__name")) == [
        (f"Answer {number}", f"Person {number}") for number in range(3, 0, -1)
    ]


def test_enter_sends_where_a_person_has_chosen_so_and_the_panel_opens_in_a_narrow_window(
    page: Page, channel: Channel
) -> None:
    page.set_viewport_size({"width": 1200, "height": 800})
    receive(received(channel))
    page.locator(".inbox-row").click()
    field, about = page.get_by_label("Reply to Person 1"), page.locator(".inbox-about")
    field.fill("One")
    field.press("Enter")
    page.keyboard.type("line")
    expect(field).to_have_value("One\nline")
    page.locator(".thread-actions summary", has_text="⋯").click()
    page.get_by_role("button", name="Send with Enter").click()
    expect(page.locator(".send-key-ctrl:visible")).to_have_count(0)
    expect(page.get_by_role("button", name="Send", exact=True)).to_have_attribute("aria-keyshortcuts", "Enter")
    expect(field).to_have_value("One\nline")
    field.press("End")
    field.press("Shift+Enter")
    page.keyboard.type("more")
    expect(field).to_have_value("One\nline\nmore")
    field.press("Enter")
    expect(page.locator(".bubble.out")).to_contain_text("more")
    assert Message.objects.get(direction="out").text.splitlines() == ["One", "line", "more"]

    expect(about).to_be_hidden()
    page.get_by_role("button", name="About the contact").click()
    expect(about.get_by_text("May be written to")).to_be_visible()
    contact = the_conversation().contact
    create_task(workspace=channel.workspace, contact=contact, title="Call back", now=now(), by=SYSTEM)
    receive(received(channel, text="Thank you"))
    expect(about.get_by_role("link", name="Call back")).to_be_visible()
    page.keyboard.press("Escape")
    expect(about).to_be_hidden()
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(about).to_be_visible()
    lines: Any = page.evaluate(
        "new Set([...document.querySelectorAll('.inbox-views a')].map((one) => one.offsetTop)).size"
    )
    wider: Any = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert (lines, wider) == (1, 0)


def test_what_is_being_typed_and_focus_survive_whatever_happens_meanwhile(page: Page, channel: Channel) -> None:
    receive(received(channel), received(channel, person=person(2), text="And I?"))
    page.locator(".inbox-row", has_text="Person 1").click()
    field = page.get_by_label("Reply to Person 1")
    field.fill("A long answer that is not finished")
    page.set_viewport_size({"width": 1600, "height": 800})  # wide enough for what is known about the contact
    contact = Conversation.objects.get(contact__name="Person 1").contact
    create_task(workspace=channel.workspace, contact=contact, title="Call back", now=now(), by=SYSTEM)
    expect(page.locator(".inbox-row.unread", has_text="Person 1")).to_have_count(0)
    button = page.get_by_role("button", name="Assign to me")
    expect(button).to_be_visible()
    # In one step: a refresh that is on its way may replace a button that was looked up before.
    page.evaluate("window.before = document.querySelector('button[data-assign]'); window.before.focus()")
    receive(received(channel, text="Are you there?"))
    expect(page.locator(".bubble.in").last).to_contain_text("Are you there?")
    assert page.evaluate("!window.before.isConnected")
    expect(button).to_be_focused()
    page.evaluate(STAYS)
    page.get_by_role("button", name="Complete Call back").click()
    expect(page.get_by_text("No open tasks")).to_be_visible()
    assert page.evaluate("window.stays")
    expect(field).to_have_value("A long answer that is not finished")
    # The list is replaced, too: a click while it is would be lost.
    expect(page.locator(".inbox-row", has_text="Person 1")).to_contain_text("Are you there?")
    page.locator(".inbox-row", has_text="Person 2").click()
    expect(page.get_by_label("Reply to Person 2")).to_have_value("")
    page.locator(".inbox-row", has_text="Person 1").click()
    expect(page.get_by_label("Reply to Person 1")).to_have_value("A long answer that is not finished")


def test_a_closed_window_and_a_phone(page: Page, channel: Channel) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    receive(received(channel, at=moment(-90_000), text="W" * 120))
    expect(page.locator(".inbox-row")).to_be_visible()
    page.locator(".inbox-row").click()
    expect(page.get_by_text("You can only send an approved template now")).to_be_visible()
    expect(page.locator(".inbox-list")).to_be_hidden()
    wider: Any = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wider <= 0
    page.locator("details[data-snooze] summary").click()
    menu = page.locator("details[data-snooze] .drop-panel").bounding_box()
    assert menu is not None
    assert (menu["x"] >= 0, menu["x"] + menu["width"] <= 360) == (True, True)
    page.get_by_role("link", name="All conversations").click()
    expect(page.locator(".inbox-row")).to_be_visible()


def test_many_are_ticked_and_changed_with_the_keyboard_while_others_write(page: Page, channel: Channel) -> None:
    receive(*(received(channel, person=person(number), text=f"Hello {number}") for number in (1, 2, 3)))
    rows, ticks = page.locator(".inbox-row"), page.locator(".inbox-tick input:checked")
    expect(rows).to_have_count(3)
    page.reload()
    page.evaluate(STAYS)
    press = page.keyboard.press

    for ask in (lambda: press("?"), lambda: page.get_by_role("button", name="Keyboard").press("Enter")):
        ask()
        expect(page.locator("dialog.keys")).to_be_visible()
        press("?")
        expect(page.locator("dialog.keys")).to_be_hidden()
    press("/")
    expect(page.locator("#inbox-search")).to_be_focused()
    page.keyboard.type("jx/?")
    expect(page.locator("#inbox-search")).to_have_value("jx/?")
    press("Escape")

    for key, focused in (("j", 0), ("k", 0), ("j", 1), ("j", 2), ("j", 2), ("k", 1)):
        press(key)
        expect(rows.nth(focused)).to_be_focused()
    press("x")
    press("j")
    press("x")
    expect(ticks).to_have_count(2)
    receive(received(channel, person=person(4), text="Hello 4"))
    expect(rows).to_have_count(4)
    expect(ticks).to_have_count(2)
    page.locator(".bulk-bar button", has_text="Assign to me").click()
    expect(page.locator(".flashes")).to_contain_text("2 conversations were changed.")
    expect(ticks).to_have_count(0)
    assert Conversation.objects.exclude(assigned_to=None).count() == 2
    assert page.evaluate("window.stays")


def test_saved_replies_and_what_the_head_does_by_keys(page: Page, channel: Channel) -> None:
    texts = {"Hours": "Open until six, {{contact.first_name}}.", "House rules": "No dogs.", "Way": "Go left."}
    for name, told in texts.items():
        create_saved_reply(workspace=channel.workspace, name=name, text=told, now=moment(), by=SYSTEM)
    receive(received(channel))
    page.locator(".inbox-row").click()
    # Neither the page that is left nor one that is still empty has such a row. The page's script makes it.
    expect(page.locator(".has-thread .inbox-row:not(.unread)")).to_have_count(1)
    expect(page.locator("[data-keys]:not([hidden])").first).to_be_attached()  # the page listens to keys
    page.evaluate(STAYS)
    press, field = page.keyboard.press, page.get_by_label("Reply to Person 1")
    offered = page.locator(".suggestions li")

    press("r")
    page.keyboard.type("Hello! /ho")
    expect(offered).to_have_text(["Hours", "House rules"])
    press("ArrowDown")
    expect(offered.nth(1)).to_have_attribute("aria-selected", "true")
    press("ArrowUp")
    press("Enter")
    expect(field).to_have_value("Hello! Open until six, Person.")
    page.keyboard.type(" /x")
    expect(offered).to_have_count(0)
    press("Backspace")
    expect(offered).to_have_count(3)
    press("Escape")
    expect(offered).to_have_count(0)
    expect(field).to_be_focused()
    press("Backspace")
    page.get_by_label("Saved reply", exact=True).select_option(label="House rules")
    expect(field).to_have_value("Hello! Open until six, Person. No dogs.")
    assert not Message.objects.filter(direction="out").exists()
    press("Escape")

    head = page.locator('[data-live="head"]')
    press("s")
    expect(page.locator("details[data-snooze]")).to_have_attribute("open", "")
    press("Enter")
    expect(head).to_contain_text("Snoozed until")
    press("e")
    expect(head).to_contain_text("Reopen")
    press("e")
    expect(head.get_by_role("button", name="Close")).to_be_visible()
    press("a")
    expect(head).to_contain_text("Assigned to")
    press("u")
    expect(page.locator(".inbox-row.unread")).to_have_count(1)
    press("n")
    expect(page.get_by_label("Note", exact=True)).to_be_focused()
    page.get_by_role("link", name="Reply").click()
    expect(field).to_have_value("Hello! Open until six, Person. No dogs.")
    assert page.evaluate("window.stays")


@pytest.fixture
def network(server: Server, settings: Any) -> RunningSandbox:
    """The network, and the sender of this process set up to speak to it."""
    for name, value in server.network.variables.items():
        setattr(settings, name, value)
    return server.network


@contextmanager
def at_work(run: Callable[..., Any], *wake_ups: str) -> Iterator[None]:
    """Let a reader or a sender work beside the story."""
    stopping = threading.Event()

    def work() -> None:
        try:
            run(should_stop=stopping.is_set)
        finally:
            connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        for name in wake_ups:
            wake_up(name)
        thread.join(60)


def test_a_customer_on_whatsapp_is_answered_and_reads_it(
    shared_context: BrowserContext, a: Tenant, server: Server, network: RunningSandbox
) -> None:
    """From the network's callback to the page, and from the page to the network and back."""
    account = a_channel(a.workspace, network).external_id
    with inbox_of(a, shared_context, server) as page, at_work(run_reader), at_work(SenderLoop().run, SENDER):
        network.callback(kind="message", account=account, person="491701234567", name="Ada", text="Is it ready?")
        page.locator(".inbox-row", has_text="Is it ready?").click()
        expect(page.get_by_role("heading", name="Ada")).to_be_visible()
        page.get_by_label("Reply to Ada").fill("Yes, come any time.")
        page.get_by_role("button", name="Send", exact=True).click()
        expect(page.locator(".bubble.out")).to_contain_text("Read")
    assert network.ledger()["sent_total"] == 1
    assert Message.objects.get(direction="out").status == "read"
