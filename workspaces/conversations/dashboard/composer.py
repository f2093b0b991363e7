"""What a page of a conversation lets people send: free text and files in the window, templates at any time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from workspaces.conversations.models import Conversation
from workspaces.conversations.services import Content, is_window_open
from workspaces.conversations.services.outbound.template_choices import (
    TemplateChoice,
    template_choice,
    template_choices,
)
from workspaces.subaccounts.models import Channel


@dataclass(slots=True)
class Composer:
    """The form below a thread. `refusal` says why nothing at all can be sent."""

    mode: str
    is_window_open: bool
    templates: Sequence[TemplateChoice] = ()
    template: TemplateChoice | None = None
    refusal: str = ""
    text: str = ""
    error: str = ""
    values: Mapping[int, str] = field(default_factory=dict)

    @property
    def parameters(self) -> list[dict[str, Any]]:
        """The parameters of the chosen template, with what was typed for them."""
        if self.template is None:
            return []
        return [
            {"label": parameter.label, "example": parameter.example, "value": self.values.get(number, "")}
            for number, parameter in enumerate(self.template.parameters)
        ]


def composer_of(conversation: Conversation, *, now: Any, mode: str = "", template: str = "") -> Composer:
    """Give the form that fits the conversation now: `mode` is what was asked for, `template` which one was chosen."""
    is_open = is_window_open(conversation, now)
    composer = Composer(mode="template" if mode == "template" or not is_open else "text", is_window_open=is_open)
    composer.refusal = refusal_of(conversation)
    if not composer.refusal:
        composer.templates = template_choices(conversation.channel)
        composer.template = template_choice(composer.templates, template)
    if is_open and not composer.templates:
        composer.mode = "text"
    return composer


def refusal_of(conversation: Conversation) -> str:
    if conversation.contact.opted_out_at is not None:
        return _("This contact has opted out: nothing can be sent to them until they write START.")
    if conversation.channel.status != Channel.Status.ACTIVE:
        return _("This channel is not connected: connect it again to answer.")
    return ""


def template_content(choice: TemplateChoice, values: Sequence[str]) -> Content:
    """Give the content that fills a template's parameters in their order."""
    return Content(template=choice.filled(values))
