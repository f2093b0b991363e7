"""Variables that texts may hold, such as `{{contact.first_name}}`: filled in for each contact when a step runs."""

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
# The author of the flow names these: `answers` by a question's `save_as`, `fields` by the contact's own fields.
OPEN = frozenset({"answers", "fields"})

NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
BRACES = re.compile(r"\{\{([^{}]{0,200})\}\}")


def is_variable(text: str) -> bool:
    """Say whether this is a variable's name, such as `contact.city` or `answers.budget`."""
    root, _, name = text.partition(".")
    return name in KNOWN.get(root, ()) or (root in OPEN and NAME.fullmatch(name) is not None)


def belongs_to_installer(text: str) -> bool:
    """Say whether a value is one variable of the workspace, which every customer has their own of."""
    found = BRACES.fullmatch(text.strip())
    name = found[1].strip() if found else ""
    return name.startswith("workspace.") and is_variable(name)


def unknown_variables(text: str) -> Iterator[str]:
    """Give what stands in double braces and is no variable."""
    for found in BRACES.finditer(text):
        if not is_variable(found[1].strip()):
            yield found[1].strip()


def without_variables(text: str) -> str:
    """Take known variables out; of those that people name, the name stays, as it may give something away."""

    def stand_in(found: re.Match[str]) -> str:
        name = found[1].strip()
        if not is_variable(name):
            return found[0]
        root, _, rest = name.partition(".")
        return f" {rest} " if root in OPEN else " "

    return BRACES.sub(stand_in, text)
