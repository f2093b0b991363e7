"""A page's form as a browser would send it: with everything that stands in it."""

import re
from html.parser import HTMLParser
from typing import Any

from django.test import Client

Values = dict[str, list[str]]
FORM_TAGS = re.compile(r"<textarea\b.*?</textarea>|</?(?:form|input|select|option)\b[^>]*>", re.DOTALL)


def form_tags(page: Any) -> str:
    """Give what of a page belongs to its forms, as most of a parser's time goes to the rest."""
    return "".join(FORM_TAGS.findall(page.content.decode()))


class _Forms(HTMLParser):
    """The forms of a page that are posted, with what stands in their fields."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[tuple[str, Values]] = []
        self.is_within = False
        self.select = self.area = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        begin = {"form": self._form, "select": self._select, "option": self._option, "input": self._input}.get(tag)
        if tag == "textarea":
            self.area = given.get("name", "")
            self._add(self.area, "")
        elif begin:
            begin(given)

    def _form(self, given: dict[str, str]) -> None:
        self.is_within = given.get("method") == "post"
        if self.is_within:
            self.forms.append((given.get("action", ""), {}))

    def _select(self, given: dict[str, str]) -> None:
        self.select = given.get("name", "")

    def _option(self, given: dict[str, str]) -> None:
        if "selected" in given:
            self._add(self.select, given.get("value", ""))

    def _input(self, given: dict[str, str]) -> None:
        kind = given.get("type")
        is_choice = kind in {"checkbox", "radio"}
        if kind not in {"file", "submit"} and ("checked" in given or not is_choice):
            self._add(given.get("name", ""), given.get("value", "on" if is_choice else ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.is_within = False
        elif tag == "select":
            self.select = ""
        elif tag == "textarea":
            self.area = ""

    def handle_data(self, data: str) -> None:
        if self.area and self.is_within:
            self.forms[-1][1][self.area][-1] += data.removeprefix("\n")

    def _add(self, name: str, value: str) -> None:
        if self.is_within and name:
            self.forms[-1][1].setdefault(name, []).append(value)


def form_at(browser: Client, address: str) -> Values:
    """Give what stands in the form that is sent to the address where it is; nothing where there is none."""
    page = browser.get(address)
    if page.status_code != 200:
        return {}
    parser = _Forms()
    parser.feed(form_tags(page))
    own = [values for action, values in parser.forms if action in {"", address}]
    return own[0] if own else {}


def submit(browser: Client, address: str, nonce: str, **fields: Any) -> Any:
    """Send the form of a page with some fields changed; None leaves one out."""
    data: dict[str, Any] = {**form_at(browser, address), "nonce": nonce, **fields}
    return browser.post(address, {name: value for name, value in data.items() if value is not None})
