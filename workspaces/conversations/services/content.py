"""Checks an outgoing message's content against its network's rules, and lists the templates to choose from."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from config.hooks import Registry
from workspaces.conversations.models.messages import Type
from workspaces.conversations.services.conversations import CannotSendHere, ContentRefused, WrongComposerMode
from workspaces.media.models import Media
from workspaces.subaccounts.models import CHANNEL_NAMES, Channel

MIB: Final = 1024 * 1024
LANGUAGE = re.compile(r"[a-z]{2,3}(?:_[A-Za-z]{2,4})?")
TEMPLATE_NAME = re.compile(r"[a-z0-9_]{1,512}")
LONGEST_CAPTION: Final = 1_024


class ComposerMode(StrEnum):
    """The form in which a text was begun: an answer or a template to the contact, or a note to colleagues."""

    TEXT = "text"
    TEMPLATE = "template"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Content:
    """A text, or a file with an optional caption in `text`, or a template of the channel with its parameters.

    Pages set `begun_as` to the form in which the user began. Content that was begun in another form is not sent.
    """

    text: str = ""
    media: Media | None = None
    template: Mapping[str, object] | None = None
    begun_as: str = ""


def require_composer_mode(wanted: ComposerMode, begun_as: str) -> None:
    """Raise `ComposerModeSomethingElse` if a page says that the text was begun in another form."""
    if begun_as not in ("", wanted):
        raise WrongComposerMode


# The keys of `details` with which a message answers a comment, privately or in public.
COMMENT_REPLY, PUBLIC_REPLY = "comment_reply", "public_reply"
# The keys of `details` that decide how the message is sent. The others only describe it.
SENDING_DETAILS: Final = frozenset({"interactive", COMMENT_REPLY, PUBLIC_REPLY})


@dataclass(frozen=True, slots=True)
class CheckedContent:
    """Checked content, as a message's row stores it.

    `details` may hold `interactive` (see `interactive_content`) and one of two answers to a comment. A private one is
    `comment_reply`, `{"comment": the network's id, "until": ISO time}`. A public one is `public_reply`,
    `{"comment": the network's id}`, and has only a text.
    """

    type: str
    text: str
    media: Media | None = None
    template: dict[str, Any] | None = None
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def needs_window(self) -> bool:
        return self.template is None and self.details.keys().isdisjoint((COMMENT_REPLY, PUBLIC_REPLY))


@dataclass(frozen=True, slots=True)
class TemplateCheck:
    """A higher app's check of templates. `check(channel, name, language, components)` returns the text that people get.

    It raises an error for the caller if the channel has no such template or the parameters do not fit.
    `is_marketing(channel, name, language)` returns whether the template may only go to people who want marketing.
    """

    name: str
    check: Callable[[Channel, str, str, Sequence[object]], str]
    is_marketing: Callable[[Channel, str, str], bool]


template_checks = Registry[TemplateCheck](
    "checks of templates",
    called=(
        "`check_content` calls `check` of all for a message with a template; `is_marketing` asks each until one "
        "says yes"
    ),
    transaction="the caller's, if there is one",
    failure="reaches the caller",
)


@dataclass(frozen=True, slots=True)
class FileRule:
    """A kind of file: a pattern for its content types, its largest size, and whether it takes a caption."""

    kind: str
    content_types: str
    most_bytes: int
    takes_caption: bool = False


@dataclass(frozen=True, slots=True)
class PlatformRules:
    """A network's limits: the length of a text, in characters or bytes, and the accepted files."""

    longest_text: int
    files: tuple[FileRule, ...]
    counts_bytes: bool = False
    has_templates: bool = False
    measure: Callable[[str], int] = field(default=len)


def _bytes(text: str) -> int:
    return len(text.encode())


RULES: Final[Mapping[str, PlatformRules]] = {
    "whatsapp": PlatformRules(
        4_096,
        (
            FileRule(Type.IMAGE, r"image/(jpeg|png)", 5 * MIB, takes_caption=True),
            FileRule(Type.STICKER, r"image/webp", 500 * 1024),
            FileRule(Type.VIDEO, r"video/(mp4|3gpp)", 16 * MIB, takes_caption=True),
            FileRule(Type.AUDIO, r"audio/(aac|amr|mpeg|mp4|ogg)", 16 * MIB),
            FileRule(Type.DOCUMENT, r"(application|text)/.+", 100 * MIB, takes_caption=True),
        ),
        has_templates=True,
    ),
    "facebook": PlatformRules(
        2_000,
        (
            FileRule(Type.IMAGE, r"image/.+", 8 * MIB),
            FileRule(Type.VIDEO, r"video/.+", 25 * MIB),
            FileRule(Type.AUDIO, r"audio/.+", 25 * MIB),
            FileRule(Type.DOCUMENT, r"(application|text)/.+", 25 * MIB),
        ),
    ),
    "instagram": PlatformRules(
        1_000,
        (
            FileRule(Type.IMAGE, r"image/(jpeg|png)", 8 * MIB),
            FileRule(Type.VIDEO, r"video/(mp4|ogg|x-msvideo|quicktime|webm)", 25 * MIB),
            FileRule(Type.AUDIO, r"audio/(aac|mp4|wav|x-wav|x-m4a)", 25 * MIB),
            FileRule(Type.DOCUMENT, r"application/pdf", 25 * MIB),
        ),
        counts_bytes=True,
        measure=_bytes,
    ),
}


def check_content(content: Content, channel: Channel) -> CheckedContent:
    """Check content against the rules of its channel.

    Raises `ContentRefused`, `CannotSendHere` and `ComposerModeSomethingElse`.
    """
    require_composer_mode(ComposerMode.TEXT if content.template is None else ComposerMode.TEMPLATE, content.begun_as)
    rules = RULES.get(channel.platform)
    if rules is None:
        raise CannotSendHere
    if content.template is not None:
        return _template(content.template, channel, rules)
    if content.media is not None:
        return _file(content.media, content.text, channel, rules)
    if not content.text.strip():
        raise ContentRefused("The text field is required.", field="text")
    longest, unit = rules.longest_text, "bytes" if rules.counts_bytes else "characters"
    if rules.measure(content.text) > longest:
        name = CHANNEL_NAMES[channel.platform]
        raise ContentRefused(f"The text field may have at most {longest} {unit} on {name}.", field="text")
    return CheckedContent(Type.TEXT, content.text)


def is_marketing(template: Mapping[str, object], channel: Channel) -> bool:
    """Return whether a template may only go to people who want marketing."""
    name, language = str(template["name"]), str(template["language"])
    return any(check.is_marketing(channel, name, language) for check in template_checks)


def _file(media: Media, caption: str, channel: Channel, rules: PlatformRules) -> CheckedContent:
    name = CHANNEL_NAMES[channel.platform]
    rule = next((one for one in rules.files if re.fullmatch(one.content_types, media.content_type)), None)
    if rule is None:
        raise ContentRefused(f"Files of type {media.content_type} cannot be sent on {name}.", field="media")
    if media.size > rule.most_bytes:
        most = rule.most_bytes // 1024
        size = f"{most // 1024} MiB" if most >= 1024 else f"{most} KiB"
        raise ContentRefused(f"A file of this type may have at most {size} on {name}.", field="media")
    if caption and not rule.takes_caption:
        raise ContentRefused(f"A file of this type takes no caption on {name}.", field="caption")
    if len(caption) > LONGEST_CAPTION:
        raise ContentRefused(f"The caption field may have at most {LONGEST_CAPTION} characters.", field="caption")
    return CheckedContent(rule.kind, caption, media=media)


def _template(template: Mapping[str, Any], channel: Channel, rules: PlatformRules) -> CheckedContent:
    if not rules.has_templates:
        raise ContentRefused("Templates can be sent on WhatsApp only.", field="template")
    name, language = str(template["name"]), str(template["language"]).replace("-", "_")
    components = list(template.get("components") or [])
    if not TEMPLATE_NAME.fullmatch(name):
        raise ContentRefused("The template field must be a template's name.", field="template")
    if not LANGUAGE.fullmatch(language):
        raise ContentRefused("The language field must be a template's language, such as en_US.", field="language")
    texts = [check.check(channel, name, language, components) for check in template_checks]
    written = {"name": name, "language": language, "components": components}
    return CheckedContent(Type.TEMPLATE, next(filter(None, texts), ""), template=written)


# Higher apps provide them.


@dataclass(frozen=True, slots=True)
class TemplateParameter:
    """A parameter of a template, as the form shows it."""

    label: str
    example: str = ""


@dataclass(frozen=True, slots=True)
class TemplateChoice:
    """An approved template of a channel. `filled` takes the parameters' values and returns a message's `template`."""

    id: str
    name: str
    language: str
    preview: str
    parameters: tuple[TemplateParameter, ...]
    filled: Callable[[Sequence[str]], Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class TemplateSource:
    """A higher app's list of a channel's approved templates, of bounded length."""

    name: str
    choices: Callable[[Channel], Sequence[TemplateChoice]]


template_sources = Registry[TemplateSource](
    "sources of templates",
    called="`template_choices` calls each when a form lists the templates of a channel",
    transaction="the caller's, if there is one",
    failure="the page answers 500",
)


def template_choices(channel: Channel) -> list[TemplateChoice]:
    """Return the templates that can be sent on a channel."""
    return [choice for source in template_sources for choice in source.choices(channel)]


def template_choice(choices: Sequence[TemplateChoice], id: str) -> TemplateChoice | None:
    """Return the choice with this id, or None."""
    return next((choice for choice in choices if choice.id == id), None)
