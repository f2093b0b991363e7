"""Every page that refuses a form redirects a browser to an address that shows the refusal."""

import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import partial
from inspect import getattr_static
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, get_resolver, reverse
from django.views import View
from pytest_django import DjangoDbBlocker

from agency.actors import SYSTEM
from agency.pages.forms import VALUE, new_nonce
from agency.pages.views import FormView
from agency.services import change_sign_up
from tests import furnished
from tests.agency.console.browsers import PASSWORD, a_browser, a_member
from tests.agency.console.test_access import PAGES as OF_CONSOLE
from tests.agency.console.test_access import no_ids
from tests.agency.invitations import invited, mailed_link
from tests.agency.two_factor import an_app
from tests.channelconnect.agencies import switch_on
from tests.database.emptying import forget_counters
from tests.factories.webhooks import a_failed_delivery
from tests.furnished import loaded
from tests.packs.client import an_automation
from tests.packs.console import test_access as of_packs
from tests.page_walk import Ids, names_of_checks
from tests.tenants import Tenant
from tests.webhooks.console import test_access as of_webhooks
from tests.workspaces.automations.console import test_access as of_ai_accounts
from tests.workspaces.subaccounts.dashboard.pages import PAGES as OF_DASHBOARD
from tests.workspaces.subaccounts.sign_up.steps import PAGE as SIGN_UP
from tests.workspaces.subaccounts.sign_up.steps import a_visitor, open_sign_up

a = furnished.a
pytestmark = pytest.mark.django_db

MakesIds = Callable[[Tenant], list[Any]]
BROWSING = {"Sec-Fetch-Mode": "navigate"}
REFUSED = {409, 422, 429, 503}
SECRET = "not-my-password-at-all"
LONG = "What I typed " * 50
# Every form that asks for anything refuses some of these values.
TYPED = {
    "name": LONG,
    "title": LONG,
    "email": LONG,
    "url": "typed",
    "owner_email": "typed",
    "accent": "typed",
    "language": "typed",
    "reason": LONG,
    "roles": "typed",
    "terms_url": "typed",
    "sender_name": LONG,
    "return_urls": "typed",
    "business": LONG,
    "platform": "typed",
    "then": "typed",
    "old_password": SECRET,
    "new_password1": SECRET,
    "new_password2": SECRET,
    "password": SECRET,
    "secret": SECRET,
}
# Forms without fields, or without a field that could be refused.
CONFIRMATIONS = {
    "console": {
        *(
            "addon-archive",
            "ai-account-remove",
            "ai-budget",
            "api-key-revoke",
            "brand-dark-logo-remove",
            "brand-favicon-remove",
            "brand-logo-remove",
        ),
        *("domain-remove", "mail-server-remove", "member-remove", "pack-archive", "pack-copy-preview", "pack-draft"),
        *("pack-entry-remove", "pack-publish", "pack-remove", "sub-account-addon-revoke"),
        *("sub-account-channel-disconnect", "webhook-remove", "webhook-rotate"),
    },
    "app": {
        *("api-key-revoke", "automation", "broadcast-approve", "broadcast-cancel", "broadcast-delete", "class-cancel"),
        "class-series-end",
        *("contact-merge", "contact-remove", "person-make-owner", "person-remove", "product-delete"),
        *(
            "saved-reply-delete",
            "segment-remove",
            "task-remove",
            "service-category-delete",
            "service-delete",
            "staff-delete",
        ),
        *("payment-account-disconnect", "payment-account-webhooks"),
        *("invoice-delete", "invoice-issue", "invoice-send", "invoice-void", "tax-rate-archive"),
        *("two-factor", "webhook-remove", "webhook-rotate", "channel-disconnect", "automation-remove"),
    },
}
# Replacements for table entries whose packs and endpoints only work in those tables' own tests.
INSTEAD: dict[Any, MakesIds] = {
    of_packs.pack: lambda tenant: [tenant.pack.uuid],
    of_packs.entry: lambda tenant: [tenant.pack.uuid, tenant.entry.uuid],
    of_packs.source: lambda tenant: [tenant.pack.uuid, tenant.workspace.uuid],
    of_packs.automation: lambda tenant: [tenant.pack.uuid, tenant.workspace.uuid, an_automation(tenant.workspace).uuid],
    of_webhooks.endpoint: lambda tenant: [tenant.endpoint.uuid],
    of_webhooks.failed_endpoint: lambda tenant: [a_failed_delivery(tenant, tenant.endpoint).endpoint.uuid],
    of_webhooks.delivery: lambda tenant: [a_failed_delivery(tenant, tenant.endpoint).uuid],
}
PAGES: dict[str, dict[str, MakesIds]] = {
    "console": {
        name: INSTEAD.get(page.ids, page.ids)
        for table in (OF_CONSOLE, of_packs.PAGES, of_webhooks.PAGES, of_ai_accounts.PAGES)
        for name, page in table.items()
    }
    | {"channel-connect-return-urls": no_ids, "channel-connect-start-for": lambda tenant: [tenant.workspace.uuid]},
    "app": {name: page.ids for name, page in OF_DASHBOARD.items()} | {"workspace-new": no_ids},
}
# What a page is about, and what stands on it.
OF_THE_PAGE_ITSELF = {"context", "find", "make_form", "save", "template_name"} | {
    *("form_page", "keeps_form_data", "landing_page", "nav", "sent_already")
}
# Parts of a page that change with each rendering.
NEW_EACH_TIME = (
    re.compile(r'(?<=name="csrfmiddlewaretoken" value=")[^"]+'),
    re.compile(r'(?<=name="nonce" value=")[^"]+'),
    re.compile(r'(?<=name="until" value=")[^"]+'),
    re.compile(r"(?<=[?&;]form=)[\w-]+"),
    re.compile(r"(?<=content-)\d+"),
)


def shown(answer: Any) -> str:
    """Give a page without the parts that change with each rendering."""
    found: str = answer.content.decode()
    for one in NEW_EACH_TIME:
        found = one.sub("", found)
    return found


def is_signed(text: str) -> bool:
    """Return whether a text looks like one of our signatures: two colons with base 64 characters around them."""
    return re.search(r"[\w-]{8,}(:|%3A)[\w-]{4,8}(:|%3A)[\w-]{27,}", text) is not None


def sent(browser: Client, path: str, data: Mapping[str, Any], headers: Mapping[str, str]) -> Any:
    """Send a form, and roll back its changes."""
    before = transaction.savepoint()
    forget_counters()
    answer = browser.post(path, data, headers=headers)
    transaction.savepoint_rollback(before)
    return answer


def sent_by_a_program(browser: Client, path: str, data: Mapping[str, Any]) -> Any:
    """Send a form without saying that a browser navigates; the browser keeps the cookies that it had before."""
    cookies = dict(browser.cookies)
    answer = sent(browser, path, data, {})
    browser.cookies.clear()
    browser.cookies.update(cookies)
    return answer


def complaint_about(
    browser: Client, path: str, data: Mapping[str, Any], *, is_known: Callable[[], bool] = lambda: False
) -> str | None:
    """Give the fault of the answer to a refused form, empty without a fault; None if the form was not refused.

    Of a page of which it is known already, a browser is not led to what a program is shown.
    """
    direct = sent_by_a_program(browser, path, data)
    if direct.status_code not in REFUSED:
        return None
    if SECRET in direct.content.decode():
        return "a password is on the page"
    if is_known():
        return ""
    led = sent(browser, path, data, BROWSING)
    if led.status_code != 303:
        return f"{direct.status_code} is answered to a browser with {led.status_code}"
    to = led["Location"]
    if is_signed(to) or not VALUE.fullmatch(parse_qs(urlsplit(to).query)["form"][0]):
        return f"an odd value in {to}"
    return difference(browser, to, direct)


def views_of(namespace: str) -> Iterator[tuple[str, Any]]:
    _, resolver = get_resolver().namespace_dict[namespace]
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLPattern) and pattern.name:
            yield pattern.name, getattr(pattern.callback, "view_class", None)


def kind_of(view: type[View]) -> Hashable:
    """Give what decides how a page's form is shown again. Pages of the same kind leave it to the same base class."""
    if not issubclass(view, FormView):
        return f"{view.__module__}.{view.__qualname__}"
    of_forms = {name for base in FormView.__mro__ for name in vars(base) if not name.startswith("__")}
    rules = (of_forms | names_of_checks(view)) - OF_THE_PAGE_ITSELF
    found = {name: getattr_static(view, name, None) for name in rules}
    return frozenset((name, repr(one) if isinstance(one, list) else one) for name, one in found.items())


def difference(browser: Client, to: str, direct: Any) -> str:
    """Describe how the page at an address differs from the answer to a program."""
    page = browser.get(to, headers=BROWSING)
    if page.status_code == 302 and browser.get(urlsplit(to).path).status_code == 302:
        return ""  # the page itself redirects by now
    if page.status_code != 200 or shown(page) != shown(direct):
        before, after = (re.split(r"(?=<)", shown(one)) for one in (direct, page))
        differs = next((pair for pair in zip(before, after, strict=False) if pair[0] != pair[1]), ("", ""))
        return f"another page at {to}: {page.status_code}, {differs}"
    if "no-store" not in page["Cache-Control"] or page["Content-Type"] != direct["Content-Type"]:
        return f"other headers at {to}"
    return ""


@pytest.fixture(scope="module")
def all_ids(furnished_until_end: tuple[bytes, ...], django_db_blocker: DjangoDbBlocker) -> dict[str, Ids]:
    """The ids for every page, made once for all tests of the module. Pages of the same thing share it."""
    own = loaded(furnished_until_end[0])
    makers = dict.fromkeys(make for pages in PAGES.values() for make in pages.values())
    with django_db_blocker.unblock():
        ids = {make: make(own) for make in makers}
    return {namespace: {name: ids[make] for name, make in pages.items()} for namespace, pages in PAGES.items()}


@pytest.mark.parametrize("namespace", ["console", "app"])
def test_every_form_that_is_refused_is_shown_by_get(namespace: str, a: Tenant, all_ids: dict[str, Ids]) -> None:
    switch_on(a)
    change_sign_up(agency=a.agency, plan=a.plan, allows_further_workspaces=True, by=SYSTEM)
    user = a_member(a.agency, "owner").user if namespace == "console" else a.workspace.owner
    browser, found, views = a_browser(user), {}, dict(views_of(namespace))
    asked: set[Hashable] = set()

    def is_known(view: type[View]) -> bool:
        """Say whether a page of this kind was asked before; from now on one was."""
        before = len(asked)
        asked.add(kind_of(view))
        return len(asked) == before

    for name, ids in all_ids[namespace].items():
        if hasattr(views[name], "post"):  # the others are answered with 405
            path = reverse(f"{namespace}:{name}", args=ids)
            data = {**TYPED, "nonce": new_nonce(user.pk)}
            found[name] = complaint_about(browser, path, data, is_known=partial(is_known, views[name]))
    assert {name: complaint for name, complaint in found.items() if complaint} == {}
    refused = {name for name, complaint in found.items() if complaint is not None}
    forms = {name for name, view in views.items() if view and issubclass(view, FormView)}
    assert forms - refused == CONFIRMATIONS[namespace] & forms


@pytest.fixture
def people(a: Tenant) -> dict[str, Client]:
    """Browsers for account pages: of a person, with two-factor, at the question for a code, and while setting it up."""
    person, with_codes = a_member(a.agency).user, a_member(a.agency).user
    an_app(with_codes)
    asked, setting_up = a_browser(), a_browser(person)
    asked.post("/account/sign-in", {"email": with_codes.email, "password": PASSWORD})
    setting_up.post(reverse("account:two-factor-begin"), {"password": PASSWORD})
    return {"person": a_browser(person), "codes": a_browser(with_codes), "asked": asked, "setting up": setting_up}


@pytest.mark.parametrize(
    ("name", "whose"),
    [
        *(("profile", "person"), ("password", "person"), ("two-factor-begin", "person"), ("code", "asked")),
        *(("recovery-code", "asked"), ("two-factor-set-up", "setting up"), ("recovery-codes", "codes")),
        *(("two-factor-off", "codes"), ("sign-in", ""), ("password-reset", "")),
    ],
)
def test_forms_of_accounts_that_are_refused_are_shown_by_get(name: str, whose: str, people: dict[str, Client]) -> None:
    browser = people[whose] if whose else a_browser()
    data = {**TYPED, "code": "typed", "time_zone": "typed"} | ({"email": "what@i.typed"} if name == "sign-in" else {})
    assert complaint_about(browser, reverse(f"account:{name}"), data) == ""


def test_an_invitation_that_is_refused_is_shown_by_get(a: Tenant) -> None:
    invited(a.agency, "nora@example.com")
    browser = a_browser()
    browser.get(urlsplit(mailed_link()).path)
    assert complaint_about(browser, reverse("account:invitation"), TYPED) == ""


def test_a_sign_up_that_is_refused_is_shown_by_get(a: Tenant) -> None:
    browser = a_visitor(open_sign_up(a.agency))
    assert complaint_about(browser, SIGN_UP, {**TYPED, "nonce": new_nonce(0)}) == ""
