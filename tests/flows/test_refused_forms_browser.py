"""In a real browser: forms that are refused, and where reload and Back lead then."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings as project
from django.test import Client
from django.utils.timezone import now
from playwright.sync_api import Browser, BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from agency.actors import SYSTEM
from agency.models import Plan, User
from broadcasts.models import Broadcast
from tests.agency.console.browsers import PASSWORD, a_member
from tests.channelconnect.agencies import a_session, switch_on
from tests.factories import ChannelFactory
from tests.flows.agency_site import expect_return
from tests.flows.test_connect_browser import approve, title, to_the_provider
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import a_conversation
from tests.workspaces.subaccounts.sign_up.steps import open_sign_up
from tools.sandbox import RunningSandbox
from workspaces.conversations.models import Message
from workspaces.conversations.services import create_saved_reply

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


class Contexts:
    """Opens browsers, with or without somebody who has signed in."""

    def __init__(self, browser: Browser, url: str) -> None:
        self.browser, self.url = browser, url
        self.opened: list[BrowserContext] = []

    def page(self, person: User | None = None, **options: Any) -> Page:
        context = self.browser.new_context(**{"base_url": self.url, **options})
        self.opened.append(context)
        if person:
            client = Client()
            client.force_login(person)
            value = client.cookies[project.SESSION_COOKIE_NAME].value
            context.add_cookies([{"name": project.SESSION_COOKIE_NAME, "value": value, "url": self.url}])
        return context.new_page()


@pytest.fixture
def contexts(browser: Browser, live_server: LiveServer) -> Iterator[Contexts]:
    made = Contexts(browser, live_server.url)
    yield made
    for context in made.opened:
        context.close()


def leave_and_come_back(page: Page) -> None:
    """Go to another page, and back to the one that was refused."""
    page.goto("/account/password-reset-sent")
    page.go_back()


def test_a_form_that_changes_something(contexts: Contexts, transactional_db: None) -> None:
    a = Tenant()
    page = contexts.page(a_member(a.agency).user)
    page.goto(f"/console/plans/{a.plan.uuid}/edit")
    page.get_by_label("Name").fill("")
    page.get_by_label("Description").fill("For those who grow")
    page.get_by_role("button", name="Save").click()
    for step in (None, page.reload, lambda: leave_and_come_back(page)):
        if step:
            step()
        expect(page).to_have_title(re.compile("^Error: "))
        expect(page.get_by_role("alert")).to_be_focused()
        expect(page.get_by_label("Description")).to_have_value("For those who grow")
    page.get_by_label("Name").fill("Growth")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Growth")
    page.go_back()
    expect(page.get_by_label("Name")).to_have_value("Growth")
    expect(page.get_by_role("alert")).to_have_count(0)
    page.go_back()
    expect(page.get_by_label("Description")).to_be_visible()


def test_a_form_that_makes_something(contexts: Contexts, transactional_db: None) -> None:
    page = contexts.page(a_member(Tenant().agency).user)
    page.goto("/console/plans/new")
    assert ":" not in page.url.partition("?")[2]
    page.get_by_label("Description").fill("For those who grow")
    page.get_by_role("button", name="Create").click()
    for step in (None, page.reload, lambda: leave_and_come_back(page)):
        if step:
            step()
        expect(page.get_by_role("alert")).to_be_focused()
        expect(page.get_by_label("Description")).to_have_value("For those who grow")
    page.get_by_label("Name").fill("Growth")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Growth")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Growth")
    expect(page.get_by_text("This form was already sent")).to_be_visible()
    assert Plan.objects.filter(name="Growth").count() == 1


def test_signing_in_with_a_wrong_password(contexts: Contexts, transactional_db: None) -> None:
    person = a_member(Tenant().agency).user
    page = contexts.page()
    page.goto("/console/plans")
    page.get_by_label("E-mail").fill(person.email)
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    for step in (None, page.reload, lambda: leave_and_come_back(page)):
        if step:
            step()
        expect(page.get_by_text("The e-mail address or the password is wrong.")).to_be_visible()
        expect(page.get_by_label("E-mail")).to_have_value(person.email)
        expect(page.get_by_label("Password")).to_have_value("")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(re.compile("/console/plans$"))
    page.go_back()
    expect(page).to_have_url(re.compile("/console/"))


def test_a_broadcast(contexts: Contexts, transactional_db: None) -> None:
    channel = ChannelFactory.create(workspace=Tenant().workspace)
    page = contexts.page(channel.workspace.owner)
    page.goto("/app/broadcasts/new")
    page.get_by_label("Text", exact=True).fill("The sale begins.")
    # The first count moves the button. A press just then would miss it.
    expect(page.get_by_text("of 0 contacts")).to_be_visible()
    page.get_by_role("button", name="Review").click()
    for step in (None, page.reload, lambda: leave_and_come_back(page)):
        if step:
            step()
        expect(page.get_by_role("alert")).to_be_focused()
        expect(page.get_by_label("Text", exact=True)).to_have_value("The sale begins.")
    page.get_by_label("Name", exact=True).fill("Sale")
    page.get_by_role("button", name="Review").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Review before sending")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Review before sending")
    assert Broadcast.objects.count() == 1


def test_an_answer_in_a_conversation_without_scripts(contexts: Contexts, transactional_db: None) -> None:
    channel = ChannelFactory.create(workspace=Tenant().workspace)
    conversation = a_conversation(channel)
    create_saved_reply(workspace=channel.workspace, name="Hours", text="until six.", now=now(), by=SYSTEM)
    page = contexts.page(channel.workspace.owner, java_script_enabled=False)
    page.goto(f"/app/inbox/{conversation.uuid}")
    page.get_by_role("button", name="Send", exact=True).click()
    for step in (None, page.reload, lambda: leave_and_come_back(page)):
        if step:
            step()
        expect(page.locator("#composer-error")).to_be_visible()
    answer = page.get_by_label(re.compile("^Reply to"))
    answer.fill("Yes,")
    page.get_by_label("Saved reply").select_option(label="Hours")
    page.get_by_role("button", name="Insert").click()
    for step in (None, page.reload, lambda: leave_and_come_back(page)):
        if step:
            step()
        expect(answer).to_have_value("Yes, until six.")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.locator(".bubble.out")).to_contain_text("Yes, until six.")
    page.go_back()
    expect(page.locator(".bubble.out")).to_contain_text("Yes, until six.")
    expect(answer).to_have_value("")
    assert Message.objects.filter(direction="out").count() == 1


def test_signing_up(contexts: Contexts, transactional_db: None) -> None:
    host = open_sign_up(Tenant().agency)
    page = contexts.page(base_url=contexts.url.replace("localhost", host))
    page.goto("/sign-up")
    page.get_by_label("Your name").fill("Ada Brandt")
    page.get_by_label("Password").fill("a-quite-new-password-9")
    page.get_by_role("button", name="Sign up").click()
    for step in (None, page.reload, lambda: leave_and_come_back(page)):
        if step:
            step()
        expect(page.get_by_role("alert")).to_be_focused()
        expect(page.get_by_label("Your name")).to_have_value("Ada Brandt")
        expect(page.get_by_label("Password")).to_have_value("")


def test_choosing_an_account(contexts: Contexts, sandbox: RunningSandbox) -> None:
    session = a_session(switch_on(Tenant()))
    page = contexts.page()
    to_the_provider(page, session)
    approve(page)
    title(page, "Choose the account")
    page.evaluate("document.forms[0].noValidate = true")
    page.get_by_role("button", name="Connect").click()
    for step in (None, page.reload, lambda: leave_and_come_back(page)):
        if step:
            step()
        expect(page.get_by_text("Choose one of the accounts.")).to_be_visible()
    page.get_by_role("radio").first.check()
    page.get_by_role("button", name="Connect").click()
    expect_return(page)
