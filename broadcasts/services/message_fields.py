"""A broadcast's message: checked by its channel's rules and its template, and written in the provider's form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from broadcasts.content import VARIABLE, variables_in
from broadcasts.services.errors import BroadcastRefused
from broadcasts.services.fields import check_variables
from channelconnect.models import MessageTemplate
from channelconnect.services.template_checks import find_template
from config.api.text_fields import can_be_stored
from config.errors import InvalidInput
from config.http.guard import URLRefused, check_without_lookup, parse_target
from workspaces.conversations.services import Content
from workspaces.conversations.services.content import CheckedContent, check_content
from workspaces.subaccounts.models import Channel, Workspace

FILES: Final = ("image", "video", "document")
PUBLIC_LINK: Final = "The message.header.url field must be a public https link."
LONGEST_FALLBACK: Final = 100
OF_TEMPLATES: Final = ("language", "components", "header")


@dataclass(frozen=True, slots=True)
class WrittenMessage:
    """A message in the provider's form, with its variables still in it. `shown` is the text that people read.

    It has either `text` or `template` ({name, language, components}). `category` is the template's.
    """

    text: str
    template: dict[str, object] | None
    shown: str
    category: str = ""


def checked_message(message: Mapping[str, object], channel: Channel, workspace: Workspace) -> dict[str, Any]:
    """Return a message in its stored form if it can be sent. Raises `BroadcastRefused`."""
    kept = _kept(message)
    _check_kinds(kept)
    for part in ("text", "components", "header"):
        check_variables(f"message.{part}", kept[part], workspace)
        if not can_be_stored(kept[part]):
            _refuse(part, "The message holds characters or numbers that cannot be stored.")
    write_message(kept, channel)
    return kept


def checked_fallbacks(fallbacks: Mapping[str, str], message: Mapping[str, object]) -> dict[str, str]:
    """Return the texts for contacts without a value, by the message's variables. All others are dropped.

    Blanks become one space, as in the values of variables. Raises `BroadcastRefused`.
    """
    kept = {}
    for name in dict.fromkeys(variables_in(message)):
        text = " ".join(str(fallbacks.get(name) or "").split())
        if not text or name.partition(".")[0] not in ("contact", "fields"):
            continue
        if len(text) > LONGEST_FALLBACK or not can_be_stored(text):
            refusal = f"A fallback may have at most {LONGEST_FALLBACK} characters."
            raise BroadcastRefused(refusal, field=f"fallback.{name}")
        kept[name] = text
    return kept


def write_message(message: Mapping[str, Any], channel: Channel) -> WrittenMessage:
    """Write a stored message in the provider's form. Raises `BroadcastRefused` if it can no longer be sent."""
    if not message["template"]:
        written = _written(Content(text=message["text"]), channel)
        return WrittenMessage(written.text, None, written.text)
    language = str(message["language"]).replace("-", "_")
    known = find_template(channel, message["template"], language)
    header = _header(message["header"], known, message["components"])
    template = {"name": message["template"], "language": language, "components": [*header, *message["components"]]}
    written = _written(Content(template=template), channel, headers=len(header))
    return WrittenMessage("", written.template, written.text, known.category if known else "")


def _kept(message: Mapping[str, Any]) -> dict[str, Any]:
    header = message.get("header") or None
    return {
        "template": message.get("template") or None,
        "language": message.get("language") or None,
        "components": list(message.get("components") or []),
        "text": message.get("text") or None,
        "track_clicks": message.get("track_clicks") is not False,
        "header": header
        and {
            "url": header.get("url") or None,
            "filename": header.get("filename") or None,
            "parameters": list(header.get("parameters") or []),
        },
    }


def _check_kinds(message: Mapping[str, object]) -> None:
    if message["template"] and message["text"]:
        _refuse("text", "The message.text field cannot be sent along with message.template.")
    if not (message["template"] or message["text"]):
        _refuse("text", "One of message.text and message.template is required.")
    if message["template"] and not message["language"]:
        _refuse("language", "The message.language field is required.")
    for part in OF_TEMPLATES:
        if message["text"] and message[part]:
            _refuse(part, f"The message.{part} field goes with message.template only.")


def _written(content: Content, channel: Channel, *, headers: int = 0) -> CheckedContent:
    """Write content. `headers` is the number of its components that come from `message.header`."""
    try:
        return check_content(content, channel)
    except InvalidInput as refused:
        [(field, [message, *_])] = refused.errors.items()
        raise BroadcastRefused(message, field=f"message.{_own_field(field, headers)}") from refused


def _own_field(field: str, headers: int) -> str:
    name, _, number = field.partition(".")
    if name != "components" or not number:
        return field
    return f"components.{int(number) - headers}" if int(number) >= headers else "header"


def _header(
    header: Mapping[str, Any] | None, template: MessageTemplate | None, components: Sequence[object]
) -> list[dict[str, object]]:
    """Return the header's component made from `message.header`; empty if the components already have it."""
    wanted = [one for one in (template.parameters if template else []) if one["component"] == "header"]
    kind = wanted[0]["type"] if wanted else ""
    is_given = any(isinstance(one, Mapping) and str(one.get("type")).lower() == "header" for one in components)
    if header is None:
        if kind in FILES and not is_given:
            _refuse("header.url", f"The message.header.url field is required: the template's header is of type {kind}.")
        return []
    if is_given:
        _refuse("header", "The message.header field cannot be sent along with a header among the components.")
    if kind in FILES:
        return [{"type": "header", "parameters": [_file(header, kind)]}]
    return _text_header(header, wanted)


def _file(header: Mapping[str, Any], kind: str) -> dict[str, object]:
    if header["parameters"]:
        _refuse("header.parameters", f"The template's header takes no parameters: it is of type {kind}.")
    if not header["url"]:
        _refuse("header.url", f"The message.header.url field is required: the template's header is of type {kind}.")
    _check_link(header["url"])
    if header["filename"] and kind != "document":
        _refuse("header.filename", "The message.header.filename field goes with documents only.")
    named = {"filename": header["filename"]} if header["filename"] else {}
    return {"type": kind, kind: {"link": header["url"], **named}}


def _text_header(header: Mapping[str, Any], wanted: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    for name in ("url", "filename"):
        if header[name]:
            _refuse(f"header.{name}", "The template's header takes no file.")
    if len(header["parameters"]) != len(wanted):
        number = len(wanted) or "no"
        _refuse(
            "header.parameters", f"The template's header takes {number} parameter{'' if len(wanted) == 1 else 's'}."
        )
    pairs = zip(wanted, header["parameters"], strict=True)
    parameters = [_parameter(one, given) for one, given in pairs]
    return [{"type": "header", "parameters": parameters}] if parameters else []


def _parameter(wanted: Mapping[str, object], given: object) -> object:
    if not isinstance(given, str):
        return given
    named = {"parameter_name": wanted["name"]} if wanted["name"] else {}
    return {"type": "text", **named, "text": given}


def _check_link(url: str) -> None:
    """Refuse a link that no provider could fetch. A link that begins with a variable is known only for each contact."""
    if VARIABLE.match(url):
        return
    scheme, _, rest = url.partition("://")
    host = rest.partition("/")[0]
    if scheme.lower() != "https" or VARIABLE.search(host):
        _refuse("header.url", PUBLIC_LINK)
    try:
        check_without_lookup(parse_target(VARIABLE.sub("x", url)))
    except URLRefused as refused:
        raise BroadcastRefused(f"{PUBLIC_LINK} {refused}", field="message.header.url") from refused


def _refuse(part: str, message: str) -> NoReturn:
    raise BroadcastRefused(message, field=f"message.{part}")
