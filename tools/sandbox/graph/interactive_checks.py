"""Checks buttons, lists and links of a message as the API does."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tools.sandbox.graph.sending_errors import SendRefused

MOST_BUTTONS, MOST_ROWS, MOST_REPLIES = 3, 10, 13
LONGEST_BUTTON_TEXT: Final = 640


def check_interactive(content: Mapping[str, Any]) -> None:
    """Raise `SendRefused` for an interactive message that WhatsApp refuses."""
    check = WHATSAPP.get(str(content.get("type")))
    if check is None:
        raise SendRefused("131009", "interactive.type")
    kind, action = str(content["type"]), _mapping(content.get("action"))
    _within(_mapping(content.get("body")).get("text"), 4_096 if kind == "list" else 1_024, "body.text")
    if "footer" in content:
        _within(_mapping(content["footer"]).get("text"), 60, "footer.text")
    check(action)


def _check_buttons(action: Mapping[str, Any]) -> None:
    buttons = _rows(action.get("buttons"), MOST_BUTTONS, "buttons")
    replies = [_mapping(one.get("reply")) for one in buttons if one.get("type") == "reply"]
    _require(len(replies) == len(buttons), "button type")
    _check_titles(replies, longest_id=256, longest_title=20)
    _require(len({one["title"] for one in replies}) == len(replies), "button titles are equal")


def _check_list(action: Mapping[str, Any]) -> None:
    _within(action.get("button"), 20, "button")
    sections = _rows(action.get("sections"), MOST_ROWS, "sections")
    rows = _rows([row for section in sections for row in section.get("rows") or []], MOST_ROWS, "rows")
    _check_titles(rows, longest_id=200, longest_title=24)
    for row in rows:
        if "description" in row:
            _within(row["description"], 72, "row description")


def _check_link(action: Mapping[str, Any]) -> None:
    _require(action.get("name") == "cta_url", "action.name")
    parameters = _mapping(action.get("parameters"))
    _within(parameters.get("display_text"), 20, "display_text")
    _require(str(parameters.get("url", "")).startswith(("https://", "http://")), "url")


WHATSAPP: Final[dict[str, Callable[[Mapping[str, Any]], None]]] = {
    "button": _check_buttons,
    "list": _check_list,
    "cta_url": _check_link,
}


def check_page_interactive(message: Mapping[str, Any]) -> None:
    """Raise `SendRefused` for quick replies or buttons that the Send API refuses."""
    if "quick_replies" in message:
        _check_quick_replies(message)
    attachment = _mapping(message.get("attachment"))
    if attachment.get("type") == "template":
        _check_template(_mapping(attachment.get("payload")))


def _check_quick_replies(message: Mapping[str, Any]) -> None:
    _require(bool(message.get("text")), "quick_replies without a text", "100")
    replies = _rows(message["quick_replies"], MOST_REPLIES, "quick_replies", "100")
    for reply in replies:
        _require(reply.get("content_type") == "text", "content_type", "100")
        _within(reply.get("title"), 20, "title", "100")
        _within(reply.get("payload"), 1_000, "payload", "100")


def _check_template(payload: Mapping[str, Any]) -> None:
    _require(payload.get("template_type") == "button", "template_type", "100")
    _within(payload.get("text"), LONGEST_BUTTON_TEXT, "text", "100")
    for button in _rows(payload.get("buttons"), MOST_BUTTONS, "buttons", "100"):
        _within(button.get("title"), 20, "title", "100")
        if button.get("type") == "web_url":
            _require(str(button.get("url", "")).startswith(("https://", "http://")), "url", "100")
        else:
            _require(button.get("type") == "postback", "button type", "100")
            _within(button.get("payload"), 1_000, "payload", "100")


def _check_titles(rows: Sequence[Mapping[str, Any]], *, longest_id: int, longest_title: int) -> None:
    for row in rows:
        _within(row.get("id"), longest_id, "id")
        _within(row.get("title"), longest_title, "title")
    _require(len({row["id"] for row in rows}) == len(rows), "ids are equal")


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _rows(value: object, most: int, details: str, code: str = "131009") -> Sequence[Mapping[str, Any]]:
    rows = [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []
    _require(0 < len(rows) <= most, details, code)
    return rows


def _within(value: object, longest: int, details: str, code: str = "131009") -> None:
    _require(isinstance(value, str) and 0 < len(value) <= longest, details, code)


def _require(holds: bool, details: str, code: str = "131009") -> None:
    if not holds:
        raise SendRefused(code, details)
