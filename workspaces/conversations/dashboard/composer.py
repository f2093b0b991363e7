"""The forms of a conversation's page: free text inside the 24-hour window, templates and notes at any time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.utils.translation import gettext as _

from workspaces.conversations.models import Conversation, SavedReply
from workspaces.conversations.services import ComposerMode, Content, is_window_open
from workspaces.conversations.services.content import TemplateChoice, template_choice, template_choices
from workspaces.conversations.services.saved_replies import MOST_SAVED_REPLIES
from workspaces.subaccounts.models import Channel

MOST_PARAMETERS = 50


@dataclass(slots=True)
class Composer:
    """The forms below a thread: an answer, a template and a note. The page shows the form of `mode` first.

    `was_kept` means that the text was not sent, because the session had ended. `refusal` says why nothing can be sent;
    a note can always be written. `error` is about the form of `mode`.
    """

    mode: ComposerMode
    is_window_open: bool
    templates: Sequence[TemplateChoice] = ()
    template: TemplateChoice | None = None
    saved_replies: Sequence[SavedReply] = ()
    refusal: str = ""
    text: str = ""
    note: str = ""
    error: str = ""
    values: Mapping[int, str] = field(default_factory=dict)
    saved_reply: str = ""
    was_kept: bool = False

    @property
    def parameters(self) -> list[dict[str, str]]:
        """The parameters of the chosen template with their typed values."""
        if self.template is None:
            return []
        return [
            {"label": parameter.label, "example": parameter.example, "value": self.values.get(number, "")}
            for number, parameter in enumerate(self.template.parameters)
        ]

    def take(self, sent: Mapping[str, str]) -> None:
        """Keep the typed values. A text that was begun as a note stays a note."""
        if sent.get("begun_as") == ComposerMode.NOTE:
            self.note = sent.get("text", "")
        else:
            self.text = sent.get("text", "")
        self.values = {number: sent.get(f"parameter-{number}", "") for number in range(MOST_PARAMETERS)}

    def template_content(self) -> Content:
        """Return the chosen template with its parameters filled in their order."""
        assert self.template is not None  # noqa: S101  # asked only where one is chosen
        values = [self.values[number].strip() for number in range(len(self.template.parameters))]
        return Content(template=self.template.filled(values))


def composer_of(conversation: Conversation, *, now: datetime, mode: str = "", template: str = "") -> Composer:
    """Return the composer that fits the conversation now. `mode` and `template` are the user's choices."""
    is_open = is_window_open(conversation, now)
    composer = Composer(mode=_mode(mode, is_open=is_open), is_window_open=is_open)
    composer.refusal = refusal_of(conversation)
    if composer.refusal:
        return composer
    composer.templates = template_choices(conversation.channel)
    composer.template = template_choice(composer.templates, template)
    if is_open:
        own = SavedReply.objects.of(conversation.workspace).by_name()
        composer.saved_replies = list(own.only("uuid", "name")[:MOST_SAVED_REPLIES])
    if is_open and not composer.templates and composer.mode == ComposerMode.TEMPLATE:
        composer.mode = ComposerMode.TEXT
    return composer


def composer_as_sent(conversation: Conversation, sent: Mapping[str, str], *, now: datetime) -> Composer:
    """Return the composer of a submitted form, with the typed values."""
    mode = ComposerMode.TEMPLATE if "template" in sent else sent.get("begun_as", "")
    composer = composer_of(conversation, now=now, mode=mode, template=sent.get("template", ""))
    composer.take(sent)
    return composer


def kept_composer(conversation: Conversation, sent: Mapping[str, str], *, now: datetime) -> Composer:
    """Return the composer with a form that was submitted after the session had ended.

    An answer that cannot be sent any more becomes a note.
    """
    composer = composer_as_sent(conversation, sent, now=now)
    composer.was_kept, composer.saved_reply = True, sent.get("saved_reply", "")
    if composer.text and (composer.refusal or composer.mode != ComposerMode.TEXT):
        composer.mode, composer.note = ComposerMode.NOTE, composer.text
    return composer


def _mode(asked: str, *, is_open: bool) -> ComposerMode:
    if asked == ComposerMode.NOTE:
        return ComposerMode.NOTE
    return ComposerMode.TEMPLATE if asked == ComposerMode.TEMPLATE or not is_open else ComposerMode.TEXT


def refusal_of(conversation: Conversation) -> str:
    if conversation.contact.opted_out_at is not None:
        return _("This contact has opted out. You cannot send them anything until they write START.")
    if conversation.channel.status != Channel.Status.ACTIVE:
        return _("This channel is disconnected. Connect it again to reply.")
    return ""
