"""Variables in a broadcast's texts, such as `{{contact.first_name}}`."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from broadcasts.content import VARIABLE, filled
from broadcasts.services.errors import BroadcastRefused
from workspaces.contacts.models import Contact
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import settings_in_texts

CONTACT: Final = ("name", "first_name", "last_name", "email", "phone", "country")
BRACES: Final = re.compile(r"\{\{([^{}]*)\}\}")


def check_variables(field: str, content: Any, workspace: Workspace) -> None:
    """Refuse texts with an unknown variable, or with a workspace variable that has no value.

    Raises `BroadcastRefused` on the field.
    """
    settings: Mapping[str, str] | None = None
    for text in _texts(content):
        for found in BRACES.finditer(text):
            root, name = _known(field, found[0])
            if root == "workspace":
                # A request authenticated by a key loads only a few of its workspace's columns.
                settings = settings or settings_in_texts(Workspace.objects.get(pk=workspace.pk))
                _check_setting(field, name, settings)


def contact_value(contact: Contact, name: str) -> str:
    """Return the value of a contact's variable, such as `contact.first_name` or `fields.plan`; empty if it has none."""
    root, _, key = name.partition(".")
    if root == "fields":
        return str(contact.attributes.get(key) or "")
    if key in ("first_name", "last_name"):
        first, _, last = contact.name.strip().partition(" ")
        return first if key == "first_name" else last.strip()
    return str(getattr(contact, key) or "")


def with_settings(content: Any, workspace: Workspace) -> Any:
    """Fill the workspace's variables in all texts; the contacts' variables stay."""
    settings = settings_in_texts(workspace)

    def write(text: str) -> str:
        return VARIABLE.sub(lambda found: _setting(found, settings), text) if "{{" in text else text

    return filled(content, write)


def _setting(found: re.Match[str], settings: Mapping[str, str]) -> str:
    root, _, name = found[1].partition(".")
    return settings.get(name, "") if root == "workspace" else found[0]


def _known(field: str, braces: str) -> tuple[str, str]:
    found = VARIABLE.fullmatch(braces)
    root, _, name = found[1].partition(".") if found else ("", "", "")
    if root == "fields" or (root == "contact" and name in CONTACT) or root == "workspace":
        return root, name
    known = ", ".join(f"contact.{one}" for one in CONTACT)
    raise BroadcastRefused(f"{braces} is no variable. There are {known}, fields.… and workspace.….", field=field)


def _check_setting(field: str, name: str, settings: Mapping[str, str]) -> None:
    if name not in settings:
        known = ", ".join(f"workspace.{one}" for one in settings)
        raise BroadcastRefused(f"{{{{workspace.{name}}}}} is no variable. There are {known}.", field=field)
    if not settings[name]:
        words = name.replace("_", " ")
        raise BroadcastRefused(
            f"The workspace's {words} is not set, and {{{{workspace.{name}}}}} needs it.", field=field
        )


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping | list | tuple):
        for below in content.values() if isinstance(content, Mapping) else content:
            yield from _texts(below)
