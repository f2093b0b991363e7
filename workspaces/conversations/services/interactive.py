"""Writes a text with options in the best form that a network has: buttons, a list, quick replies, or numbered lines."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from workspaces.conversations.models.messages import Type
from workspaces.conversations.services.content import RULES, CheckedContent
from workspaces.conversations.services.conversations import CannotSendHere, ContentRefused
from workspaces.subaccounts.models import CHANNEL_NAMES


class Style(StrEnum):
    """The form in which options are wanted."""

    BUTTONS = "buttons"
    LIST = "list"
    QUICK_REPLIES = "quick_replies"
    LINK = "link"
    CALL = "call"


@dataclass(frozen=True, slots=True)
class InteractiveOption:
    """An option. `payload` comes back as `details["payload"]` of the message that chooses it."""

    payload: str
    title: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class InteractiveForm:
    """A network's form of options, with its limits in characters."""

    style: Style
    most_options: int
    longest_title: int
    longest_text: int
    longest_payload: int = 256
    longest_description: int = 0


LONGEST_PAYLOAD: Final = 256
LONGEST_FOOTER: Final = 60
LONGEST_BUTTON: Final = 20
LONGEST_URL: Final = 2_000
DEFAULT_LIST_BUTTON: Final = "☰"

WHATSAPP_BUTTONS: Final = InteractiveForm(Style.BUTTONS, 3, 20, 1_024)
WHATSAPP_LIST: Final = InteractiveForm(Style.LIST, 10, 24, 4_096, longest_payload=200, longest_description=72)
PAGE_BUTTONS: Final = InteractiveForm(Style.BUTTONS, 3, 20, 640)
MESSENGER_REPLIES: Final = InteractiveForm(Style.QUICK_REPLIES, 13, 20, 2_000)
INSTAGRAM_REPLIES: Final = InteractiveForm(Style.QUICK_REPLIES, 13, 20, 1_000)

# The forms of each network for each style, the best first. Numbered lines follow if none fits.
FORMS: Final[dict[str, dict[str, tuple[InteractiveForm, ...]]]] = {
    "whatsapp": {
        Style.BUTTONS: (WHATSAPP_BUTTONS, WHATSAPP_LIST),
        Style.LIST: (WHATSAPP_LIST,),
        Style.QUICK_REPLIES: (WHATSAPP_BUTTONS, WHATSAPP_LIST),
    },
    "facebook": {
        Style.BUTTONS: (PAGE_BUTTONS, MESSENGER_REPLIES),
        Style.LIST: (MESSENGER_REPLIES,),
        Style.QUICK_REPLIES: (MESSENGER_REPLIES,),
    },
    "instagram": {
        Style.BUTTONS: (PAGE_BUTTONS, INSTAGRAM_REPLIES),
        Style.LIST: (INSTAGRAM_REPLIES,),
        Style.QUICK_REPLIES: (INSTAGRAM_REPLIES,),
    },
}
# The longest text above a link button.
LINK_TEXTS: Final = {"whatsapp": 1_024, "facebook": 640, "instagram": 640}


def interactive_content(
    platform: str,
    text: str,
    options: Sequence[InteractiveOption] = (),
    *,
    style: str = "",
    list_button: str = "",
    footer: str = "",
    button: str = "",
    url: str = "",
    phone: str = "",
) -> CheckedContent:
    """Write a text with options, with a link (`button` and `url`) or a number to call (`button` and `phone`).

    It needs no query. `details["interactive"]` of the result has the form that the network gets, which may differ from
    `style`: `{"style", "options": [{"payload", "title", "description"}], "list_button", "footer"}` or
    `{"style": "link", "button", "url", "footer"}`. Where the network has no form, or a limit is exceeded, the result is
    a text with numbered lines. Raises `ContentRefused` and `CannotSendHere`.
    """
    _check(platform, text, options)
    if style == Style.LINK and url:
        return _link(platform, text, button=button, url=url, footer=footer)
    if style == Style.CALL and phone:
        return _plain(platform, _lines(text, f"{button}: {phone}" if button else phone, footer))
    if not options:
        return _plain(platform, _lines(text, footer))
    forms = FORMS[platform]
    for form in forms.get(style) or forms[Style.BUTTONS]:
        if written := _in_form(platform, form, text, options, list_button=list_button, footer=footer):
            return written
    return _numbered(platform, text, options, footer)


def _check(platform: str, text: str, options: Sequence[InteractiveOption]) -> None:
    if platform not in RULES:
        raise CannotSendHere
    if not text.strip():
        raise ContentRefused("The text field is required.", field="text")
    if any(len(option.payload) > LONGEST_PAYLOAD for option in options):
        raise ContentRefused(f"The payload field may have at most {LONGEST_PAYLOAD} characters.", field="payload")


def _in_form(
    platform: str,
    form: InteractiveForm,
    text: str,
    options: Sequence[InteractiveOption],
    *,
    list_button: str,
    footer: str,
) -> CheckedContent | None:
    """Return the content in this form, or None if it does not fit."""
    body, kept_footer = _with_footer(platform, text, footer)
    body = _lines(body, _hidden_descriptions(form, options))
    if not (_fits(form, options) and _measure(platform)(body) <= form.longest_text):
        return None
    found: dict[str, object] = {"style": form.style.value, "options": [_option(form, one) for one in options]}
    if form.style is Style.LIST:
        label = list_button.strip()
        found["list_button"] = label if 0 < len(label) <= LONGEST_BUTTON else DEFAULT_LIST_BUTTON
    return CheckedContent(Type.INTERACTIVE, body, details={"interactive": found | kept_footer})


def _fits(form: InteractiveForm, options: Sequence[InteractiveOption]) -> bool:
    """Whether the options fit the form. Networks refuse empty titles, and equal titles of buttons."""
    titles = [option.title.strip() for option in options]
    return (
        len(options) <= form.most_options
        and len(set(titles)) == len(titles)
        and len({option.payload for option in options}) == len(options)
        and all(0 < len(title) <= form.longest_title for title in titles)
        and all(0 < len(option.payload) <= form.longest_payload for option in options)
        and (not form.longest_description or all(len(one.description) <= form.longest_description for one in options))
    )


def _option(form: InteractiveForm, option: InteractiveOption) -> dict[str, str]:
    found = {"payload": option.payload, "title": option.title.strip()}
    if form.longest_description and option.description.strip():
        found["description"] = option.description.strip()
    return found


def _hidden_descriptions(form: InteractiveForm, options: Sequence[InteractiveOption]) -> str:
    """Return lines with the descriptions, if the form itself has no place for them."""
    if form.longest_description:
        return ""
    return "\n".join(_line(option) for option in options if option.description.strip())


def _line(option: InteractiveOption) -> str:
    title, description = option.title.strip(), option.description.strip()
    return f"{title}: {description}" if description else title


def _link(platform: str, text: str, *, button: str, url: str, footer: str) -> CheckedContent:
    body, kept_footer = _with_footer(platform, text, footer)
    label = button.strip()
    is_web = url.startswith(("https://", "http://")) and len(url) <= LONGEST_URL
    if is_web and 0 < len(label) <= LONGEST_BUTTON and _measure(platform)(body) <= LINK_TEXTS[platform]:
        found = {"style": Style.LINK.value, "button": label, "url": url}
        return CheckedContent(Type.INTERACTIVE, body, details={"interactive": found | kept_footer})
    return _plain(platform, _lines(text, f"{label}: {url}" if label else url, footer))


def _with_footer(platform: str, text: str, footer: str) -> tuple[str, dict[str, str]]:
    """Return the text, and the footer apart from it where the network has one."""
    shown = footer.strip()
    if not shown:
        return text, {}
    if platform == "whatsapp" and len(shown) <= LONGEST_FOOTER:
        return text, {"footer": shown}
    return _lines(text, shown), {}


def _numbered(platform: str, text: str, options: Sequence[InteractiveOption], footer: str) -> CheckedContent:
    lines = "\n".join(f"{number}. {_line(option)}" for number, option in enumerate(options, 1))
    return _plain(platform, _lines(text, lines, footer))


def _plain(platform: str, text: str) -> CheckedContent:
    rules = RULES[platform]
    if rules.measure(text) > rules.longest_text:
        unit, name = "bytes" if rules.counts_bytes else "characters", CHANNEL_NAMES[platform]
        raise ContentRefused(f"The text field may have at most {rules.longest_text} {unit} on {name}.", field="text")
    return CheckedContent(Type.TEXT, text)


def _measure(platform: str) -> Callable[[str], int]:
    return RULES[platform].measure


def _lines(*parts: str) -> str:
    return "\n\n".join(part.strip() for part in parts if part.strip())
