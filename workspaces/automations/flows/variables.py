"""The variables in texts, such as `{{contact.first_name}}`. A step fills them in for each contact when it runs."""

import re
from collections.abc import Iterator

KNOWN: dict[str, frozenset[str]] = {
    "contact": frozenset({"name", "first_name", "last_name", "email", "phone", "city", "country", "language"}),
    "workspace": frozenset(
        {"name", "phone", "email", "address", "website", "opening_hours", "booking_link", "review_link", "menu_link"}
    ),
    "appointment": frozenset({"date", "time", "service", "staff", "location", "link"}),
    "order": frozenset({"number", "total", "status", "link", "items"}),
    "cart": frozenset({"total", "items", "link"}),
    "message": frozenset({"text"}),
    "payment": frozenset({"amount", "link"}),
    "ai": frozenset({"answer", "topic"}),
}
# The flow's author chooses these names: `answers` by a question's `save_as`, `fields` by the contact's fields.
OPEN = frozenset({"answers", "fields"})

NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
BRACES = re.compile(r"\{\{([^{}]{0,200})\}\}")


def is_variable(text: str) -> bool:
    """Say whether this is a variable's name, such as `contact.city` or `answers.budget`."""
    root, _, name = text.partition(".")
    return name in KNOWN.get(root, ()) or (root in OPEN and NAME.fullmatch(name) is not None)


def belongs_to_installer(text: str) -> bool:
    """Say whether a value is a single variable of the workspace, for which every customer has a value."""
    found = BRACES.fullmatch(text.strip())
    name = found[1].strip() if found else ""
    return name.startswith("workspace.") and is_variable(name)


def unknown_variables(text: str) -> Iterator[str]:
    """Give each text in double braces that is not a variable."""
    for found in BRACES.finditer(text):
        if not is_variable(found[1].strip()):
            yield found[1].strip()


def without_variables(text: str) -> str:
    """Remove the known variables from a text. Names chosen by people stay, because they may be private."""

    def stand_in(found: re.Match[str]) -> str:
        name = found[1].strip()
        if not is_variable(name):
            return found[0]
        root, _, rest = name.partition(".")
        return f" {rest} " if root in OPEN else " "

    return BRACES.sub(stand_in, text)
