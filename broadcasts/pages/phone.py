"""The picture of a message as a phone shows it: filled, with what WhatsApp makes of asterisks and the like."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from broadcasts.content import VARIABLE
from broadcasts.pages.templates import Gap, gaps_of
from channelconnect.models import MessageTemplate

# As composer.js has them too: it redraws the picture while somebody types.
MARKS: Final = (("```", "code"), ("*", "strong"), ("_", "em"), ("~", "s"))
PLACEHOLDER: Final = re.compile(r"\{\{\s*([A-Za-z0-9_]+)\s*\}\}")


@dataclass(frozen=True, slots=True)
class Picture:
    """The parts of a message; `header` and `body` hold `{{parameter_N}}` where a field's text goes."""

    header: str = ""
    header_file: str = ""
    body: str = ""
    footer: str = ""
    buttons: tuple[str, ...] = ()


def picture_of(template: MessageTemplate) -> Picture:
    """Give a template's parts, with its gaps named by the form's fields."""
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
    """Write what was typed into the places of its fields; an empty one shows its example."""
    return PLACEHOLDER.sub(lambda found: values.get(found[1]) or found[0], text)


def shown(text: str, labels: Mapping[str, str]) -> SafeString:
    """Write a text as a phone shows it: escaped, marked up, and with its variables by their labels."""
    safe: str = escape(text)
    for mark, element in MARKS:
        safe = _marked(safe, re.escape(mark), element)
    return mark_safe(VARIABLE.sub(_label_writer(labels), safe))  # noqa: S308  # escaped above


def _marked(text: str, mark: str, element: str) -> str:
    wanted = rf"(?<![\w{mark[-1]}]){mark}(?=\S)([^\n]*?\S){mark}(?![\w{mark[-1]}])"
    return re.sub(wanted, rf"<{element}>\1</{element}>", text)


def _label_writer(labels: Mapping[str, str]) -> Callable[["re.Match[str]"], str]:
    return lambda found: f"<mark>{escape(labels.get(found[1], found[1].partition('.')[2]))}</mark>"
