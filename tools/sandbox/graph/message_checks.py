"""Checks a message as the API does before it accepts it: lengths, counts, and the template."""

from collections.abc import Mapping
from typing import Any, Final

from tools.sandbox.graph.interactive_checks import check_interactive, check_page_interactive
from tools.sandbox.graph.sending_errors import SendRefused
from tools.sandbox.state import SandboxState

LONGEST_TEXT: Final = 4_096
LONGEST_CAPTION: Final = 1_024
LONGEST_OPAQUE: Final = 512
LONGEST_METADATA: Final = 1_000
LONGEST_MESSENGER_TEXT: Final = 2_000
LONGEST_INSTAGRAM_BYTES: Final = 1_000
MEDIA: Final = ("image", "video", "audio", "document", "sticker")
UNSENDABLE: Final = {"paused": "132015", "disabled": "132016"}


def check_whatsapp(state: SandboxState, business: str, body: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """Raise `SendRefused` for a message that the API refuses. Give its template, or an empty mapping."""
    content = body[kind]
    _require(len(str(body.get("biz_opaque_callback_data", ""))) <= LONGEST_OPAQUE, "131009", "opaque data")
    if kind == "text":
        _require(0 < len(str(content.get("body", ""))) <= LONGEST_TEXT, "131009", "text.body")
    elif kind in MEDIA:
        _check_media(state, content)
    elif kind == "interactive":
        check_interactive(content)
    elif kind == "template":
        return _checked_template(state, business, content)
    else:
        _require(kind in ("reaction", "location", "contacts"), "131051", kind)
    return {}


def _check_media(state: SandboxState, content: Mapping[str, Any]) -> None:
    _require(bool(content.get("id")) != bool(content.get("link")), "131008", "id or link")
    _require(len(str(content.get("caption", ""))) <= LONGEST_CAPTION, "131009", "caption")
    if content.get("id"):
        _require(str(content["id"]) in state.media.uploads, "131009", "media id")


def _checked_template(state: SandboxState, business: str, content: Mapping[str, Any]) -> Mapping[str, Any]:
    language = str((content.get("language") or {}).get("code", ""))
    found = state.templates.find(business, str(content.get("name", "")), language)
    if found is None or found["status"] != "APPROVED":
        status = str(found["status"]).lower() if found else ""
        raise SendRefused(UNSENDABLE.get(status, "132001"), "template name does not exist in this language")
    given = {
        str(part.get("type", "")).lower(): part.get("parameters") or [] for part in content.get("components") or []
    }
    for part in found["components"]:
        kind = part["type"].lower()
        if kind in ("body", "header"):
            wanted = str(part.get("text", "")).count("{{")
            if part.get("format") in ("IMAGE", "VIDEO", "DOCUMENT"):
                wanted = 1
            _require(len(given.get(kind, [])) == wanted, "132000", f"{kind}: number of parameters does not match")
    return found


def check_page_message(platform: str, message: Mapping[str, Any]) -> None:
    """Raise `SendRefused` for a message that the Send API refuses."""
    text, attachment = str(message.get("text") or ""), message.get("attachment")
    _require(bool(text) or isinstance(attachment, Mapping), "100", "message")
    _require(len(str(message.get("metadata") or "")) < LONGEST_METADATA, "100", "metadata")
    is_short = (
        len(text.encode()) <= LONGEST_INSTAGRAM_BYTES
        if platform == "instagram"
        else len(text) <= LONGEST_MESSENGER_TEXT
    )
    _require(is_short, "100", "text")
    check_page_interactive(message)


def _require(holds: bool, code: str, details: str) -> None:
    if not holds:
        raise SendRefused(code, details)
