"""Every page, opened once in a language of brackets: no sentence of ours stands outside them, as it has no translation.

And every form of these pages in which a person types: what stood there when the session had ended is there again.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qsl, urljoin, urlsplit

import pytest
from django.conf import settings
from django.db import transaction
from django.test import Client

from agency.account.sign_in import local_path
from agency.models import User, UserSession
from agency.pages.form_drafts import SECRET
from tests.agency.console.browsers import PASSWORD, a_browser, text
from tests.flows.every_page import brackets, one_extreme
from tests.flows.every_page.brackets import read_in_brackets, untranslated
from tests.flows.every_page.extremes import ExtremeTenant
from tests.flows.every_page.routes import ANONYMOUS, address_of, pages_in
from tests.same_changes.forms import form_tags

a, extreme, extreme_library = one_extreme.a, one_extreme.extreme, one_extreme.extreme_library
bracketed_locale, in_brackets = brackets.bracketed_locale, brackets.in_brackets
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("in_brackets")]
Attributes = dict[str, str]
# What is made anew for each form that is shown.
MADE_ANEW = {"csrfmiddlewaretoken", "nonce"}
BUTTONS = {"submit", "button", "reset", "image"}
# What may be typed into a field of a kind; the value has to be one that a browser would send.
TYPED = {"number": "7", "email": "typed@example.com", "url": "https://typed.example.com/", "date": "2031-05-17"}
TYPED |= {"datetime-local": "2031-05-17T12:30", "time": "12:30", "color": "#12ab34", "tel": "+4930123456"}


@dataclass
class Field:
    name: str
    kind: str
    values: list[str] = field(default_factory=list)
    options: list[str] = field(default_factory=list)
    longest: int = 200

    @property
    def is_typed(self) -> bool:
        """Whether a person types or chooses here what may be kept."""
        return self.kind not in {"hidden", "password", "file"} and not SECRET.search(self.name)


@dataclass
class Form:
    action: str
    fields: dict[str, Field] = field(default_factory=dict)

    def typed(self) -> dict[str, list[str]]:
        """Give what a person who changes every field would send of them."""
        return {one.name: _changed(one) for one in self.fields.values() if one.is_typed}

    def unchanged(self) -> dict[str, list[str]]:
        return {one.name: one.values for one in self.fields.values() if one.kind == "hidden"}

    def is_sent_as(self) -> str:
        """Give what a person's browser would send, which another page's form may send just so."""
        hidden = {name: values for name, values in self.unchanged().items() if name not in MADE_ANEW}
        return f"{hidden} {self.typed()}"


def _changed(one: Field) -> list[str]:
    if one.kind == "checkbox":
        return [value for value in one.options if value not in one.values]
    if one.kind in {"radio", "select"}:
        other = [value for value in one.options if value and value not in one.values]
        return other[-1:] or one.values[:1]
    if one.kind == "multiple":
        return [value for value in one.options if value][:2]
    if one.kind == "textarea":
        return ["Typed, line by line.\r\n<b>“Ünï”</b> & done"[: one.longest]]
    return [TYPED.get(one.kind, f"Typed & {one.name}"[: one.longest])]


class Forms(HTMLParser):
    """The forms of a page that are posted, with their fields as a browser sees them."""

    def __init__(self, page: Any) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.by_id: dict[str, Form] = {}
        self._form: Form | None = None
        self._open: Field | None = None
        self._option: Attributes | None = None
        self.feed(form_tags(page))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._form = Form(given.get("action", "")) if given.get("method") == "post" else None
            if self._form:
                self.forms.append(self._form)
                self.by_id[given.get("id", "")] = self._form
        elif tag in {"input", "textarea", "select"}:
            self._field(tag, given)
        elif tag == "option" and self._open:
            self._open.options.append(given.get("value", ""))
            if "selected" in given:
                self._open.values.append(given.get("value", ""))

    def _field(self, tag: str, given: Attributes) -> None:
        form = self.by_id.get(given["form"]) if "form" in given else self._form
        kind = given.get("type", "text") if tag == "input" else tag
        kind = "multiple" if tag == "select" and "multiple" in given else kind
        if form is None or not given.get("name") or kind in BUTTONS:
            return
        found = form.fields.setdefault(given["name"], Field(given["name"], kind))
        found.longest = int(given.get("maxlength", found.longest))
        if kind in {"checkbox", "radio"}:
            found.options.append(given.get("value", "on"))
            if "checked" in given:
                found.values.append(given.get("value", "on"))
        elif tag == "input":
            found.values.append(given.get("value", ""))
        else:
            self._open = found
            if tag == "textarea":
                found.values.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = None
        elif tag in {"select", "textarea"}:
            self._open = None

    def handle_data(self, data: str) -> None:
        if self._open and self._open.kind == "textarea":
            self._open.values[-1] += data


def with_password(person: User) -> User:
    person.set_password(PASSWORD)
    person.save()
    return person


def forms_with_fields(page: Any, address: str) -> list[tuple[str, Form]]:
    """Give each form of a page in which something is typed or chosen, with where it is sent."""
    forms = Forms(page).forms if page.status_code == 200 else []
    return [
        (urljoin(address, form.action) if form.action else address, form)
        for form in forms
        if any(form.typed().values())
    ]


def what_is_lost(person: User, sent_to: str, form: Form, sign_in: Callable[[Client, User, str], str]) -> str:
    """Send a form after the end of its session, sign in, and say what of it stands nowhere any more."""
    browser = a_browser(person)
    typed = form.typed()
    UserSession.objects.all().delete()
    answer = browser.post(sent_to, {**form.unchanged(), **typed})
    if answer.status_code != 302 or not answer["Location"].startswith("/account/sign-in?"):
        return f"it is answered with {answer.status_code}, {answer.headers.get('Location')}"
    if UserSession.objects.exists():
        return "it makes a session for somebody who has not signed in"
    if wrong := sign_in(browser, person, answer["Location"]):
        return wrong
    to = _asked_for(answer["Location"])["next"]
    landed = browser.get(to, follow=True)
    if "You were signed out before this was sent. Nothing has been done yet" not in text(landed):
        return f"{to} says nothing of it ({landed.status_code})"
    return _missing(landed, typed, urlsplit(sent_to).path, to)


def by_the_sign_in_page(browser: Client, person: User, address: str) -> str:
    """Sign in as people do, and say what is wrong on the way."""
    if "You were signed out, and nothing was done" not in text(browser.get(address)):
        return "nobody says that they were signed out"
    to = _asked_for(address)["next"]
    signed_in = browser.post("/account/sign-in", {"email": person.email, "password": PASSWORD, "next": to})
    return "" if signed_in.headers.get("Location") == to else f"signing in does not lead to {to}"


def without_the_sign_in_page(browser: Client, person: User, address: str) -> str:
    """Sign in without the two requests, of which only what stands in the address is different for another form."""
    asked_for = _asked_for(address)
    if asked_for.get("signed_out") != "kept":
        return "the sign-in page will not say that it was kept"
    if local_path(asked_for["next"]) != asked_for["next"]:
        return f"signing in does not lead to {asked_for['next']}"
    browser.cookies[settings.SESSION_COOKIE_NAME] = a_browser(person).cookies[settings.SESSION_COOKIE_NAME].value
    return ""


def _asked_for(address: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(address).query))


def _missing(landed: Any, typed: dict[str, list[str]], sent_to: str, page: str) -> str:
    shown = [one for one in Forms(landed).forms if urlsplit(urljoin(page, one.action)).path == sent_to]
    if not shown:
        return "its form does not stand on the page"
    lost = []
    for one in shown:
        found = {name: one.fields[name].values if name in one.fields else [] for name in typed}
        lost.append([name for name, values in typed.items() if _lines(values) != _lines(found[name])])
    least = min(lost, key=len)
    return f"it has lost {', '.join(least)}" if least else ""


def _lines(values: list[str]) -> list[str]:
    return sorted(value.replace("\r\n", "\n").removeprefix("\n") for value in values)


@dataclass
class Walk:
    """What was found on the pages of an area."""

    sentences: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    sent: set[str] = field(default_factory=set)

    def open(self, name: str, address: str, browser: Client, person: User) -> None:
        """Open a page, read it, and send each of its forms that was not sent from another page."""
        page = browser.get(address)
        assert page.status_code < 500, address
        self.sentences += untranslated(page, address)
        for sent_to, form in forms_with_fields(page, address):
            if (request := f"{sent_to} {form.is_sent_as()}") in self.sent:
                continue
            sign_in = without_the_sign_in_page if self.sent else by_the_sign_in_page
            self.sent.add(request)
            before = transaction.savepoint()
            wrong = what_is_lost(person, sent_to, form, sign_in)
            transaction.savepoint_rollback(before)
            if wrong:
                self.lost.append(f"{name}, {urlsplit(sent_to).path}: {wrong}")


@pytest.mark.parametrize(("area", "least"), [("console", 30), ("app", 40), ("account", 1)])
def test_every_sentence_of_a_page_can_be_translated_and_nothing_that_was_typed_is_lost(
    area: str, least: int, a: ExtremeTenant
) -> None:
    person = with_password(a.customer.owner if area == "app" else a.owner)
    browser, walk = a_browser(person), Walk()
    if area == "app":
        browser.post("/app/switch", {"workspace": str(a.customer.uuid)})
    for name in pages_in(area):
        walk.open(name, address_of(name, a), read_in_brackets(browser), person)
    assert not walk.sentences, "\n".join(walk.sentences)
    assert not walk.lost, "\n".join([*walk.lost, f"of {len(walk.sent)} forms"])
    assert len(walk.sent) >= least


def test_every_sentence_for_strangers_can_be_translated(a: ExtremeTenant) -> None:
    browser = read_in_brackets(a_browser())
    addresses = [address_of(name, a) for name in ANONYMOUS]
    assert [found for address in addresses for found in untranslated(browser.get(address), address)] == []
