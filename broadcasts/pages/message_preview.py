"""The picture of a message on a phone, and the parameters of a template that its author fills in."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from django.utils import timezone
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from agency.pages.registry import StrOrPromise
from broadcasts.content import VARIABLE, variables_in
from broadcasts.models import Broadcast, Wave
from broadcasts.pages.labels import (
    CATEGORY_LABELS,
    COLOURS,
    ENGAGEMENT_LABELS,
    RECIPIENT_STATUS_LABELS,
    STATUS_LABELS,
    VARIABLE_LABELS,
    bar_segments,
    bars_of,
)
from broadcasts.services.costs import billed_lines
from broadcasts.services.listing import Progress, with_progress
from broadcasts.services.moving import is_waiting_for_approval
from broadcasts.services.results import results_of
from channelconnect.models import MessageTemplate
from workspaces.subaccounts.models import Channel, Workspace

Status = Broadcast.Status
MOST_WAVES: Final = 200
# The page of a moving broadcast reloads after this many milliseconds.
POLL_MS: Final = 4_000
MOVING: Final = (Status.SCHEDULED, Status.SENDING, Status.PAUSED)


def progress_with_skipped(broadcast: Broadcast) -> Progress:
    """Return a broadcast's progress. Recipients that a cancelled broadcast still has to skip count as skipped.

    Once all of them are marked, the recipients that are left as pending are being sent at this moment.
    """
    progress: Progress = broadcast.progress
    if broadcast.status != Status.CANCELLED or broadcast.next_due_at is None:
        return progress
    counts = dict(progress.counts)
    counts["skipped"] += counts["pending"]
    return replace(progress, counts={**counts, "pending": 0, "held": 0})


def broadcast_context(broadcast: Broadcast) -> dict[str, Any]:
    """Return the context for the templates of a broadcast's page."""
    [found] = with_progress([broadcast])
    found.progress = progress_with_skipped(found)
    waves = Wave.objects.filter(broadcast_id=found.pk).order_by("due_at").values_list("due_at", "total")
    shown_waves = list(waves[:MOST_WAVES])
    return {
        "broadcast": found,
        "shares": bar_segments(found.progress.counts),
        "total": sum(found.progress.counts[status] for status in RECIPIENT_STATUS_LABELS),
        "waves": shown_waves,
        "bars": bars_of(shown_waves),
        "billed": billed_lines(found),
        "category_labels": CATEGORY_LABELS,
        "status_label": STATUS_LABELS[found.status],
        "colour": COLOURS.get(Status(found.status), ""),
        "engagements": ENGAGEMENT_LABELS,
        "picture": message_preview(found),
        "is_local": found.scheduled_local_at is not None,
        "results": results_of(found) if found.started_at else None,
        "step_labels": ENGAGEMENT_LABELS,
        "poll": POLL_MS if found.status in MOVING else 0,
        "is_waiting_for_approval": is_waiting_for_approval(found),
    }


MOST_SHOWN: Final = 200
FILES: Final = ("image", "video", "document")
TYPED: Final = ("text", "url", "copy_code", *FILES)
PREFIX: Final = "parameter_"


@dataclass(frozen=True, slots=True)
class TemplateParameter:
    """A place in a template that the author must fill. `field` names its form field."""

    field: str
    place: str
    kind: str
    label: str
    example: str
    index: int | None
    name: str | None

    @property
    def is_file(self) -> bool:
        return self.kind in FILES

    @property
    def short_label(self) -> str:
        """What the picture shows while the field is empty: the template's own name of the text, or its number."""
        return self.name.replace("_", " ") if self.name else _("Text %(number)s") % {"number": self.index}


def templates_of(channel: Channel) -> list[MessageTemplate]:
    """Return a channel's approved templates that a form can fill, by name; at most `MOST_SHOWN`."""
    if channel.platform != "whatsapp":
        return []
    containers = Channel.objects.filter(pk=channel.pk).values("credential__container_id")
    approved = MessageTemplate.objects.filter(container_id__in=containers, status=MessageTemplate.Status.APPROVED)
    return [one for one in approved.order_by("name", "language")[:MOST_SHOWN] if _is_typed(one)]


def template_of(broadcast: Broadcast) -> MessageTemplate | None:
    """Return the template of a broadcast's message, or None if its channel no longer has it."""
    name, language = broadcast.message.get("template"), broadcast.message.get("language")
    return next((one for one in templates_of(broadcast.channel) if (one.name, one.language) == (name, language)), None)


def parameters_of(template: MessageTemplate) -> list[TemplateParameter]:
    """Return a template's gaps in their order."""
    return [
        TemplateParameter(
            field=f"{PREFIX}{number}",
            place=one["component"],
            kind=one["type"],
            label=_label(one),
            example=one["example"] or "",
            index=one["index"],
            name=one["name"],
        )
        for number, one in enumerate(template.parameters)
    ]


def message_of(template: MessageTemplate, values: Mapping[str, str], filename: str = "") -> dict[str, object]:
    """Return the message that fills a template, in the form that `build_broadcast` takes."""
    gaps = parameters_of(template)
    texts: dict[str, dict[str, Any]] = {}
    buttons = []
    for gap in gaps:
        value = values.get(gap.field, "")
        if gap.place == "button":
            buttons.append(_button(gap, value))
        elif not gap.is_file:
            place = texts.setdefault(gap.place, {"type": gap.place, "parameters": []})
            named = {"parameter_name": gap.name} if gap.name else {}
            place["parameters"].append({"type": "text", **named, "text": value})
    header = next((gap for gap in gaps if gap.is_file), None)
    return {
        "template": template.name,
        "language": template.language,
        "components": [*texts.values(), *buttons],
        "header": _header(header, values, filename) if header else None,
    }


def message_of_variables(template: MessageTemplate | None, typed: Callable[[str], str]) -> dict[str, object]:
    """Return a message that can be sent and has the typed message's variables alone. `typed` gives a field's text."""
    if template is None:
        return {"text": _variables_of(typed("message_text"), "x"), "track_clicks": False}
    values = {
        gap.field: _variables_of(typed(gap.field), "https://example.com/x" if gap.is_file else "x")
        for gap in parameters_of(template)
    }
    return {**message_of(template, values), "track_clicks": False}


def _variables_of(text: str, otherwise: str) -> str:
    return " ".join(f"{{{{{name}}}}}" for name in dict.fromkeys(variables_in(text))) or otherwise


def values_of(template: MessageTemplate, message: Mapping[str, Any]) -> dict[str, str]:
    """Return the typed values of a message, by form field."""
    header = message.get("header") or {}
    found = dict(_texts_in(message.get("components") or []))
    values = {}
    for gap in parameters_of(template):
        if gap.is_file:
            values[gap.field] = header.get("url") or ""
        elif gap.place == "header" and header.get("parameters"):
            position = [one for one in parameters_of(template) if one.place == "header"].index(gap)
            values[gap.field] = _at(header["parameters"], position)
        else:
            values[gap.field] = found.get(_key(template, gap), "")
    return values


def _header(gap: TemplateParameter, values: Mapping[str, str], filename: str) -> dict[str, object]:
    named = {"filename": filename} if filename and gap.kind == "document" else {}
    return {"url": values.get(gap.field, ""), **named}


def _button(gap: TemplateParameter, value: str) -> dict[str, object]:
    is_code = gap.kind == "copy_code"
    filled = {"type": "coupon_code", "coupon_code": value} if is_code else {"type": "text", "text": value}
    return {"type": "button", "sub_type": gap.kind, "index": str(gap.index), "parameters": [filled]}


def _key(template: MessageTemplate, gap: TemplateParameter) -> str:
    """Return a gap's key as a message's components have it: component and position."""
    if gap.place == "button":
        return f"button.{gap.index}.0"
    return f"{gap.place}.{[one for one in parameters_of(template) if one.place == gap.place].index(gap)}"


def _texts_in(components: Sequence[object]) -> Iterator[tuple[str, str]]:
    for component in components:
        if not isinstance(component, Mapping):
            continue
        place = str(component.get("type", "")).lower()
        place = f"button.{component.get('index')}" if place == "button" else place
        for position, parameter in enumerate(component.get("parameters") or []):
            if isinstance(parameter, Mapping):
                text = parameter.get("text") or parameter.get("coupon_code") or ""
                yield f"{place}.{position}", str(text)


def _at(values: Sequence[object], position: int) -> str:
    return str(values[position]) if position < len(values) and isinstance(values[position], str) else ""


def _is_typed(template: MessageTemplate) -> bool:
    return all(one["type"] in TYPED and not one["component"].startswith("carousel") for one in template.parameters)


def _label(parameter: Mapping[str, Any]) -> str:
    kind, place = parameter["type"], parameter["component"]
    if kind in FILES:
        kinds = {"image": _("Picture"), "video": _("Film"), "document": _("Document")}
        return _("%(kind)s at the top: its public https address") % {"kind": kinds[kind]}
    if place == "button":
        number = parameter["index"] + 1
        return (
            _("Code of button %(number)s") % {"number": number}
            if kind == "copy_code"
            else _("End of button %(number)s's address") % {"number": number}
        )
    gap = parameter["name"] or parameter["index"]
    return _("Text {{%(gap)s}} of the heading" if place == "header" else "Text {{%(gap)s}}") % {"gap": gap}


# composer.js has the same list, because it redraws the picture while the user types.
MARKS: Final = (("```", "code"), ("*", "strong"), ("_", "em"), ("~", "s"))
PLACEHOLDER: Final = re.compile(r"\{\{\s*([A-Za-z0-9_]+)\s*\}\}")


@dataclass(frozen=True, slots=True)
class MessageParts:
    """The parts of a message. In `header` and `body`, `{{parameter_N}}` marks the text of a form field."""

    header: str = ""
    header_file: str = ""
    body: str = ""
    footer: str = ""
    buttons: tuple[str, ...] = ()


def message_parts(template: MessageTemplate) -> MessageParts:
    """Return a template's parts. Its gaps carry the names of the form's fields."""
    gaps = parameters_of(template)
    parts = {str(one.get("type", "")).upper(): one for one in template.components if isinstance(one, Mapping)}
    buttons = parts.get("BUTTONS", {}).get("buttons") or []
    return MessageParts(
        header=_named(parts.get("HEADER", {}), "header", gaps),
        header_file=next((gap.kind for gap in gaps if gap.is_file), ""),
        body=_named(parts.get("BODY", {}), "body", gaps),
        footer=str(parts.get("FOOTER", {}).get("text") or ""),
        buttons=tuple(str(one.get("text") or "") for one in buttons if isinstance(one, Mapping)),
    )


def _named(component: Mapping[str, object], place: str, gaps: list[TemplateParameter]) -> str:
    fields = {str(gap.name or gap.index): gap.field for gap in gaps if gap.place == place}
    text = str(component.get("text") or "")
    return PLACEHOLDER.sub(lambda found: f"{{{{{fields[found[1]]}}}}}" if found[1] in fields else found[0], text)


def with_values(text: str, values: Mapping[str, str]) -> str:
    """Insert the typed values. An empty field shows its example, or else its name."""
    return PLACEHOLDER.sub(lambda found: values.get(found[1]) or found[0], text)


def render_markup(text: str, labels: Mapping[str, StrOrPromise], fields: Mapping[str, str] | None = None) -> SafeString:
    """Return a text as a phone shows it: escaped, marked up, and with labels in place of variables.

    `fields` names the fields of a template that are still empty.
    """
    safe: str = escape(text)
    for mark, element in MARKS:
        safe = _marked(safe, re.escape(mark), element)
    marked = VARIABLE.sub(_label_writer(labels), safe)
    if fields:
        marked = PLACEHOLDER.sub(lambda found: _mark(fields[found[1]]) if found[1] in fields else found[0], marked)
    return mark_safe(marked)  # noqa: S308  # escaped above


def _mark(label: StrOrPromise) -> str:
    return f"<mark>{escape(label)}</mark>"


def _marked(text: str, mark: str, element: str) -> str:
    wanted = rf"(?<![\w{mark[-1]}]){mark}(?=\S)([^\n]*?\S){mark}(?![\w{mark[-1]}])"
    return re.sub(wanted, rf"<{element}>\1</{element}>", text)


def _label_writer(labels: Mapping[str, StrOrPromise]) -> Callable[["re.Match[str]"], str]:
    return lambda found: _mark(labels.get(found[1], found[1].partition(".")[2]))


@dataclass(frozen=True, slots=True)
class MessagePreview:
    """A picture with its texts as people see them. The browser redraws them from `raw`.

    `business` is the name above the message, and `at` its time, shown on the clocks of `zone`.
    """

    raw: MessageParts
    header: SafeString
    body: SafeString
    business: str
    at: datetime
    zone: str


def message_preview(broadcast: Broadcast) -> MessagePreview:
    """Return the picture of a broadcast's message."""
    template = template_of(broadcast)
    values = values_of(template, broadcast.message) if template else {}
    text = broadcast.message.get("text") or broadcast.message.get("template") or ""
    at = None if broadcast.scheduled_local_at else broadcast.started_at or broadcast.scheduled_at
    return preview_with(template, values, text, broadcast.workspace, at)


def preview_with(
    template: MessageTemplate | None,
    values: Mapping[str, str],
    text: str,
    workspace: Workspace,
    at: datetime | None = None,
) -> MessagePreview:
    """Return the picture of a template with its values, or of a text, that arrives at a moment; now without one."""
    raw = message_parts(template) if template else MessageParts(body=text)
    examples = {gap.field: gap.example for gap in parameters_of(template)} if template else {}
    names = {gap.field: gap.short_label for gap in parameters_of(template)} if template else {}
    known: dict[str, str] = examples | {name: value for name, value in values.items() if value}
    if template is None and "message_text" in values and not values["message_text"]:
        known["message_text"] = " "
    return MessagePreview(
        raw,
        render_markup(with_values(raw.header, known), VARIABLE_LABELS, names),
        render_markup(with_values(raw.body, known), VARIABLE_LABELS, names),
        workspace.name,
        at or timezone.now(),
        workspace.timezone,
    )
