"""In a real browser: a long form whose session ends meanwhile is there again after signing in, and is sent once."""

from collections.abc import Iterator

import pytest
from django.conf import settings as project
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from agency.models import Plan, User, UserSession
from broadcasts.models import Broadcast
from tests.agency.console.browsers import PASSWORD, a_browser, a_member
from tests.factories import AgencyFactory, ChannelFactory, WorkspaceFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# In a form that is sent, each of these characters takes nine.
LONG = "学校は楽しい。\n" * 480
SIGNED_OUT = "You were signed out, and nothing was done. Sign in, and you will find your entries again."


@pytest.fixture
def page(browser: Browser, live_server: LiveServer, transactional_db: None) -> Iterator[Page]:
    context, complaints = browser.new_context(base_url=live_server.url), []
    opened = context.new_page()
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    context.close()
    assert complaints == []


def open_as(page: Page, person: User, address: str, url: str) -> None:
    person.set_password(PASSWORD)
    person.save()
    session = a_browser(person).cookies[project.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": project.SESSION_COOKIE_NAME, "value": session, "url": url}])
    page.goto(address)


def sign_in(page: Page, person: User) -> None:
    expect(page.get_by_text(SIGNED_OUT)).to_be_visible()
    page.get_by_label("E-mail").fill(person.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("You were signed out before this was sent.")).to_be_visible()


def test_a_broadcast_with_a_long_text(page: Page, live_server: LiveServer) -> None:
    workspace = WorkspaceFactory.create()
    ChannelFactory.create(workspace=workspace, name="Quayside Support")
    open_as(page, workspace.owner, "/app/broadcasts/new", live_server.url)
    page.get_by_label("Name", exact=True).fill("Autumn sale")
    page.get_by_label("Text", exact=True).fill(LONG.strip())
    # The first count moves the button. A press just then would miss it.
    counted = page.get_by_text("of 0 contacts")
    expect(counted).to_be_visible()
    UserSession.objects.all().delete()
    save = page.get_by_role("button", name="Review")
    save.click()
    sign_in(page, workspace.owner)
    expect(page.get_by_label("Name", exact=True)).to_have_value("Autumn sale")
    expect(page.get_by_label("Text", exact=True)).to_have_value(LONG.strip())
    assert not Broadcast.objects.exists()
    expect(counted).to_be_visible()
    save.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Review before sending")
    assert Broadcast.objects.get().message["text"].split() == LONG.split()


def test_a_form_of_the_console(page: Page, live_server: LiveServer) -> None:
    person = a_member(AgencyFactory.create()).user
    open_as(page, person, "/console/plans/new", live_server.url)
    page.get_by_label("Name", exact=True).fill("Growth")
    page.get_by_label("Description").fill("For those who grow")
    UserSession.objects.all().delete()
    page.context.clear_cookies(name=project.CSRF_COOKIE_NAME)
    page.get_by_role("button", name="Create", exact=True).click()
    sign_in(page, person)
    expect(page.get_by_label("Name", exact=True)).to_have_value("Growth")
    expect(page.get_by_label("Description")).to_have_value("For those who grow")
    assert not Plan.objects.exists()
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Growth")
    assert Plan.objects.count() == 1
