"""The lines of a test chat: messages, and sentences about what a step did besides."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.utils.translation import gettext as _

from workspaces.automations.execution.types import (
    AddNote,
    AssignConversation,
    CallAi,
    CallHttp,
    ChangeTag,
    CloseConversation,
    DoneStep,
    Effect,
    HandOver,
    NotifyTeam,
    SendMessage,
    SetField,
    StartAutomation,
    Subscribe,
)
from workspaces.automations.flows.flow import Flow, step_title
from workspaces.automations.flows.presentation import translated_step_title


@dataclass(frozen=True, slots=True)
class TranscriptLine:
    """One line. `by` is `contact`, `business` or `note`. `options` are `{port, title, description}`, to press.

    `attachment` describes a file, a template or a link button. `node` is the step that it comes from, `step` its title.
    """

    by: str
    text: str
    at: datetime
    options: tuple[Mapping[str, str], ...] = ()
    attachment: str = ""
    node: str = ""
    step: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "by": self.by,
            "text": self.text,
            "at": self.at.isoformat(),
            "options": [dict(option) for option in self.options],
            "attachment": self.attachment,
            "node": self.node,
            "step": self.step,
        }


def line_from_json(stored: Mapping[str, Any]) -> TranscriptLine:
    """Read a line that `to_json` gave. Raises what a wrong form raises."""
    options = tuple({name: str(option[name]) for name in OPTION_NAMES} for option in stored["options"])
    texts = {name: str(stored[name]) for name in ("by", "text", "attachment", "node", "step")}
    return TranscriptLine(at=datetime.fromisoformat(stored["at"]), options=options, **texts)


OPTION_NAMES: Final = ("port", "title", "description")


def contact_line(text: str, at: datetime) -> TranscriptLine:
    return TranscriptLine("contact", text, at)


def note_line(text: str, at: datetime, *, node: str = "") -> TranscriptLine:
    return TranscriptLine("note", text, at, node=node)


def lines_of_step(flow: Flow, step: DoneStep, at: datetime) -> Iterator[TranscriptLine]:
    """Give a line for each effect of a step."""
    title = translated_step_title(step_title(flow, step.node))
    for effect in step.effects:
        if isinstance(effect, SendMessage):
            yield _message_line(effect, at, step.node, title)
        else:
            yield TranscriptLine("note", sentence_of(effect), at, node=step.node, step=title)


def _message_line(message: SendMessage, at: datetime, node: str, title: str) -> TranscriptLine:
    options = tuple(
        {"port": option.port, "title": option.title, "description": option.description} for option in message.options
    )
    return TranscriptLine("business", message.text, at, options, _attachment(message), node, title)


def _attachment(message: SendMessage) -> str:
    if message.template:
        return " · ".join([_("A template"), *message.parameters])
    if message.media:
        return _("A file")
    if message.reply_to_comment:
        return _("A public reply to the comment")
    return f"{message.button}: {message.url or message.phone}" if message.button else ""


def sentence_of(effect: Effect) -> str:
    """Say what an effect does, in the language of the page."""
    return next(write(effect) for kind, write in SENTENCES.items() if isinstance(effect, kind))


def _tag(effect: Any) -> str:
    sentence = _("The tag “%(tag)s” is added.") if effect.is_added else _("The tag “%(tag)s” is removed.")
    return sentence % {"tag": effect.tag}


def _field(effect: Any) -> str:
    return _("The field %(field)s becomes “%(value)s”.") % {"field": effect.field, "value": effect.value}


def _subscription(effect: Any) -> str:
    if effect.wants_marketing:
        return _("The contact now receives marketing messages.")
    return _("The contact receives no more marketing messages.")


def _ai_call(effect: Any) -> str:
    return _("The A.I. is asked.")


SENTENCES: Final[Mapping[type, Callable[[Any], str]]] = {
    ChangeTag: _tag,
    SetField: _field,
    Subscribe: _subscription,
    AssignConversation: lambda effect: _("The conversation is assigned to %(email)s.") % {"email": effect.email},
    HandOver: lambda effect: _("A person takes over the conversation."),
    CloseConversation: lambda effect: _("The conversation is closed."),
    AddNote: lambda effect: _("A note is added: %(text)s") % {"text": effect.text},
    NotifyTeam: lambda effect: _("The team is notified: %(text)s") % {"text": effect.text},
    StartAutomation: lambda effect: _("Another automation starts."),
    CallHttp: lambda effect: _("%(method)s %(url)s is called.") % {"method": effect.method, "url": effect.url},
    CallAi: _ai_call,
}
