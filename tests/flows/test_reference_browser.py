"""An integrator reads the API's reference in a real browser, mostly with the keyboard, and tries a request out."""

import re

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from tests.tenants import Tenant

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_reference_is_searched_linked_to_and_tried_out(
    browser: Browser, live_server: LiveServer, a: Tenant
) -> None:
    plan = a.plan.name
    page = browser.new_page(base_url=live_server.url, viewport={"width": 1280, "height": 900})
    complaints: list[str] = []
    page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    hosts: set[str] = set()
    page.on("request", lambda request: hosts.add(request.url.split("/")[2]))

    page.goto("/api/docs/agency")
    expect(page.locator("#listPlans")).to_be_in_viewport()
    page.goto("/api/docs/agency#createSubAccount")
    expect(page.locator("#createSubAccount h3")).to_be_in_viewport()
    expect(page.locator("#createSubAccount")).to_be_focused()

    page.keyboard.press("/")
    page.keyboard.type("rotate secret")
    expect(page.get_by_role("search").get_by_role("status")).to_have_text(re.compile(r"^[1-9] found$"))
    expect(page.locator(".contents").get_by_role("link", name="List the plans")).to_be_hidden()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#rotateWebhookSecret$"))
    expect(page.locator("#rotateWebhookSecret")).to_be_focused()

    sample = page.locator("#rotateWebhookSecret .code-block")
    expect(sample.filter(visible=True)).to_contain_text("curl -X POST")
    page.get_by_role("radio", name="curl").focus()
    page.keyboard.press("ArrowRight")
    expect(sample.filter(visible=True)).to_contain_text("requests.post(")
    page.reload()
    expect(page.get_by_role("radio", name="Python")).to_be_checked()

    place = page.locator("#listPlans .try")
    place.locator("summary").click()
    place.get_by_label("API key").fill(a.plaintext)
    place.get_by_role("button", name="Send").click()
    expect(place.locator("output")).to_contain_text(plan)
    expect(place.locator("output")).to_contain_text("200 in")
    assert complaints == []
    assert hosts == {live_server.url.split("/")[2]}
    page.close()
