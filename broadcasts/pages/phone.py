"""The picture of a message on a phone, with its variables filled in and WhatsApp's markup (asterisks and the like)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from broadcasts.content import VARIABLE
from broadcasts.pages.templates import Gap, gaps_of
from channelconnect.models import MessageTemplate

# composer.js has the same list, because it redraws the picture while the user types.
MARKS: Final = (("```", "code"), ("*", "strong"), ("_", "em"), ("~", "s"))
PLACEHOLDER: Final = re.compile(r"\{\{\s*([A-Za-z0-9_]+)\s*\}\}")


@dataclass(frozen=True, slots=True)
class Picture:
    """The parts of a message. In `header` and `body`, `{{parameter_N}}` marks the text of a form field."""

    header: str = ""
    header_file: str = ""
    body: str = ""
    footer: str = ""
    buttons: tuple[str, ...] = ()


def picture_of(template: MessageTemplate) -> Picture:
    """Return a template's parts. Its gaps carry the names of the form's fields."""
    gaps = gaps_of(template)
    parts = {str(one.get("type", "")).upper(): one for one in template.components if isinstance(one, Mapping)}
    buttons = parts.get("BUTTONS", {}).get("buttons") or []
    return Picture(
        header=_named(parts.get("HEADER", {}), "header", gaps),
        header_file=next((gap.kind for gap in gaps if gap.is_file), ""),
        body=_named(parts.get("BODY", {}), "body", gaps),
        footer=str(parts.get("FOOTER", {}).get("text") or ""),
        buttons=tuple(str(one.get("text") or "") for one in buttons if isinstance(one, Mapping)),
    )


def _named(component: Mapping[str, Any], place: str, gaps: list[Gap]) -> str:
    fields = {str(gap.name or gap.index): gap.field for gap in gaps if gap.place == place}
    text = str(component.get("text") or "")
    return PLACEHOLDER.sub(lambda found: f"{{{{{fields[found[1]]}}}}}" if found[1] in fields else found[0], text)


def filled(text: str, values: Mapping[str, str]) -> str:
    """Insert the typed values. An empty field shows its example."""
    return PLACEHOLDER.sub(lambda found: values.get(found[1]) or found[0], text)


def shown(text: str, labels: Mapping[str, str]) -> SafeString:
    """Return a text as a phone shows it: escaped, marked up, and with labels in place of variables."""
    safe: str = escape(text)
    for mark, element in MARKS:
        safe = _marked(safe, re.escape(mark), element)
    return mark_safe(VARIABLE.sub(_label_writer(labels), safe))  # noqa: S308  # escaped above


def _marked(text: str, mark: str, element: str) -> str:
    wanted = rf"(?<![\w{mark[-1]}]){mark}(?=\S)([^\n]*?\S){mark}(?![\w{mark[-1]}])"
    return re.sub(wanted, rf"<{element}>\1</{element}>", text)


def _label_writer(labels: Mapping[str, str]) -> Callable[["re.Match[str]"], str]:
    return lambda found: f"<mark>{escape(labels.get(found[1], found[1].partition('.')[2]))}</mark>"
