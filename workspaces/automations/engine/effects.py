"""Makes the changes of the database that steps of automations ask for, in the batch's transaction."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from agency.actors import Actor
from agency.models import User
from agency.notification_kinds import NotificationKind
from agency.services.notifications.recording import record_notification
from agency.tenants import Audience
from config.errors import DomainError
from workspaces.automations.engine.planning import PlannedEffect
from workspaces.automations.execution.types import (
    AddNote,
    AssignConversation,
    ChangeTag,
    CloseConversation,
    Effect,
    HandOver,
    NotifyTeam,
    SetField,
    StartAutomation,
    Subscribe,
)
from workspaces.automations.services.pauses import pause_conversation
from workspaces.automations.services.trigger_events import NewTriggerEvent, record_trigger_events
from workspaces.contacts.models import Contact
from workspaces.contacts.services import update_contact
from workspaces.contacts.services.fields import distinct_tags, tag_key
from workspaces.contacts.services.opt_outs import MarketingChoice, apply_marketing_choices
from workspaces.contacts.services.tag_handlers import ChangeCause
from workspaces.conversations.models import Conversation
from workspaces.conversations.services import change_conversation
from workspaces.conversations.services.changing import add_note, find_team_member
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import people_of, tenant_of

TEAM_NOTIFIED: Final = "automation.team_notified"
TEAM_NOTIFICATIONS: Final = (
    NotificationKind(
        name=TEAM_NOTIFIED,
        label=_("A note from an automation"),
        text=_("%(automation)s: %(text)s"),
        url_name="app:contact",
        names_object=True,
        audience=Audience.WORKSPACE,
    ),
)
OWN_FIELDS: Final = frozenset({"name", "email", "phone", "country"})


def make_effect(planned: PlannedEffect[Effect], *, now: datetime, by: Actor) -> str:
    """Make one change. Return "" or, if the product refuses it, the refusal's message.

    A refusal, such as an e-mail address that another contact has, does not end the run: the step is done without it.
    """
    make: Callable[[Any, datetime, Actor], None] = MAKERS[type(planned.effect)]
    try:
        make(planned, now, by)
    except DomainError as error:
        return str(error)
    return ""


def _contact(planned: PlannedEffect[Effect]) -> Contact:
    return Contact.objects.get(pk=planned.work.pk)


def _conversation(planned: PlannedEffect[Effect]) -> Conversation:
    return Conversation.objects.select_related("workspace", "channel", "contact").get(
        pk=planned.run.conversation_id or 0
    )


def _workspace(planned: PlannedEffect[Effect]) -> Workspace:
    return Workspace.objects.get(pk=planned.work.workspace.pk)


def _change_tag(planned: PlannedEffect[ChangeTag], now: datetime, by: Actor) -> None:
    effect = planned.effect
    contact = _contact(planned)
    if effect.is_added:
        tags = distinct_tags([*contact.tags, effect.tag])
    else:
        tags = [tag for tag in contact.tags if tag_key(tag) != tag_key(effect.tag)]
    run = planned.run
    cause = ChangeCause(automation=run.automation_id, run=run.pk or 0, depth=run.depth)
    update_contact(contact=contact, now=now, cause=cause, tags=tags)


def _set_field(planned: PlannedEffect[SetField], now: datetime, by: Actor) -> None:
    effect = planned.effect
    contact = _contact(planned)
    changes: dict[str, Any] = (
        {effect.field: effect.value}
        if effect.field in OWN_FIELDS
        else {"attributes": {**contact.attributes, effect.field: effect.value}}
    )
    update_contact(contact=contact, now=now, **changes)


def _subscribe(planned: PlannedEffect[Subscribe], now: datetime, by: Actor) -> None:
    effect = planned.effect
    choice = MarketingChoice(planned.work.pk, now, effect.wants_marketing)
    apply_marketing_choices(choices=[choice], now=now)


def _assign(planned: PlannedEffect[AssignConversation], now: datetime, by: Actor) -> None:
    effect = planned.effect
    user = find_team_member(_workspace(planned), effect.email)
    change_conversation(conversation=_conversation(planned), now=now, assigned_to=user)


def _hand_over(planned: PlannedEffect[HandOver], now: datetime, by: Actor) -> None:
    hand_over(_conversation(planned), now=now, by=by)


def hand_over(conversation: Conversation, *, now: datetime, by: Actor) -> None:
    """Open a conversation for the team, and pause automations in it."""
    change_conversation(conversation=conversation, now=now, status=Conversation.Status.OPEN)
    pause_conversation(
        conversation_id=conversation.pk,
        workspace_id=conversation.workspace_id,
        reason="handed_over",
        by_label=by.label,
        now=now,
    )


def _close(planned: PlannedEffect[CloseConversation], now: datetime, by: Actor) -> None:
    change_conversation(conversation=_conversation(planned), now=now, status=Conversation.Status.CLOSED)


def _add_note(planned: PlannedEffect[AddNote], now: datetime, by: Actor) -> None:
    effect = planned.effect
    add_note(conversation=_conversation(planned), text=effect.text, now=now, by=by)


def _notify_team(planned: PlannedEffect[NotifyTeam], now: datetime, by: Actor) -> None:
    """Notify the workspace's people. Addresses that the flow names only choose among them."""
    effect = planned.effect
    workspace = _workspace(planned)
    named = list(people_of(workspace).filter(email__in=effect.recipients)[:20]) if effect.recipients else []
    people: list[User | None] = [*named] or [None]
    for user in people:
        record_notification(
            tenant=tenant_of(workspace),
            kind=TEAM_NOTIFIED,
            key=f"{planned.run.uuid}:{planned.seq}:{user.pk if user is not None else ''}",
            now=now,
            object_id=str(planned.work.uuid),
            data={"text": effect.text[:500], "automation": by.label},
            only_user=user,
        )


def _start(planned: PlannedEffect[StartAutomation], now: datetime, by: Actor) -> None:
    effect = planned.effect
    record_trigger_events(
        [
            NewTriggerEvent(
                workspace_id=planned.work.workspace.pk,
                contact_id=planned.work.pk,
                kind="start",
                source_key=f"start:{planned.run.uuid}:{planned.seq}",
                channel_id=planned.run.channel_id,
                conversation_id=planned.run.conversation_id,
                data={"automation": effect.automation, "by": planned.run.automation_id},
                depth=planned.run.depth + 1,
                cause=planned.run.pk,
            )
        ]
    )


MAKERS: Final[Mapping[type, Callable[[Any, datetime, Actor], None]]] = {
    ChangeTag: _change_tag,
    SetField: _set_field,
    Subscribe: _subscribe,
    AssignConversation: _assign,
    HandOver: _hand_over,
    CloseConversation: _close,
    AddNote: _add_note,
    NotifyTeam: _notify_team,
    StartAutomation: _start,
}
