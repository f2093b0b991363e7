"""Steps that send a message and go on."""

import re
from collections.abc import Mapping
from typing import Final

from workspaces.automations.execution.running import Config, Execution, Executor, Leave, StepFailed
from workspaces.automations.execution.types import SendMessage
from workspaces.automations.execution.variables import customer_value, render, render_address

# The longest texts of each network, and of messages with buttons, lists or quick replies.
LONGEST_TEXT: Final[Mapping[str, int]] = {"whatsapp": 4_096, "facebook": 2_000, "instagram": 1_000, "sms": 1_600}
LONGEST_TEXT_WITH_OPTIONS: Final[Mapping[str, int]] = {"whatsapp": 1_024, "facebook": 640, "instagram": 640}
LONGEST_TEXT_ELSEWHERE: Final = 4_096
LONGEST_CAPTION: Final = 1_024
LONGEST_TITLE: Final = 20
LONGEST_FOOTER: Final = 60
LONGEST_PARAMETER: Final = 1_024
LONGEST_ADDRESS: Final = 2_048
# Instagram counts bytes.
COUNTS_BYTES: Final = frozenset({"instagram"})
WITH_CAPTIONS: Final = frozenset({"whatsapp", "telegram", "livechat"})
SHORTEST: Final = 8
NOTHING_TO_SAY: Final = "empty_text"
SPACES: Final = re.compile(r"\s+")


def cut(text: str, longest: int, *, counts_bytes: bool = False) -> str:
    """Cut a text to a length, with an ellipsis at its end."""
    if (len(text.encode()) if counts_bytes else len(text)) <= longest:
        return text
    if counts_bytes:
        return text.encode()[: longest - 3].decode(errors="ignore").rstrip() + "…"
    return text[: longest - 1].rstrip() + "…"


def text_for(run: Execution, text: str | None, *, with_options: bool = False) -> str:
    """Write a message's text within the limits of the run's network."""
    platform = run.context.platform
    limits = LONGEST_TEXT_WITH_OPTIONS if with_options else LONGEST_TEXT
    longest = limits.get(platform, LONGEST_TEXT_ELSEWHERE)
    return cut(render(run, text or "").strip(), longest, counts_bytes=platform in COUNTS_BYTES)


def one_line(run: Execution, text: str | None, longest: int) -> str:
    return cut(SPACES.sub(" ", render(run, text or "")).strip(), longest)


def send_text(run: Execution, text: str | None) -> Leave:
    """Send a text, unless nothing is left of it."""
    written = text_for(run, text)
    if not written:
        return Leave(detail=NOTHING_TO_SAY)
    run.send(SendMessage(text=written))
    return Leave()


def _send_text(run: Execution, config: Config) -> Leave:
    return send_text(run, config.get("text"))


def _send_media(run: Execution, config: Config) -> Leave:
    caption = text_for(run, config.get("caption"))
    if run.context.platform in WITH_CAPTIONS:
        run.send(SendMessage(text=cut(caption, LONGEST_CAPTION), media=config["media"]))
        return Leave()
    run.send(SendMessage(media=config["media"]))
    if caption:
        run.send(SendMessage(text=caption))
    return Leave()


def _button(run: Execution, config: Config) -> str:
    """Give a button's text. Networks refuse a button without one, and a message without a text."""
    return one_line(run, config.get("title"), LONGEST_TITLE) or "→"


def _send_link_button(run: Execution, config: Config) -> Leave:
    button = _button(run, config)
    run.send(
        SendMessage(
            text=text_for(run, config.get("text"), with_options=True) or button,
            style="link",
            button=button,
            url=render_address(run, config["url"])[:LONGEST_ADDRESS],
        )
    )
    return Leave()


def _send_call_button(run: Execution, config: Config) -> Leave:
    button = _button(run, config)
    run.send(
        SendMessage(
            text=text_for(run, config.get("text"), with_options=True) or button,
            style="call",
            button=button,
            phone=customer_value(run, config["phone"]),
        )
    )
    return Leave()


def _send_template(run: Execution, config: Config) -> Leave:
    template = config.get("template")
    if not template:
        raise StepFailed("template_missing")
    # Networks refuse empty parameters.
    parameters = tuple(one_line(run, text, LONGEST_PARAMETER) or "-" for text in config.get("parameters") or ())
    run.send(SendMessage(template=template, parameters=parameters))
    return Leave()


def _send_location(run: Execution, config: Config) -> Leave:
    address = run.context.settings.get("address", "")
    return send_text(run, "\n".join(part for part in (config.get("text"), address) if part))


def _reply_to_comment(run: Execution, config: Config) -> Leave:
    text = text_for(run, config.get("text"))
    if not text:
        return Leave(detail=NOTHING_TO_SAY)
    run.send(SendMessage(text=text, reply_to_comment=True))
    return Leave()


def send_link(run: Execution, text: str | None, link: str) -> Leave:
    """Send a text with a link below it, unless the text has the link already."""
    platform = run.context.platform
    longest = LONGEST_TEXT.get(platform, LONGEST_TEXT_ELSEWHERE) - len(link.encode()) - 1
    written = cut(text_for(run, text), max(longest, SHORTEST), counts_bytes=platform in COUNTS_BYTES)
    run.send(SendMessage(text=written if link in written else f"{written}\n{link}".strip()))
    return Leave()


def _setting_link(run: Execution, config: Config, setting: str) -> Leave:
    """Send a link of the workspace. Raises `StepFailed` if it has none."""
    link = run.context.settings.get(setting, "")
    if not link:
        raise StepFailed("setting_missing")
    return send_link(run, config.get("text"), link)


def _booking_link(run: Execution, config: Config) -> Leave:
    return _setting_link(run, config, "booking_link")


def _ask_review(run: Execution, config: Config) -> Leave:
    return _setting_link(run, config, "review_link")


MESSAGE_EXECUTORS: Final[Mapping[str, Executor]] = {
    "send_text": Executor(_send_text),
    "send_media": Executor(_send_media),
    "send_link_button": Executor(_send_link_button),
    "send_call_button": Executor(_send_call_button),
    "send_template": Executor(_send_template),
    "send_location": Executor(_send_location),
    "reply_to_comment": Executor(_reply_to_comment),
    "booking_link": Executor(_booking_link),
    "ask_review": Executor(_ask_review),
}
