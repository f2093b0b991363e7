"""Says in sentences what the effects of steps do, for the chat in which a flow is tried."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from workspaces.automations.execution.internal_calls import (
    BookTime,
    ChangeAppointment,
    FindAppointments,
    FindTimes,
    RequestPayment,
)
from workspaces.automations.execution.types import (
    AddNote,
    AssignConversation,
    CallAi,
    CallHttp,
    ChangeTag,
    CloseConversation,
    CreateTask,
    Effect,
    HandOver,
    NotifyTeam,
    SetField,
    StartAutomation,
    Subscribe,
)


def sentence_of(effect: Effect) -> str:
    """Say what an effect does, in the language of the page."""
    return next(write(effect) for kind, write in SENTENCES.items() if isinstance(effect, kind))


def _tag(effect: ChangeTag) -> str:
    sentence = _("The tag “%(tag)s” is added.") if effect.is_added else _("The tag “%(tag)s” is removed.")
    return sentence % {"tag": effect.tag}


def _field(effect: SetField) -> str:
    return _("The field %(field)s becomes “%(value)s”.") % {"field": effect.field, "value": effect.value}


def _subscription(effect: Subscribe) -> str:
    if effect.wants_marketing:
        return _("The contact now receives marketing messages.")
    return _("The contact receives no more marketing messages.")


def _task(effect: CreateTask) -> str:
    sentences = [_("A task is created: %(title)s") % {"title": effect.title}]
    if effect.due_hours:
        due = ngettext("It is due in %(hours)s hour.", "It is due in %(hours)s hours.", effect.due_hours)
        sentences.append(due % {"hours": effect.due_hours})
    if effect.email:
        sentences.append(_("It is assigned to %(email)s.") % {"email": effect.email})
    return " · ".join(sentences)


def _ai_call(effect: CallAi) -> str:
    return _("The A.I. is asked.")


CHANGES: Final[Mapping[str, Callable[[], str]]] = {
    "confirm": lambda: _("The appointment is confirmed."),
    "cancel": lambda: _("The appointment is cancelled."),
    "reschedule": lambda: _("The appointment is moved."),
}
SENTENCES: Final[Mapping[type, Callable[[Any], str]]] = {
    ChangeTag: _tag,
    SetField: _field,
    Subscribe: _subscription,
    AssignConversation: lambda effect: _("The conversation is assigned to %(email)s.") % {"email": effect.email},
    HandOver: lambda effect: _("A person takes over the conversation."),
    CloseConversation: lambda effect: _("The conversation is closed."),
    CreateTask: _task,
    AddNote: lambda effect: _("A note is added: %(text)s") % {"text": effect.text},
    NotifyTeam: lambda effect: _("The team is notified: %(text)s") % {"text": effect.text},
    StartAutomation: lambda effect: _("Another automation starts."),
    FindTimes: lambda effect: _("Free times are looked up."),
    BookTime: lambda effect: _("The time is booked."),
    FindAppointments: lambda effect: _("The contact's appointments are looked up."),
    ChangeAppointment: lambda effect: CHANGES[effect.change](),
    RequestPayment: lambda effect: _("An invoice is issued."),
    CallHttp: lambda effect: _("%(method)s %(url)s is called.") % {"method": effect.method, "url": effect.url},
    CallAi: _ai_call,
}
