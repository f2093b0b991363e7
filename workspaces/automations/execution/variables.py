"""Writes the values of variables such as `{{contact.first_name}}` into texts."""

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

from workspaces.automations.execution.running import CONTACT_VALUES, SHOWN, Execution, StepFailed
from workspaces.automations.flows.privacy import VARIABLE, is_workspace_variable

LONGEST_VALUE: Final = 2_000
# Stands for a variable without a value, until the spaces around it are tidied.
HOLE: Final = "\x00"
CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
ORPHANED_START: Final = re.compile(r"(?m)^[ \t]*\x00[ \t,;:]*")
# A run of spaces is only tried from its beginning, so that the time grows with the length.
BEFORE_PUNCTUATION: Final = re.compile(r"(?<![ \t])[ \t]*\x00(?=[ \t]*[,.!?;:)\]]|[ \t]*$)", re.MULTILINE)
WITH_SPACES: Final = re.compile(r"(?<![ \t])[ \t]*\x00[ \t]+")
# The scheme and the host of a web address, up to its path.
AUTHORITY: Final = re.compile(r"https?://[^/?#]*", re.IGNORECASE)


def render(run: Execution, text: str, *, exact: bool = False) -> str:
    """Write a text's variables once. Braces in values stay as they are.

    A variable without a value becomes nothing, together with the space before it. With `exact`, answers are written in
    the form in which they are stored, such as `2026-12-01`.
    """
    if "{{" not in text:
        return text
    written = VARIABLE.sub(lambda found: _written(run, found[1], exact=exact), text)
    return _without_holes(written) if HOLE in written else written


def _written(run: Execution, name: str, *, exact: bool) -> str:
    value = CONTROL.sub("", value_of(run, name.strip(), exact=exact)[:LONGEST_VALUE]).strip()
    return value or HOLE


def _without_holes(text: str) -> str:
    text = ORPHANED_START.sub("", text)
    text = BEFORE_PUNCTUATION.sub("", text)
    return WITH_SPACES.sub(" ", text).replace(HOLE, "")


def value_of(run: Execution, name: str, *, exact: bool = True) -> str:
    """Give the value of a variable by its name without braces, such as `contact.city`; empty if there is none."""
    root, _, rest = name.partition(".")
    if root == "contact":
        return _contact_value(run, rest)
    if root == "answers":
        shown = "" if exact else run.values.get(SHOWN, {}).get(rest, "")
        return shown or run.answers.get(rest, "")
    if root == "fields":
        return run.contact.fields.get(rest, "")
    if root == "workspace":
        return run.context.settings.get(rest, "")
    if root == "ai":
        return run.ai.get(rest, "")
    return _value_of_fact(run, root, rest)


def _value_of_fact(run: Execution, root: str, name: str) -> str:
    if root == "message":
        return run.values.get("message", {}).get(name, "") or (run.context.message if name == "text" else "")
    return "" if root == SHOWN else run.values.get(root, {}).get(name, "")


def _contact_value(run: Execution, name: str) -> str:
    if name in CONTACT_VALUES:
        value: str = getattr(run.contact, name)
        return value
    words = run.contact.name.split(maxsplit=1)
    if name == "first_name":
        return words[0] if words else ""
    return words[1].strip() if name == "last_name" and len(words) > 1 else ""


def customer_value(run: Execution, value: str) -> str:
    """Give a value of the customer, such as an e-mail address. It may be a variable of the workspace, and no other."""
    return (render(run, value) if is_workspace_variable(value) else value).strip()


def render_address(run: Execution, address: str) -> str:
    """Write the variables of a web address, in quoted form. Raises `StepFailed` if a value could choose the host.

    An address that is one variable of the workspace is written as it is.
    """
    if is_workspace_variable(address):
        return customer_value(run, address)
    address = address.strip()
    start = AUTHORITY.match(address)
    if start is None or "{{" in start[0] or "}}" in start[0]:
        raise StepFailed("address_refused")
    return start[0] + render_values(run, address[start.end() :], lambda value: quote(value, safe=""))


def render_values(run: Execution, text: str, written: Callable[[str], str]) -> str:
    """Write a text's variables in a form of its own, such as quoted for an address."""
    if "{{" not in text:
        return text
    return VARIABLE.sub(lambda found: written(value_of(run, found[1].strip())[:LONGEST_VALUE]), text)
